"""Errors of the program itself, which Python would only print where nobody looks.

Qt goes on after a slot that raised, so the window may show what is not so: it has to be said.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, Signal

from app.log_wiring import LogWiring
from widgets.status_banner import StatusBanner

_DIAGNOSTICS = "save_diagnostics"
_SHOWN_CALLS = 4


class Faults(QObject):
    """Hears of every exception that nobody caught, in slots, threads and destructors.

    Installed by the program alone: in a test such an exception must fail the test.

    Signals:
        found: A sentence (str) for the user, the traceback (str), and where it was in words (str)
            that hold nothing of a conversation; once for each kind of fault.
    """

    found = Signal(str, str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        """Hear nothing yet."""
        super().__init__(parent)
        self._known: set[tuple[str, str]] = set()
        self._known_lock = threading.Lock()
        self._before = (sys.excepthook, sys.unraisablehook, threading.excepthook)

    def install(self) -> None:
        """Listen from now on; what listened before still hears all."""
        self._before = (sys.excepthook, sys.unraisablehook, threading.excepthook)
        sys.excepthook = self._on_uncaught
        sys.unraisablehook = self._on_unraisable
        threading.excepthook = self._on_thread_ended

    def remove(self) -> None:
        """Listen no more."""
        sys.excepthook, sys.unraisablehook, threading.excepthook = self._before

    def _on_uncaught(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self._before[0](kind, error, trace)
        self._note(kind, error, trace)

    def _on_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        self._before[1](unraisable)
        self._note(unraisable.exc_type, unraisable.exc_value, unraisable.exc_traceback)

    def _on_thread_ended(self, ended: threading.ExceptHookArgs) -> None:
        self._before[2](ended)
        if ended.exc_type is not SystemExit:
            self._note(ended.exc_type, ended.exc_value, ended.exc_traceback)

    def _note(
        self,
        kind: type[BaseException],
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not issubclass(kind, Exception):
            return
        calls = [_place(frame) for frame in traceback.extract_tb(trace)] or ["an unknown place"]
        with self._known_lock:
            if (kind.__name__, calls[-1]) in self._known:
                return
            self._known.add((kind.__name__, calls[-1]))
        sentence = (
            f"TuneDeck made a mistake ({kind.__name__} in {calls[-1]}): what the window shows may "
            "not be what runs. Your conversations are kept; save diagnostics to report it, and "
            "restart TuneDeck if something looks wrong."
        )
        where = f"{kind.__name__} in {' ← '.join(reversed(calls[-_SHOWN_CALLS:]))}"
        self.found.emit(sentence, "".join(traceback.format_exception(kind, error, trace)), where)


class FaultsTold(QObject):
    """Brings faults to the log and to the banner of a window."""

    def __init__(
        self,
        faults: Faults,
        log: LogWiring,
        banner: StatusBanner,
        parent: QObject,
        *,
        say: Callable[[str], None],
        save_diagnostics: Callable[[], object],
    ) -> None:
        """Listen to ``faults``.

        Args:
            faults: May find something in any thread.
            log: Gets the place, never the message: that may quote a conversation.
            banner: Gets the sentence, unless something else stands there.
            parent: The window.
            say: Gets it then.
            save_diagnostics: What the banner's button does.
        """
        super().__init__(parent)
        self._log, self._banner = log, banner
        self._say, self._save_diagnostics = say, save_diagnostics
        # A method of this object, so that Qt brings it to this thread.
        faults.found.connect(self._on_found)
        banner.action_requested.connect(self._on_action_requested)

    def _on_found(self, sentence: str, detail: str, where: str) -> None:
        self._log.note(f"A mistake of TuneDeck: {where}.", "error")
        if self._banner.sentence():
            self._say(sentence)  # the way on that the banner offers is needed more
        else:
            actions = [(_DIAGNOSTICS, "Save diagnostics…")]
            self._banner.show_problem(sentence, detail, actions)

    def _on_action_requested(self, action: str) -> None:
        if action == _DIAGNOSTICS:
            self._save_diagnostics()


def _place(frame: traceback.FrameSummary) -> str:
    """The call without folders, which may hold a user's name."""
    return f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
