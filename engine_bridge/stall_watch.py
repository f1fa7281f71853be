"""Tells an engine that hangs from one that takes long: by what moves inside it.

A step may last 14 s on a slow processor, but it burns processor time. A process that has work and
neither speaks nor computes waits for something that may never come. One that computes and says
nothing at all for minutes goes round in circles: a step that gets on says so every second.
"""

from __future__ import annotations

import math

import psutil

# Less than this share of one core is housekeeping (an engine measures its own memory twice a
# second), not work: a decode step takes whole cores.
_WORKING_SHARE = 0.1


class StallWatch:
    """Watches one process while it has work."""

    def __init__(
        self, pid: int, stall_after_s: float, now_s: float, spin_after_s: float = math.inf
    ) -> None:
        """Begin at ``now_s``.

        Args:
            pid: Its number.
            stall_after_s: Seconds without a word and without computing.
            now_s: When that is.
            spin_after_s: Seconds without a word, computing or not.
        """
        self._pid = pid
        self._stall_after_s = stall_after_s
        self._spin_after_s = spin_after_s
        self._moved_s = self._spoke_s = now_s
        self._looked_s = now_s
        self._own_cpu_s = _own_cpu_s(pid)
        self._family_cpu_s: float | None = None

    def note_progress(self, now_s: float) -> None:
        """The process said something, or was given something to do."""
        self._spoke_s = now_s
        self._note_work(now_s)

    def spins(self, now_s: float) -> bool:
        """Whether it has said nothing for so long that computing does not excuse it."""
        return now_s - self._spoke_s >= self._spin_after_s

    def is_stalled(self, now_s: float) -> bool:
        """Whether nothing has moved for too long; asked about once a second."""
        own_s = _own_cpu_s(self._pid)
        span_s = now_s - self._looked_s
        if own_s - self._own_cpu_s > _WORKING_SHARE * span_s:
            self._note_work(now_s)
        elif now_s - self._moved_s > self._stall_after_s / 2:
            # Looking for descendants walks all processes of the machine: only when in doubt.
            family_s = _family_cpu_s(self._pid)
            before_s, self._family_cpu_s = self._family_cpu_s, family_s
            if before_s is not None and family_s - before_s > _WORKING_SHARE * span_s:
                self._moved_s = now_s
        self._own_cpu_s, self._looked_s = own_s, now_s
        return now_s - self._moved_s >= self._stall_after_s or self.spins(now_s)

    def _note_work(self, now_s: float) -> None:
        self._moved_s = now_s
        self._family_cpu_s = None


def _own_cpu_s(pid: int) -> float:
    """Processor seconds of one process; 0 where it is gone or may not be looked at."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system


def _family_cpu_s(pid: int) -> float:
    """Processor seconds of a process's living descendants."""
    try:
        descendants = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return 0.0
    return sum(_own_cpu_s(process.pid) for process in descendants)
