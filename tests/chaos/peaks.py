"""How much memory the window, the engine and the throwaway processes take, looked at by the way."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import psutil

from engine_bridge.client import EngineClient

_LOOK_S = 0.2


class Peaks(threading.Thread):
    """Looks at resident memory five times a second, from ``with`` to its end.

    Attributes:
        helper_bytes: The most that one throwaway process had.
        window_bytes: First and most of this process.
        engine_bytes: First and most of the engine process; a new engine begins anew.
    """

    def __init__(self, client: EngineClient) -> None:
        """Prepare to watch this process and that of ``client``."""
        super().__init__(name="peaks", daemon=True)
        self._client = client
        self._is_over = threading.Event()
        self._engine_pid = 0
        self.helper_bytes = 0
        self.window_bytes = self.engine_bytes = (0, 0)
        self.growth_bytes = 0

    def __enter__(self) -> Peaks:
        """Begin."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._is_over.set()
        self.join()

    def run(self) -> None:
        """Look until the end."""
        own = psutil.Process()
        while not self._is_over.wait(_LOOK_S):
            self.window_bytes = self._grown(self.window_bytes, own.memory_info().rss)
            engine_pid = self._client.pid
            for process in own.children(recursive=True):
                try:
                    size = process.memory_info().rss
                except psutil.Error:
                    continue
                if process.pid == engine_pid:
                    first = self.engine_bytes if engine_pid == self._engine_pid else (0, 0)
                    self._engine_pid = engine_pid
                    self.engine_bytes = self._grown(first, size)
                else:
                    self.helper_bytes = max(self.helper_bytes, size, _most_bytes(process.pid))

    def _grown(self, before: tuple[int, int], size: int) -> tuple[int, int]:
        first, most = before
        self.growth_bytes = max(self.growth_bytes, size - (first or size))
        return first or size, max(most, size)

    def words(self) -> str:
        """For the table."""
        helper, growth = self.helper_bytes / 2**20, self.growth_bytes / 2**20
        return f"helpers at most {helper:,.0f} MiB, window and engine grew {growth:,.0f} MiB"


def _most_bytes(pid: int) -> int:
    """The most a process ever had, where Linux tells it."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    peak = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(peak[0]) * 1024 if peak and os.name == "posix" else 0
