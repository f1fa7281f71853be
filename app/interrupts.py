"""Ctrl+C, SIGTERM and a closed terminal close the window in good order.

Nothing tears the event loop apart, and what was said last is saved.
"""

from __future__ import annotations

import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Signal

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Interrupts(QObject):
    """Turns these signals of the system into a Qt signal.

    Python runs its handlers between byte codes, and an idle event loop executes none: the byte that
    the interpreter writes to a socket at once wakes it.

    Signals:
        interrupted: Someone asked the program to end.
    """

    interrupted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Listen from now on; one such object a process, on the main thread."""
        super().__init__(parent)
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in (getattr(signal, name, None) for name in _NAMES):
            # What is ignored already stays so: nohup means that a closed terminal says nothing.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_notifier_activated)

    def _on_signal(self, _: int, __: FrameType | None) -> None:
        """Only has to exist: a default handler would end the process before the window."""

    def _on_notifier_activated(self) -> None:
        self._reader.recv(64)
        self.interrupted.emit()
