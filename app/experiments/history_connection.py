"""One connection to the history, for whichever thread comes; opened when it is first needed.

Opened again where the file was moved away or could not be written, begun anew where it is damaged.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from app.experiments.history_file import is_damage, open_file, sentence_of, set_aside
from app.experiments.history_records import empty_bin, mark_cut, mark_deleted, write
from app.experiments.history_salvage import salvaged
from app.experiments.history_schema import Step

BIN_S = 30 * 86_400.0
"""So long what was deleted can be brought back; the next opening after that empties the bin."""

_T = TypeVar("_T")


class HistoryConnection:
    """Runs functions on the open file, one at a time."""

    def __init__(
        self,
        path: Path,
        clock_s: Callable[[], float],
        patience_s: float,
        steps: Sequence[Step],
    ) -> None:
        """Begin with ``path``; it need not exist.

        Args:
            path: The file.
            clock_s: Wall clock, since 1970.
            patience_s: So long another program may hold the file.
            steps: Of the schema.
        """
        self.lock = threading.RLock()
        self.sentences: list[str] = []
        self._path = path
        self._clock_s = clock_s
        self._patience_s = patience_s
        self._steps = steps
        self._connection: sqlite3.Connection | None = None
        # Which file the connection is to, by device and number.
        self._identity: tuple[int, int] | None = None

    def run(self, what: str, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """``work`` on the open file; once more, on a new one, where that is damaged.

        Args:
            what: Begins the sentence of an error.
            work: Takes the connection, which is in autocommit mode.

        Raises:
            StorageError: If SQLite or the disk will not.
        """
        with self.lock:
            try:
                return work(self._opened(what))
            except sqlite3.Error as error:
                # Opened anew the next time: by then the disk may be back, or writable.
                self.drop()
                if not is_damage(error):
                    raise sentence_of(what, self._path, error) from error
            try:
                self._begin_anew(what)
                return work(self._opened(what))
            except sqlite3.Error as error:
                self.drop()
                raise sentence_of(what, self._path, error) from error

    def drop(self) -> None:
        """Let go of the file."""
        with self.lock:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.close()
            self._connection = None

    def _opened(self, what: str) -> sqlite3.Connection:
        if self._connection is not None and self._identity != _identity_of(self._path):
            # It was moved away, or its drive: what is written to it now would be lost.
            self.drop()
        if self._connection is None:
            self._connection = open_file(self._path, what, self._steps, self._patience_s)
            self._identity = _identity_of(self._path)
            empty_bin(self._connection, self._clock_s() - BIN_S)
            mark_cut(self._connection, self._clock_s())
        return self._connection

    def _begin_anew(self, what: str) -> None:
        aside = set_aside(self._path, self._patience_s)
        if aside is None:
            return
        count = 0
        try:
            connection = self._opened(what)
            for experiment, deleted_s in salvaged(aside):
                write(connection, experiment, self._clock_s())
                if deleted_s is not None:
                    mark_deleted(connection, [experiment.key], deleted_s)
                count += 1
        finally:
            self.sentences.append(
                f"The history was damaged and is set aside as {aside.name} (in {aside.parent}). "
                f"{_saved_words(count)}"
            )


def _identity_of(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _saved_words(count: int) -> str:
    if not count:
        return "Nothing of it could be read; a new one begins."
    noun = "experiment was" if count == 1 else "experiments were"
    return f"{count:,} {noun} read from it and taken over into a new one."
