"""The experiments kept on this machine: searched, tagged, deleted and brought back.

One SQLite file, and one transaction for each part of an experiment: a program killed at any moment
loses at most the run in progress. Waits for the disk: never call it on the GUI thread. Any thread
may call it, one at a time gets through.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from app.experiments.experiment import Experiment, State
from app.experiments.history_connection import HistoryConnection
from app.experiments.history_file import FILE_NAME, PATIENCE_S
from app.experiments.history_query import Filter, query_of
from app.experiments.history_records import (
    change_note,
    change_tags,
    mark_cut,
    mark_deleted,
    write,
)
from app.experiments.history_rows import Row, cleaned_tags, experiment_of, row_of, tags_of
from app.experiments.history_schema import STEPS, Step
from app.storage.journal_records import storable
from app.storage.storage_error import StorageError

_UNKEPT = "The experiment could not be kept; it stays in memory until it can be"
_UNREAD = "The history could not be read"
_UNCHANGED = "The history could not be changed"
# Of keys that begin alike a sentence names so many.
_SHOWN = 3


class HistoryStore:
    """The history in one folder."""

    def __init__(
        self,
        folder: Path,
        clock_s: Callable[[], float] = time.time,
        patience_s: float = PATIENCE_S,
        steps: Sequence[Step] = STEPS,
    ) -> None:
        """Begin with ``folder``; it is opened, and made, when it is first needed.

        Args:
            folder: Of the file.
            clock_s: Wall clock, since 1970.
            patience_s: So long another program may hold the file.
            steps: Of the schema.
        """
        self.path = folder / FILE_NAME
        self._clock_s = clock_s
        self._file = HistoryConnection(self.path, clock_s, patience_s, steps)
        self._unwritten: dict[str, Experiment] = {}
        # Keys of which it was said.
        self._damaged: set[str] = set()

    # --- Keeping ------------------------------------------------------------------------

    def keep(self, experiment: Experiment) -> None:
        """Write ``experiment``, in place of what was kept of it before.

        Tags and note are those it had when it was first kept, or what the user made of them since.
        One that was deleted stays deleted, and is complete when it is brought back.

        Raises:
            StorageError: If it cannot be written; it stays in memory and is written with the next
                one, or by ``flush``.
        """
        with self._file.lock:
            self._unwritten[experiment.key] = experiment
            self.flush()

    def flush(self) -> None:
        """Write what could not be written before.

        Raises:
            StorageError: If some of it still cannot be; all else is written.
        """
        failure = None
        with self._file.lock:
            for key, experiment in tuple(self._unwritten.items()):
                try:
                    self._file.run(_UNKEPT, partial(self._write, experiment))
                except StorageError as error:
                    failure = failure or error
                else:
                    del self._unwritten[key]
        if failure is not None:
            raise failure

    def unwritten(self) -> tuple[Experiment, ...]:
        """What is in memory only, since it could not be written."""
        with self._file.lock:
            return tuple(self._unwritten.values())

    def take_sentences(self) -> tuple[str, ...]:
        """What the user should know of the file and was not told yet."""
        with self._file.lock:
            sentences = tuple(self._file.sentences)
            self._file.sentences.clear()
        return sentences

    def close(self) -> None:
        """Let go of the file, after writing what could not be written before.

        Raises:
            StorageError: If it still cannot be.
        """
        try:
            self.flush()
        finally:
            self._file.drop()

    # --- Reading ------------------------------------------------------------------------

    def listing(self, wanted: Filter | None = None) -> tuple[Row, ...]:
        """A row for each experiment that ``wanted`` asks for; all, newest first, by default.

        Raises:
            StorageError: If the file cannot be read.
        """
        statement, parameters = query_of(wanted or Filter())

        def read(connection: sqlite3.Connection) -> tuple[Row, ...]:
            mark_cut(connection, self._clock_s())
            rows = map(self._row_of, connection.execute(statement, parameters))
            return tuple(row for row in rows if row is not None)

        return self._file.run(_UNREAD, read)

    def marker(self) -> object:
        """Equal to the one before while nothing in the file has changed, whoever writes to it.

        Takes a moment, however many experiments there are.

        Raises:
            StorageError: If the file cannot be read.
        """

        def read(connection: sqlite3.Connection) -> tuple[object, ...]:
            mark_cut(connection, self._clock_s())
            # What others wrote, and what this program did; of another file neither says anything.
            version = connection.execute("PRAGMA data_version").fetchone()
            return connection, version, connection.total_changes

        return self._file.run(_UNREAD, read)

    def experiment(self, key: str) -> Experiment:
        """The whole of one experiment, of the bin too.

        Raises:
            StorageError: If there is none of that key, or it cannot be read.
        """
        with self._file.lock:
            if key in self._unwritten:
                return self._unwritten[key]
        found = self._file.run(
            _UNREAD,
            lambda connection: connection.execute(
                "SELECT content, state, tags, note FROM experiments JOIN contents USING (key) "
                "WHERE key = ?",
                (key,),
            ).fetchone(),
        )
        if found is None:
            raise StorageError(f"There is no experiment {storable(key)} in the history.")
        content, state, tags, note = found
        try:
            experiment = experiment_of(content)
        except ValueError as error:
            raise StorageError(f"The experiment {key} is damaged: {error}.") from error
        return msgspec.structs.replace(
            experiment, state=State(state), tags=tags_of(tags), note=note
        )

    def resolve(self, part: str) -> str:
        """The only key that begins, or ends, with ``part``; in the bin too.

        Raises:
            StorageError: If there is none, or several.
        """
        text = storable(part.strip())
        if not text:
            raise StorageError("An experiment is named by its key; `tunedeck history` lists them.")
        found = self._file.run(
            _UNREAD,
            lambda connection: connection.execute(
                # A key holds no sign that comes after "~".
                "SELECT key FROM experiments WHERE key >= ?1 AND key < ?1 || '~' "
                "UNION SELECT key FROM experiments WHERE substr(key, -length(?1)) = ?1 "
                "ORDER BY key DESC",
                (text,),
            ).fetchall(),
        )
        keys = [str(key) for (key,) in found]
        if text in keys:
            return text
        if not keys:
            raise StorageError(
                f"No experiment of the history begins or ends with “{text}”; "
                "`tunedeck history` lists them."
            )
        if len(keys) > 1:
            raise StorageError(
                f"{len(keys):,} experiments begin or end with “{text}”, such as "
                f"{', '.join(keys[:_SHOWN])}: give more of the key."
            )
        return keys[0]

    def models(self) -> tuple[str, ...]:
        """Shown names of all models, in order.

        Raises:
            StorageError: If the file cannot be read.
        """
        return self._column(
            "SELECT DISTINCT model FROM experiments WHERE deleted_s IS NULL AND model <> '' "
            "ORDER BY model"
        )

    def tags(self) -> tuple[str, ...]:
        """All tags in use, folded, in order.

        Raises:
            StorageError: If the file cannot be read.
        """
        return self._column(
            "SELECT DISTINCT tag FROM tags JOIN experiments USING (key) WHERE deleted_s IS NULL "
            "ORDER BY tag"
        )

    # --- Changing -----------------------------------------------------------------------

    def set_tags(self, key: str, tags: Iterable[str]) -> tuple[str, ...]:
        """Replace the tags of an experiment.

        Returns:
            The tags as they are kept: each on one line, each once whatever its case.

        Raises:
            StorageError: If there is no such experiment, or it cannot be written.
        """
        cleaned = cleaned_tags(tags)
        self._file.run(_UNCHANGED, lambda connection: change_tags(connection, key, cleaned))
        return cleaned

    def set_note(self, key: str, note: str) -> None:
        """Replace the note of an experiment.

        Raises:
            StorageError: If there is no such experiment, or it cannot be written.
        """
        text = storable(note)
        self._file.run(_UNCHANGED, lambda connection: change_note(connection, key, text))

    def delete(self, *keys: str) -> None:
        """Move experiments to the bin, from where ``restore`` brings them back for 30 days.

        Raises:
            StorageError: If one of them does not exist, or it cannot be written; none is moved.
        """
        now_s = self._clock_s()
        self._file.run(_UNCHANGED, lambda connection: mark_deleted(connection, keys, now_s))

    def restore(self, *keys: str) -> None:
        """Bring experiments back from the bin.

        Raises:
            StorageError: If one of them does not exist, or it cannot be written; none comes back.
        """
        self._file.run(_UNCHANGED, lambda connection: mark_deleted(connection, keys, None))

    # --- Inside -------------------------------------------------------------------------

    def _row_of(self, values: tuple[Any, ...]) -> Row | None:
        """None, and a sentence once, for a damaged row: the others are listed all the same."""
        try:
            return row_of(values)
        except (KeyError, TypeError, msgspec.MsgspecError):
            key = str(values[0])
            if key not in self._damaged:
                self._damaged.add(key)
                self._file.sentences.append(
                    f"The experiment {key} is damaged in the history and not listed."
                )
            return None

    def _write(self, experiment: Experiment, connection: sqlite3.Connection) -> None:
        write(connection, experiment, self._clock_s())

    def _column(self, statement: str) -> tuple[str, ...]:
        return self._file.run(
            _UNREAD,
            lambda connection: tuple(str(value) for (value,) in connection.execute(statement)),
        )
