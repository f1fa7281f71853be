"""What can still be read of a damaged history."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from app.experiments.experiment import Experiment, State
from app.experiments.history_rows import experiment_of, tags_of

# Without an index, which may be what is damaged, and from both ends: a damaged page stops each at
# one side of it.
_ROWS, _CONTENTS = (
    tuple(
        f"SELECT {columns} FROM {table} NOT INDEXED ORDER BY rowid {direction}"
        for direction in ("ASC", "DESC")
    )
    for columns, table in (
        ("key, state, tags, note, deleted_s", "experiments"),
        ("content, key", "contents"),
    )
)


def salvaged(path: Path) -> Iterator[tuple[Experiment, float | None]]:
    """Each experiment once, with the time since which it is in the bin, None if it is not.

    Args:
        path: A damaged file; it is only read.
    """
    with contextlib.suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        with contextlib.closing(connection):
            rows = {row[0]: row[1:] for row in _read(connection, _ROWS)}
            seen = set()
            for content, key in _read(connection, _CONTENTS):
                if key not in seen:
                    seen.add(key)
                    # What is damaged alone does not hold up the rest.
                    with contextlib.suppress(ValueError, TypeError, msgspec.MsgspecError):
                        yield _with_row(experiment_of(content), rows.get(key))


def _read(connection: sqlite3.Connection, statements: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    for statement in statements:
        with contextlib.suppress(sqlite3.Error):
            yield from connection.execute(statement)


def _with_row(
    experiment: Experiment, row: tuple[object, ...] | None
) -> tuple[Experiment, float | None]:
    """The experiment with its row's state and the user's words; its own where that is lost."""
    state, tags, note, deleted_s = row or (experiment.state, None, experiment.note, None)
    known = State(str(state))
    whole = msgspec.structs.replace(
        experiment,
        # Whoever writes it, if he lives, says with the next part that it still runs.
        state=State.CUT if known is State.RUNNING else known,
        tags=experiment.tags if tags is None else tags_of(str(tags)),
        note=str(note),
    )
    return whole, deleted_s if isinstance(deleted_s, float) else None
