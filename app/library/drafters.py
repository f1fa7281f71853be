"""The models that could draft for the one in use, checked while the window goes on.

Holds no widget. What was found stays while neither file changes.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from PySide6.QtCore import QObject, Signal

from app.helper_process import HelperProcess, close_helpers
from app.library.draft_check import DraftRequest, DraftVerdict
from app.library.model_entry import ModelEntry

_MODULE = "app.library.draft_check"
_Key = tuple[bytes, bytes, int, int]


class Drafters(QObject):
    """Verdicts about candidates.

    Signals:
        verdicts_changed: Something is known that was not.
        failed: A sentence: the check could not be finished.
    """

    verdicts_changed = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        """Know nothing yet."""
        super().__init__(parent)
        self._process: HelperProcess | None = None
        self._target = b""
        self._asked: dict[bytes, ModelEntry] = {}
        self._verdicts: dict[_Key, str] = {}

    @property
    def is_checking(self) -> bool:
        """Whether verdicts are on their way."""
        return self._process is not None

    def why_not(self, target: bytes, entry: ModelEntry) -> str | None:
        """Why ``entry`` cannot draft for ``target``; empty where it can, None where unknown."""
        return self._verdicts.get(_key(target, entry))

    def check(self, target: bytes, candidates: Iterable[ModelEntry]) -> None:
        """Find out about those candidates that are not known yet."""
        self.stop()
        self._target = target
        self._asked = {e.location: e for e in candidates if self.why_not(target, e) is None}
        if not self._asked:
            return
        self._process = HelperProcess(_MODULE, self)
        self._process.line_received.connect(self._on_line_received)
        self._process.ended.connect(self._on_process_ended)
        request = DraftRequest(target, tuple(self._asked))
        self._process.start(msgspec.json.encode(request), is_last=True)

    def stop(self) -> None:
        """Give the check up."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def close(self) -> None:
        """Give the check up and wait until its process is gone, at most a second."""
        self.stop()
        close_helpers(self)

    def _on_line_received(self, line: bytes) -> None:
        try:
            verdict = msgspec.json.decode(line, type=DraftVerdict)
        except msgspec.MsgspecError as error:
            self.stop()
            self.failed.emit(f"The check of the draft models cannot be read ({error}).")
            return
        entry = self._asked.get(verdict.location)
        if entry is not None:
            self._verdicts[_key(self._target, entry)] = verdict.why_not
            self.verdicts_changed.emit()

    def _on_process_ended(self, exit_code: int, last_line: str) -> None:
        if self.sender() is not self._process:
            return
        self._process = None
        if exit_code:
            self.failed.emit(
                f"The check of the draft models ended early (exit code {exit_code}): {last_line}"
            )
        else:
            self.verdicts_changed.emit()


def _key(target: bytes, entry: ModelEntry) -> _Key:
    return (target, entry.location, entry.modified_ns, entry.size_bytes)
