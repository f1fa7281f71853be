"""What machine a benchmark ran on, and whether it had the machine to itself."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

# Above this share of the machine in other hands figures are only an indication.
QUIET_SHARE = 0.05
_LOOK_S = 0.5


def describe() -> str:
    """Processor, cores, memory and system in one line."""
    gib = psutil.virtual_memory().total / 2**30
    return f"{_processor()}, {usable_cores()} cores, {gib:.0f} GiB, {platform.platform()}"


def usable_cores() -> int:
    """Physical cores this process may use; both programs get as many threads."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(psutil.cpu_count(logical=False) or 1, allowed or 1)


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@dataclass(frozen=True)
class _Reading:
    at_s: float
    busy_s: float
    ours_s: float


class Bystanders:
    """Processor time that neither this process nor the programs under test used.

    Figures taken while others computed are not worth much; this is what says so.
    """

    def __init__(self, pids: Sequence[int]) -> None:
        """Begin to watch; ``pids`` are the programs under test."""
        self._ours = [psutil.Process(), *(psutil.Process(pid) for pid in pids)]
        self._last = self._read()

    def share(self) -> float:
        """Mean share of the machine that others used since the last call, 0 to 1."""
        before, now = self._last, self._read()
        self._last = now
        others_s = (now.busy_s - before.busy_s) - (now.ours_s - before.ours_s)
        span_s = (now.at_s - before.at_s) * (psutil.cpu_count() or 1)
        return min(1.0, max(0.0, others_s / span_s)) if span_s > 0 else 0.0

    def wait_until_quiet(self, patience_s: float) -> float:
        """Wait for others to use little, for ``patience_s`` at most; gives the seconds it took."""
        begun = time.monotonic()
        while time.monotonic() - begun < patience_s:
            self._last = self._read()
            time.sleep(_LOOK_S)
            if self.share() <= QUIET_SHARE:
                break
        self._last = self._read()
        return time.monotonic() - begun

    def _read(self) -> _Reading:
        times = psutil.cpu_times()
        # Waiting for the disk is idle time; guests are counted in user time already.
        busy = times.user + times.nice + times.system
        busy += sum(getattr(times, name, 0.0) for name in ("irq", "softirq", "steal"))
        used = [process.cpu_times() for process in self._ours]
        return _Reading(time.monotonic(), busy, sum(t.user + t.system for t in used))


def idle_cores(pid: int, seconds: float = 0.3) -> float:
    """Cores that an idle program burns; a neighbour that spins would spoil the other's run."""
    process = psutil.Process(pid)
    before = process.cpu_times()
    time.sleep(seconds)
    after = process.cpu_times()
    return (after.user + after.system - before.user - before.system) / seconds
