"""The tables of the history, and how a file of an older version becomes one of this.

A step brings a file from one version to the next and is never changed once it was released: files
of its version exist. A new version is a new step, and a file of the old one among the tests. What
an older program could not read needs one too: a new kind, a new field of ``Experiment``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

Step = Callable[[sqlite3.Connection], None]

# Contents and words have tables of their own, so that a list of thousands never reads them.
_FIRST = (
    """
    CREATE TABLE experiments (
        key TEXT PRIMARY KEY NOT NULL,
        kind TEXT NOT NULL,
        begun_at TEXT NOT NULL,
        begun_s REAL NOT NULL,            -- the same, since 1970
        state TEXT NOT NULL,
        title TEXT NOT NULL,
        model TEXT NOT NULL,
        model_sha256 TEXT NOT NULL,
        machine TEXT NOT NULL,
        engine TEXT NOT NULL,
        cells INTEGER NOT NULL,           -- measured ones
        runs INTEGER NOT NULL,
        best TEXT NOT NULL,               -- name of the cell that the figures are of
        ttft_s REAL,
        tpot_s REAL,
        prefill_tok_s REAL,
        total_tok_s REAL,
        goodput_req_s REAL,
        owned_bytes REAL,
        extra TEXT NOT NULL,              -- JSON, figure by name
        tags TEXT NOT NULL,               -- JSON, as typed; the table tags is made of it
        note TEXT NOT NULL,
        writer_host TEXT,                 -- who writes it, while it runs
        writer_pid INTEGER,
        writer_started_s REAL,
        written_s REAL NOT NULL,
        deleted_s REAL                    -- since when it is in the bin
    )
    """,
    """
    CREATE TABLE contents (
        key TEXT PRIMARY KEY NOT NULL REFERENCES experiments (key) ON DELETE CASCADE,
        content BLOB NOT NULL             -- the Experiment as JSON, deflated
    )
    """,
    """
    CREATE TABLE words (
        key TEXT PRIMARY KEY NOT NULL REFERENCES experiments (key) ON DELETE CASCADE,
        text TEXT NOT NULL,               -- folded: title, subject, settings
        own TEXT NOT NULL                 -- folded: tags, note
    )
    """,
    """
    CREATE TABLE tags (
        tag TEXT NOT NULL,                -- folded
        key TEXT NOT NULL REFERENCES experiments (key) ON DELETE CASCADE,
        PRIMARY KEY (tag, key)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX tags_by_key ON tags (key)",
    "CREATE INDEX by_kind ON experiments (kind, key) WHERE deleted_s IS NULL",
    "CREATE INDEX by_model ON experiments (model, key) WHERE deleted_s IS NULL",
    "CREATE INDEX by_time ON experiments (begun_s) WHERE deleted_s IS NULL",
    "CREATE INDEX running ON experiments (key) WHERE state = 'running'",
    "CREATE INDEX bin ON experiments (deleted_s) WHERE deleted_s IS NOT NULL",
)


def _make_first(connection: sqlite3.Connection) -> None:
    for statement in _FIRST:
        connection.execute(statement)


STEPS: tuple[Step, ...] = (_make_first,)


def version_of(connection: sqlite3.Connection) -> int:
    """How many steps the file has behind it; 0 for an empty one.

    Raises:
        sqlite3.DatabaseError: As of a damaged file, if it claims a number that none ever had.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version < 0:
        error = sqlite3.DatabaseError(f"version {version}")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error
    return version


def migrate(connection: sqlite3.Connection, steps: Sequence[Step] = STEPS) -> None:
    """Take the steps that the file has not behind it, each wholly or not at all.

    Args:
        connection: In autocommit mode.
        steps: All there are, the first one for an empty file.

    Raises:
        sqlite3.Error: If a step failed; the file is as the step before left it.
    """
    while version_of(connection) < len(steps):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another program may have taken the step while this one waited.
            version = version_of(connection)
            if version < len(steps):
                steps[version](connection)
                connection.execute(f"PRAGMA user_version = {version + 1}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
