"""The most memory that processes held while somebody watched; read in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from engine_bridge.hardware.process_memory import ProcessBytes, ProcessMemory

# An allocation that a server makes for a prompt lasts as long as the prompt.
_PERIOD_S = 0.25
_END_S = 5.0

RESIDENT, PRIVATE, BOARDS = (
    "resident_memory_bytes", "private_memory_bytes", "gpu_memory_bytes",
)  # fmt: skip
"""What the figures are called in ``Cell.extra``."""


class _Reader(Protocol):
    def read(self, pid: int) -> ProcessBytes: ...

    def close(self) -> None: ...


class MemoryWatch:
    """Watches processes while it is entered; one that is not there has no figures."""

    def __init__(
        self,
        open_reader: Callable[[], _Reader] = ProcessMemory,
        period_s: float = _PERIOD_S,
    ) -> None:
        """Watch nothing yet.

        Args:
            open_reader: Opens what reads the memory, in the watching thread.
            period_s: Time between two readings.
        """
        self._open_reader = open_reader
        self._period_s = period_s
        self._pids: dict[str, int] = {}
        self._peaks: dict[str, ProcessBytes] = {}
        self._turn = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="memory watch", daemon=True)

    def __enter__(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        with self._turn:
            self._is_over = True
            self._turn.notify_all()
        self._thread.join(_END_S)

    def follow(self, name: str, pid: int) -> None:
        """Watch process ``pid`` under ``name`` from now on; 0 watches it no more."""
        with self._turn:
            self._pids[name] = pid
            self._turn.notify_all()

    def peaks(self, name: str) -> ProcessBytes:
        """The highest figures of ``name`` so far."""
        with self._turn:
            return self._peaks.get(name, ProcessBytes())

    # --- Inside -------------------------------------------------------------------------

    def _run(self) -> None:
        reader = self._open_reader()
        try:
            while not self._is_over:
                self._look(reader)
                with self._turn:
                    if not self._is_over:
                        self._turn.wait(self._period_s)
        finally:
            reader.close()

    def _look(self, reader: _Reader) -> None:
        with self._turn:
            pids = {name: pid for name, pid in self._pids.items() if pid}
        for name, pid in pids.items():
            held = reader.read(pid)
            with self._turn:
                self._peaks[name] = self._peaks.get(name, ProcessBytes()).highest(held)


def memory_figures(peaks: ProcessBytes) -> dict[str, float]:
    """What is known of ``peaks``, as it stands in ``Cell.extra``."""
    told = {RESIDENT: peaks.resident, PRIVATE: peaks.private, BOARDS: peaks.boards}
    return {name: float(value) for name, value in told.items() if value}
