"""Watches the file of the model in use: deleted, replaced, cut, or on a drive that went.

Holds no widget. Asks the system every two seconds from a thread that may hang: notifications of
changes say nothing of a drive that died, and asking it from the window would hang the window.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QObject, QTimer, Signal

from app.figures import bytes_text
from app.library.model_walk import part_locations
from app.worker import Worker
from engine_bridge.gguf_window import shown_name

_PERIOD_MS = 2_000
# A sleeping disk takes some seconds to spin up.
_SILENCE_S = 10.0
# What a drive says that is there no more; anything else but "no such file" is as bad.
_NO_FILE = (errno.ENOENT, errno.ENOTDIR)


@dataclass(frozen=True)
class Stamp:
    """One file at one moment.

    Attributes:
        identity: Device and number; (0, 0) where it could not be looked at.
        size_bytes: Its size.
        modified_ns: When it was written to.
        error: Number of the system's error, 0 without one.
    """

    identity: tuple[int, int] = (0, 0)
    size_bytes: int = 0
    modified_ns: int = 0
    error: int = 0


class Trouble(Enum):
    """What became of the file."""

    NONE = "none"
    DELETED = "deleted"
    REPLACED = "replaced"
    CUT = "cut"
    WRITTEN = "written"
    UNREACHABLE = "unreachable"


Look = Callable[[str], tuple[Stamp, ...]]


def look_at(path: str) -> tuple[Stamp, ...]:
    """Stamps of all parts of a model."""
    return tuple(_stamp(location) for location in part_locations(os.fsencode(path)))


class ModelWatch(QObject):
    """Watches one model at a time.

    Signals:
        trouble_found: A ``Trouble`` and a sentence: what happened, what it means, what to do.
        trouble_ended: The file is as it was when it was loaded.
    """

    trouble_found = Signal(object, str)
    trouble_ended = Signal()

    def __init__(self, parent: QObject, look: Look = look_at) -> None:
        """Watch nothing yet; ``look`` may block."""
        super().__init__(parent)
        self._look = look
        self._path = ""
        self._is_mapped = False
        self._first: tuple[Stamp, ...] | None = None
        self._trouble = Trouble.NONE
        self._worker: Worker | None = None
        self._asked_s: float | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_PERIOD_MS)
        self._timer.timeout.connect(self.check)

    @property
    def path(self) -> str:
        """The file watched; empty for none."""
        return self._path

    def watch(self, path: str, *, is_mapped: bool) -> None:
        """Watch the model that was just loaded from ``path``.

        Args:
            path: Its file, part 1 of a split one.
            is_mapped: Whether the engine reads weights from the file while it runs.
        """
        self.stop()
        self._path, self._is_mapped = path, is_mapped
        # A new thread for each: that of the model before may hang on its drive.
        self._worker = Worker("watch the model", self)
        self._timer.start()
        self.check()

    def stop(self) -> None:
        """Watch nothing."""
        self._timer.stop()
        if self._worker is not None:
            self._worker.close()
            self._worker = None
        self._path, self._first, self._asked_s = "", None, None
        self._trouble = Trouble.NONE

    def check(self) -> None:
        """Look now, unless the last look has not come back yet."""
        now_s = time.monotonic()
        if self._worker is None:
            return
        if self._asked_s is None:
            self._asked_s = now_s
            path = self._path
            self._worker.do(lambda: self._look(path), self._on_looked)
        elif now_s - self._asked_s > _SILENCE_S:
            self._tell(Trouble.UNREACHABLE)

    # --- Inside -------------------------------------------------------------------------

    def _on_looked(self, stamps: tuple[Stamp, ...]) -> None:
        self._asked_s = None
        if self._first is None:
            self._first = stamps
        self._tell(trouble_of(self._first, stamps), stamps)

    def _tell(self, trouble: Trouble, stamps: tuple[Stamp, ...] = ()) -> None:
        if trouble is self._trouble:
            return
        self._trouble = trouble
        if trouble is Trouble.NONE:
            self.trouble_ended.emit()
            return
        sizes = ""
        if trouble is Trouble.CUT and self._first is not None:
            now, before = (sum(s.size_bytes for s in them) for them in (stamps, self._first))
            sizes = f" ({bytes_text(now)} of {bytes_text(before)})"
        sentence = trouble_sentence(trouble, shown_name(self._path), self._is_mapped, sizes)
        self.trouble_found.emit(trouble, sentence)


def trouble_of(first: tuple[Stamp, ...], now: tuple[Stamp, ...]) -> Trouble:
    """What became of the parts since ``first``; the worst of it."""
    found = {_trouble_of_part(*pair) for pair in zip(first, now, strict=True)}
    worst_first = (
        Trouble.CUT,
        Trouble.UNREACHABLE,
        Trouble.DELETED,
        Trouble.WRITTEN,
        Trouble.REPLACED,
    )
    return next((trouble for trouble in worst_first if trouble in found), Trouble.NONE)


def trouble_sentence(trouble: Trouble, name: str, is_mapped: bool, sizes: str = "") -> str:
    """What happened, what it means, what to do.

    Args:
        trouble: What happened.
        name: The file's name.
        is_mapped: Whether the engine reads from the file while it runs.
        sizes: Of a file that was cut, in brackets.
    """
    what = _WHAT[trouble].format(name=name, sizes=sizes)
    if is_mapped:
        return f"{what} {_MAPPED[trouble]}"
    return f"{what} {_COPIED[trouble]}"


_WHAT = {
    Trouble.DELETED: "{name} was deleted or moved while it is loaded, or its drive was removed.",
    Trouble.REPLACED: "{name} was replaced by another file while it is loaded.",
    Trouble.CUT: "{name} became shorter{sizes} while it is loaded.",
    Trouble.WRITTEN: "{name} was written to while it is loaded.",
    Trouble.UNREACHABLE: "The drive of {name} does not answer.",
}
_IMMUNE = "The load mode none copies the weights and is immune to this."
_MAPPED = {
    Trouble.DELETED: "The engine goes on with the old file, which the system keeps for it, but "
    "the model cannot be loaded again. Put the file back, or open another one.",
    Trouble.REPLACED: "The engine goes on with the old file. Reload to use the new one.",
    Trouble.CUT: "The engine has it mapped: the next look at a part that is missing ends it "
    f"(SIGBUS). Put the whole file back and reload. {_IMMUNE}",
    Trouble.WRITTEN: "The engine has it mapped, so answers may be nonsense. Wait until it is "
    f"whole, then reload. {_IMMUNE}",
    Trouble.UNREACHABLE: "The engine has it mapped: it hangs or ends (SIGBUS) at the next part "
    "that is not in memory. Connect the drive again, or load a copy from a local disk. "
    f"{_IMMUNE}",
}
_OWN = "The engine has its own copy of the weights and goes on"
_COPIED = {
    Trouble.DELETED: f"{_OWN}, but the model cannot be loaded again. Put the file back.",
    Trouble.REPLACED: f"{_OWN}. Reload to use the new file.",
    Trouble.CUT: f"{_OWN}, but the model cannot be loaded again. Put the whole file back.",
    Trouble.WRITTEN: f"{_OWN}. Reload to use what is there now.",
    Trouble.UNREACHABLE: f"{_OWN}; a reload needs the drive. Connect it again.",
}


def _trouble_of_part(first: Stamp, now: Stamp) -> Trouble:
    if now.error:
        if first.error:
            return Trouble.NONE  # it was so when it was loaded
        return Trouble.DELETED if now.error in _NO_FILE else Trouble.UNREACHABLE
    if now.identity != first.identity:
        return Trouble.REPLACED
    if now.size_bytes < first.size_bytes:
        return Trouble.CUT
    is_same = (now.size_bytes, now.modified_ns) == (first.size_bytes, first.modified_ns)
    return Trouble.NONE if is_same else Trouble.WRITTEN


def _stamp(location: bytes) -> Stamp:
    try:
        status = os.stat(location)  # noqa: PTH116 - bytes
    except OSError as error:
        return Stamp(error=error.errno or errno.EIO)
    return Stamp((status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns)
