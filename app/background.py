"""A function run off the GUI thread, its result delivered on it.

In a thread of its own, not in Qt's pool: the program waits at its end for that one, however long a
download or a dead drive takes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, Signal

# What is being written at the end of the program is given so long.
_END_WAIT_S = 2.0


class Task(QObject):
    """One function in a thread.

    Signals:
        progressed: Whatever the function reports by its first argument: fraction 0 to 1, words.
        succeeded: The function's result.
        failed: The exception it raised.
    """

    progressed = Signal(float, str)
    succeeded = Signal(object)
    failed = Signal(object)

    def __init__(
        self, function: Callable[[Callable[[float, str], None]], Any], parent: QObject
    ) -> None:
        """Prepare ``function``; it is called with a callback for its progress."""
        super().__init__(parent)
        self._function = function

    def start(self) -> None:
        """Run it in a daemon thread, which the end of the program waits for a moment only."""
        self._thread = threading.Thread(target=self.run, name="task", daemon=True)
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self._on_about_to_quit)
        self._thread.start()

    def run(self) -> None:
        """Called in the thread: signals cross to the receiver's thread by themselves."""
        try:
            result = self._function(self._tell_progress)
        except Exception as error:  # handed over whole to whoever waits
            self._tell(partial(self.failed.emit, error))
        else:
            self._tell(partial(self.succeeded.emit, result))

    def _tell_progress(self, fraction: float, words: str) -> None:
        self._tell(partial(self.progressed.emit, fraction, words))

    def _tell(self, emit: Callable[[], None]) -> None:
        """Emit, unless whoever waited is gone: a window may close over a long task."""
        try:
            if shiboken6.isValid(self):
                emit()
        except RuntimeError:  # deleted between the two
            if shiboken6.isValid(self):
                raise

    def _on_about_to_quit(self) -> None:
        self._thread.join(_END_WAIT_S)
