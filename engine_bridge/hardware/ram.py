"""Main memory, read through psutil: how full it is, and the engine process's part of it.

Knows processes by their id only.
"""

from __future__ import annotations

import time

import psutil

from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.snapshot import MemorySnapshot


class RamReader:
    """Reads main memory.

    Attributes:
        engine_pid: Process id of the engine, None while there is none.
        activity: Empty: main memory is no board.
        problem: Why the last reading is incomplete, a sentence; empty when it is complete.
    """

    def __init__(self, engine_pid: int | None = None) -> None:
        """Watch ``engine_pid``; it may be changed at any time, from any thread."""
        self.engine_pid = engine_pid
        self.activity: tuple[BoardActivity, ...] = ()
        self.problem = ""
        self._window = psutil.Process()

    def read(self) -> tuple[MemorySnapshot, ...]:
        """One snapshot of main memory."""
        memory = psutil.virtual_memory()
        swap_used, swap_total = self._swap_bytes()
        owned, mapped = self._engine_bytes()
        return (
            MemorySnapshot(
                at_ns=time.perf_counter_ns(),
                kind="system",
                name="System memory",
                total_bytes=memory.total,
                used_bytes=memory.total - memory.available,
                engine_owned_bytes=owned,
                engine_mapped_bytes=mapped,
                window_bytes=self._window_bytes(),
                swap_used_bytes=swap_used,
                swap_total_bytes=swap_total,
            ),
        )

    def close(self) -> None:
        """Nothing to give back."""

    @staticmethod
    def _swap_bytes() -> tuple[int | None, int | None]:
        """Swap in use and its size; (None, None) where the system does not tell."""
        try:
            swap = psutil.swap_memory()
        except (OSError, RuntimeError):  # refused in some containers, and to some users of Windows
            return None, None
        return int(swap.used), int(swap.total)

    def _window_bytes(self) -> int:
        return owned_and_mapped_bytes(self._window)[0]

    def _engine_bytes(self) -> tuple[int | None, int]:
        """Owned and mapped bytes of the engine; (0, 0) without one."""
        self.problem = ""
        pid = self.engine_pid
        if pid is None:
            return 0, 0
        try:
            return owned_and_mapped_bytes(psutil.Process(pid))
        except psutil.NoSuchProcess:
            return 0, 0  # it just ended; whoever started it tells the user
        except psutil.AccessDenied:
            self.problem = (
                "The system does not let this program see how much memory the engine uses, so the "
                "engine's part is counted with other programs."
            )
            return None, 0


def owned_and_mapped_bytes(process: psutil.Process) -> tuple[int, int]:
    """Private bytes of a process, and resident bytes backed by files (mmapped weights, programs).

    Linux counts file-backed pages as ``shared``. Where a system does not count them apart, all of
    the resident bytes are taken as owned and none as mapped.

    Raises:
        psutil.Error: If the process is gone or may not be looked at.
    """
    info = process.memory_info()
    mapped = int(getattr(info, "shared", 0))
    return int(info.rss) - mapped, mapped
