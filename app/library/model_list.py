"""The list of models on this machine, found by a process of its own while the window goes on.

Holds no widget. Never touches a model's folder itself: a dead drive keeps whoever asks it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.helper_process import HelperProcess, close_helpers
from app.library.model_entry import (
    EntriesFound,
    FolderReported,
    FolderToList,
    ListAnswer,
    ListRequest,
    ModelEntry,
)

_MODULE = "app.library.listing"
# The process gives folders up by itself; this is for a process that does not even do that.
_SILENCE_MS = 30_000
# Lines are taken in one after another until this has passed; the last may take some more.
_MOST_S = 0.001


class ModelList(QObject):
    """What was found so far, by location.

    Signals:
        began: A new listing; what is known stays until it is replaced or the listing ends.
        entries_found: Entries (tuple of ``ModelEntry``) that are new, changed, or better known.
        entries_gone: Locations (tuple of bytes) that are not there any more.
        folder_reported: A folder is through (``FolderReported``).
        ended: The listing is over; a sentence where it could not be finished or kept.
    """

    began = Signal()
    entries_found = Signal(object)
    entries_gone = Signal(object)
    folder_reported = Signal(object)
    ended = Signal(str)

    def __init__(self, cache_path: Path, parent: QObject) -> None:
        """Prepare a list that keeps what it found in ``cache_path``."""
        super().__init__(parent)
        self._cache_path = cache_path
        self._entries: dict[bytes, ModelEntry] = {}
        self._told: set[bytes] = set()
        self._process: HelperProcess | None = None
        self._decoder = msgspec.json.Decoder(ListAnswer)
        self._silence = QTimer(self)
        self._silence.setSingleShot(True)
        self._silence.setInterval(_SILENCE_MS)
        self._silence.timeout.connect(self._on_silence_timeout)
        self._lines: deque[bytes] = deque()
        self._early_end = ""
        self._taking = QTimer(self)
        self._taking.setSingleShot(True)
        self._taking.timeout.connect(self._take_lines)

    @property
    def is_listing(self) -> bool:
        """Whether a listing is under way."""
        return self._process is not None

    @property
    def entries(self) -> tuple[ModelEntry, ...]:
        """What is known now."""
        return tuple(self._entries.values())

    def entry(self, location: bytes) -> ModelEntry | None:
        """One entry, None where it is not listed."""
        return self._entries.get(location)

    def refresh(self, folders: Sequence[FolderToList], recent: Sequence[bytes]) -> None:
        """List anew; a listing under way is given up."""
        self._stop_process()
        self._told.clear()
        request = ListRequest(tuple(folders), tuple(recent), str(self._cache_path))
        self._process = HelperProcess(_MODULE, self)
        self._process.line_received.connect(self._on_line_received)
        self._process.ended.connect(self._on_process_ended)
        self._process.start(msgspec.json.encode(request) + b"\n", is_last=False)
        self._silence.start()
        self.began.emit()

    def hurry(self, location: bytes) -> None:
        """Have the header of this file read next, if it is still unread."""
        entry = self._entries.get(location)
        if self._process is not None and entry is not None and not entry.is_read:
            self._process.write(msgspec.json.encode(location) + b"\n")

    def stop(self) -> None:
        """Give the listing up; what was found stays."""
        if self._process is not None:
            self._end("")

    def close(self) -> None:
        """End it with the window; waits at most a second."""
        self._stop_process()
        close_helpers(self)

    # --- Inside -------------------------------------------------------------------------

    def _stop_process(self) -> None:
        self._silence.stop()
        self._taking.stop()
        self._lines.clear()
        self._early_end = ""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def _on_line_received(self, line: bytes) -> None:
        self._silence.start()
        self._lines.append(line)
        if not self._taking.isActive():
            self._taking.start()

    def _take_lines(self) -> None:
        """Take in as much as does not hold the window up; the rest comes after what it has to do.

        Of 5,000 models as many lines come at once as the pipe holds.
        """
        until_s = time.perf_counter() + _MOST_S
        while self._lines and time.perf_counter() < until_s:
            self._take_line(self._lines.popleft())
        if self._lines:
            self._taking.start()
        elif self._early_end:
            self._end(self._early_end)

    def _take_line(self, line: bytes) -> None:
        try:
            answer = self._decoder.decode(line)
        except msgspec.MsgspecError as error:
            self._end(f"The list of models cannot be read ({error}). Reinstall TuneDeck.")
            return
        if isinstance(answer, EntriesFound):
            self._take(answer.entries)
        elif isinstance(answer, FolderReported):
            self.folder_reported.emit(answer)
        else:
            self._drop_gone()
            self._end(answer.problem)

    def _take(self, entries: tuple[ModelEntry, ...]) -> None:
        """Take in what differs from what is known; of what stays the same nothing is told."""
        changed = []
        for entry in entries:
            self._told.add(entry.location)
            known = self._entries.get(entry.location)
            if known != entry and not _says_less(entry, known):
                self._entries[entry.location] = entry
                changed.append(entry)
        if changed:
            self.entries_found.emit(tuple(changed))

    def _drop_gone(self) -> None:
        gone = tuple(self._entries.keys() - self._told)
        for location in gone:
            del self._entries[location]
        if gone:
            self.entries_gone.emit(gone)

    def _end(self, problem: str) -> None:
        self._stop_process()
        self.ended.emit(problem)

    def _on_process_ended(self, exit_code: int, last_line: str) -> None:
        if self.sender() is self._process:
            said = f": {last_line}" if last_line else ""
            self._early_end = (
                f"Listing the models ended early (exit code {exit_code}{said}). Refresh."
            )
            self._taking.start()  # after the lines that came before

    def _on_silence_timeout(self) -> None:
        self._end("Listing the models takes too long and was given up. Refresh to try again.")


def _says_less(entry: ModelEntry, known: ModelEntry | None) -> bool:
    """Whether ``entry`` is the same file as ``known``, only not read again yet."""
    return (
        known is not None
        and known.is_read
        and not entry.is_read
        and known
        == msgspec.structs.replace(
            entry,
            facts=known.facts,
            problem=known.problem,
            is_read=True,
            content=known.content,
            is_growing=known.is_growing,
            is_reachable=known.is_reachable and entry.is_reachable,
        )
    )
