"""What is written into the history, each in one transaction. Knows the tables, not the file."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence

from app.experiments.experiment import Experiment, State
from app.experiments.history_file import transaction
from app.experiments.history_rows import (
    can_be_kept,
    content_of,
    own_words_of,
    tags_of,
    tags_text,
    values_of,
    words_of,
)
from app.experiments.history_writer import Writer, is_alive, own_writer
from app.storage.conversation_search import folded
from app.storage.storage_error import StorageError

# The user may have changed tags and note since the experiment began.
_NOT_UPDATED = {"key", "tags", "note"}


def write(connection: sqlite3.Connection, experiment: Experiment, now_s: float) -> None:
    """Write ``experiment``, in place of what there is of it but for its tags and note."""
    tidy = can_be_kept(experiment)
    values = values_of(tidy) | _writer_values(tidy) | {"written_s": now_s}
    updates = ", ".join(f"{name} = excluded.{name}" for name in values if name not in _NOT_UPDATED)
    content, words = content_of(tidy), words_of(tidy)
    with transaction(connection):
        is_new = not connection.execute(
            "SELECT 1 FROM experiments WHERE key = ?", (tidy.key,)
        ).fetchone()
        connection.execute(
            f"INSERT INTO experiments ({', '.join(values)}) "
            f"VALUES ({', '.join('?' * len(values))}) "
            f"ON CONFLICT (key) DO UPDATE SET {updates}",
            tuple(values.values()),
        )
        connection.execute(
            "INSERT INTO contents VALUES (?, ?) "
            "ON CONFLICT (key) DO UPDATE SET content = excluded.content",
            (tidy.key, content),
        )
        connection.execute(
            "INSERT INTO words VALUES (?, ?, '') "
            "ON CONFLICT (key) DO UPDATE SET text = excluded.text",
            (tidy.key, words),
        )
        if is_new:
            _write_own_words(connection, tidy.key, tidy.tags, tidy.note)


def change_tags(connection: sqlite3.Connection, key: str, tags: Sequence[str]) -> None:
    """Replace the tags of an experiment.

    Raises:
        StorageError: If there is none of that key.
    """
    with transaction(connection):
        note = _found(connection, key, "note")
        connection.execute("UPDATE experiments SET tags = ? WHERE key = ?", (tags_text(tags), key))
        _write_own_words(connection, key, tags, note)


def change_note(connection: sqlite3.Connection, key: str, note: str) -> None:
    """Replace the note of an experiment.

    Raises:
        StorageError: If there is none of that key.
    """
    with transaction(connection):
        tags = _found(connection, key, "tags")
        connection.execute("UPDATE experiments SET note = ? WHERE key = ?", (note, key))
        _write_own_words(connection, key, tags_of(tags), note)


def mark_deleted(
    connection: sqlite3.Connection, keys: Sequence[str], deleted_s: float | None
) -> None:
    """Move experiments to the bin, or back where ``deleted_s`` is None; all of them or none.

    Raises:
        StorageError: If there is none of one of these keys.
    """
    with transaction(connection):
        for key in keys:
            _found(connection, key, "key")
            connection.execute(
                "UPDATE experiments SET deleted_s = ? WHERE key = ?", (deleted_s, key)
            )


def mark_cut(connection: sqlite3.Connection, now_s: float) -> None:
    """Say of experiments whose program is dead that they do not run any more."""
    running = connection.execute(
        "SELECT key, written_s, writer_host, writer_pid, writer_started_s FROM experiments "
        "WHERE state = 'running'"
    ).fetchall()
    dead = [
        (key, pid)
        for key, written_s, host, pid, started_s in running
        if not is_alive(Writer(host, pid, started_s) if pid else None, written_s, now_s)
    ]
    _try_to_change(
        connection,
        "UPDATE experiments SET state = 'cut', writer_pid = NULL "
        "WHERE key = ? AND writer_pid IS ? AND state = 'running'",
        dead,
    )


def empty_bin(connection: sqlite3.Connection, before_s: float) -> None:
    """Delete for good what was moved to the bin before that time."""
    old = connection.execute(
        "SELECT key FROM experiments WHERE deleted_s < ?", (before_s,)
    ).fetchall()
    _try_to_change(connection, "DELETE FROM experiments WHERE key = ?", old)


# --- Inside -----------------------------------------------------------------------------


def _writer_values(experiment: Experiment) -> dict[str, object]:
    writer = own_writer() if experiment.state is State.RUNNING else None
    return {
        "writer_host": writer and writer.host,
        "writer_pid": writer and writer.pid,
        "writer_started_s": writer and writer.started_s,
    }


def _found(connection: sqlite3.Connection, key: str, column: str) -> str:
    row = connection.execute(f"SELECT {column} FROM experiments WHERE key = ?", (key,)).fetchone()
    if row is None:
        raise StorageError(f"There is no experiment {key} in the history.")
    return str(row[0])


def _write_own_words(
    connection: sqlite3.Connection, key: str, tags: Sequence[str], note: str
) -> None:
    connection.execute("UPDATE words SET own = ? WHERE key = ?", (own_words_of(tags, note), key))
    connection.execute("DELETE FROM tags WHERE key = ?", (key,))
    connection.executemany("INSERT INTO tags VALUES (?, ?)", [(folded(tag), key) for tag in tags])


def _try_to_change(
    connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[object, ...]]
) -> None:
    """Change what reading does not depend on; a file that can only be read stays as it is."""
    if rows:
        with contextlib.suppress(sqlite3.OperationalError), transaction(connection):
            connection.executemany(statement, rows)
