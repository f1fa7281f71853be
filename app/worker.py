"""One thread that does one thing after another, and hands each result to the GUI thread.

For the disk: unlike a pool's, its jobs keep their order, and a drive that does not answer holds up
neither the window nor the end of the program.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from app.storage.storage_error import StorageError


class Worker(QObject):
    """A thread that begins with the first job and ends with ``close``."""

    _done = Signal(object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        """Prepare a thread called ``name``."""
        super().__init__(parent)
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        # A daemon: one that hangs on a dead drive must not keep the program from ending.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._is_closed = False
        self._done.connect(self._on_done, Qt.ConnectionType.QueuedConnection)

    def do(
        self,
        job: Callable[[], Any],
        then: Callable[[Any], None] | None = None,
        failed: Callable[[str], None] | None = None,
    ) -> None:
        """Run ``job`` in the thread after all those before it; nothing after ``close``.

        Args:
            job: What to do there.
            then: Called with its result, in the thread of this object.
            failed: Called instead with the sentence of a ``StorageError``.
        """
        if self._is_closed:
            return

        def run() -> None:
            self._run(job, then, failed)

        self._jobs.put(run)
        if not self._thread.is_alive():
            self._thread.start()

    def close(self, last: Callable[[], None] | None = None, timeout_s: float = 0.0) -> bool:
        """Do what waits, then ``last``, and end; results are handed to nobody any more.

        Args:
            last: What is still to be done there; None for nothing.
            timeout_s: How long to wait for it.

        Returns:
            Whether all was done in time. If not, it goes on until the program ends, or failed by a
            fault of the program.
        """
        if self._is_closed:
            return True
        self._is_closed = True
        is_done: list[bool] = []

        def end() -> None:
            if last is not None:
                last()  # what it raises ends the thread and is printed there
            is_done.append(True)

        self._jobs.put(end)
        self._jobs.put(None)
        if not self._thread.is_alive():
            self._thread.start()
        self._thread.join(timeout_s)
        return bool(is_done)

    # --- Inside -------------------------------------------------------------------------

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _run(
        self,
        job: Callable[[], Any],
        then: Callable[[Any], None] | None,
        failed: Callable[[str], None] | None,
    ) -> None:
        try:
            result = job()
        except StorageError as error:
            sentence = str(error)
            self._hand_over(lambda: failed(sentence) if failed else None)
        except Exception as error:  # a fault of the program: raised where it is seen
            fault = error
            self._hand_over(lambda: _raise(fault))
        else:
            self._hand_over(lambda: then(result) if then else None)

    def _hand_over(self, call: Callable[[], None]) -> None:
        if not self._is_closed:
            self._done.emit(call)

    def _on_done(self, call: Callable[[], None]) -> None:
        if not self._is_closed:
            call()


def _raise(error: Exception) -> None:
    raise error
