"""Other programs that keep cores busy which the engine's threads want. Pure.

The threads of a step wait for each other many times, spinning: one that has to share its core holds
up all of them, and a step takes many times as long. Nobody says so, and speeds look like the
machine's own.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

# A look at less than this is a moment: an installer, a page that loads.
_SPAN_S, _COVERED_S = 5.0, 4.0
# Half a core is more than what a quiet desktop takes; half of it must go before the word does.
_MISSING, _THERE_AGAIN = 0.5, 0.25
# One that waits takes none; one that computes takes what is left to it, which may be little.
_COMPUTES = 0.05
# Most of the time looked at, since a look may fall between two answers.
_MOSTLY = 0.75
# A figure that is told stays until it is off by so many cores.
_STEADY = 0.15
# A core that is a quarter taken still carries a thread.
_TAKEN = 0.25


@dataclass(frozen=True)
class CoreUse:
    """How busy the cores of this machine were between two readings.

    Attributes:
        at_ns: When the second reading was made, ``time.perf_counter_ns()``.
        seconds: How long that was.
        cores: Cores that the system counts.
        engine: Cores that the engine process kept busy, 0 to ``cores``.
        others: Cores that all programs but the engine and this window kept busy.
    """

    at_ns: int
    seconds: float
    cores: int
    engine: float
    others: float


@dataclass(frozen=True)
class Crowding:
    """Too few cores are left for the engine.

    Attributes:
        others: Cores that other programs keep busy.
        cores: Cores of the machine.
        threads: Threads that the engine decodes with.
    """

    others: float
    cores: int
    threads: int

    @property
    def fitting_threads(self) -> int:
        """Threads that would have a core each, 1 or more."""
        return max(1, math.floor(self.cores - self.others + _TAKEN))


class CrowdWatch:
    """Looks at each reading, and tells when other programs take too much."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._threads: int | None = None
        self._readings: deque[tuple[CoreUse, bool]] = deque()
        self._told: Crowding | None = None

    def look(
        self, use: CoreUse | None, threads: int | None, *, is_serving: bool
    ) -> Crowding | None:
        """Take the newest reading.

        Args:
            use: What was read; the same one again counts once, None where nothing was.
            threads: Threads that the engine decodes with; None where the model does not run on the
                processor.
            is_serving: Whether a request is under way.

        Returns:
            What is too much; None where all is well, or too little is known.
        """
        if threads != self._threads:
            self._threads, self._told = threads, None
            self._readings.clear()
        if threads is None or use is None or (self._readings and self._readings[-1][0] == use):
            return self._told
        self._readings.append((use, is_serving and use.engine >= _COMPUTES))
        while self._seconds() - self._readings[0][0].seconds >= _SPAN_S:
            self._readings.popleft()
        if self._seconds() >= _COVERED_S:
            self._judge(use.cores, threads)
        return self._told

    def _judge(self, cores: int, threads: int) -> None:
        seconds = self._seconds()
        others = sum(use.others * use.seconds for use, _ in self._readings) / seconds
        missing = threads - (cores - others)
        if self._told is not None and missing < _THERE_AGAIN:
            self._told = None
        elif self._told is not None:
            if abs(others - self._told.others) >= _STEADY:
                self._told = Crowding(others, cores, threads)
        elif missing >= _MISSING:
            computed_s = sum(use.seconds for use, computes in self._readings if computes)
            if computed_s >= _MOSTLY * seconds:
                self._told = Crowding(others, cores, threads)

    def _seconds(self) -> float:
        return sum(use.seconds for use, _ in self._readings)
