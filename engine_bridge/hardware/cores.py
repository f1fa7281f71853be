"""How busy the cores of this machine are, and with whose work, read through psutil.

Knows processes by their id only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import psutil

from engine_bridge.metrics.core_crowding import CoreUse

# What Windows counts beside these it has counted in ``system`` already; time that another virtual
# machine took (``steal``) no program here did.
_BUSY = ("user", "nice", "system", "irq", "softirq")


class CoreReader:
    """Compares each reading with the one before."""

    def __init__(
        self,
        clock_ns: Callable[[], int] = time.perf_counter_ns,
        of_machine: Callable[[], object] = psutil.cpu_times,
        of_process: Callable[[int | None], object] | None = None,
        cores: int | None = None,
    ) -> None:
        """Begin without a reading.

        Args:
            clock_ns: The time.
            of_machine: What all cores together have done.
            of_process: What a process has; None as its id for this one. May raise
                ``psutil.Error``.
            cores: Cores of the machine; None asks the system.
        """
        self._clock_ns = clock_ns
        self._of_machine = of_machine
        self._of_process = of_process or _times_of
        self._cores = psutil.cpu_count() or 1 if cores is None else cores
        self._before: _Reading | None = None

    def read(self, engine_pid: int | None) -> CoreUse | None:
        """What was done since the last reading; None at the first, and where it cannot be told.

        Args:
            engine_pid: Process id of the engine, None while there is none.
        """
        before, now = self._before, self._reading(engine_pid)
        self._before = now
        if before is None or now is None or before.pid != now.pid or now.at_ns <= before.at_ns:
            return None
        seconds = (now.at_ns - before.at_ns) / 1e9
        engine_s = max(0.0, now.engine_s - before.engine_s)
        own_s = engine_s + max(0.0, now.window_s - before.window_s)
        others_s = max(0.0, now.busy_s - before.busy_s - own_s)
        return CoreUse(
            at_ns=now.at_ns,
            seconds=seconds,
            cores=self._cores,
            engine=min(engine_s / seconds, float(self._cores)),
            others=min(others_s / seconds, float(self._cores)),
        )

    def _reading(self, engine_pid: int | None) -> _Reading | None:
        """None where a process is gone, or may not be looked at."""
        try:
            window_s = _taken_s(self._of_process(None))
            engine_s = 0.0 if engine_pid is None else _taken_s(self._of_process(engine_pid))
            busy_s = _taken_s(self._of_machine())
        except (OSError, psutil.Error):
            return None
        return _Reading(self._clock_ns(), engine_pid, busy_s, window_s, engine_s)


class _Reading(NamedTuple):
    at_ns: int
    pid: int | None
    busy_s: float
    window_s: float
    engine_s: float


def _taken_s(times: object) -> float:
    return sum(float(getattr(times, name, 0.0)) for name in _BUSY)


def _times_of(pid: int | None) -> object:
    return psutil.Process(pid).cpu_times()
