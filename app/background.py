"""A function run off the GUI thread, its result delivered on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal


class Task(QObject):
    """One function in a pool thread.

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
        """Run it in Qt's thread pool."""
        QThreadPool.globalInstance().start(_Run(self))

    def run(self) -> None:
        """Called in the pool thread: signals cross to the receiver's thread by themselves."""
        try:
            result = self._function(self.progressed.emit)
        except Exception as error:  # handed over whole to whoever waits
            self.failed.emit(error)
        else:
            self.succeeded.emit(result)


class _Run(QRunnable):
    """Keeps the task alive while its function runs."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self._task = task

    def run(self) -> None:
        self._task.run()
