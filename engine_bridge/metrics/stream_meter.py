"""TPOT and inter-token gaps of every stream, live.

Knows step times and token counts only. One stream is one slot.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine_bridge.metrics.definitions import itl_s, percentile
from engine_bridge.metrics.ring import Floats, Ring, min_max

# TPOT over the last steps: long enough to be readable, short enough to follow a change in 1 s.
_ROLLING_STEPS = 16
# p99 needs some hundred gaps to mean anything; these are the last 10 to 20 s of a fast stream.
_ITL_GAPS = 512
# Charts draw ten times a second; more rows than that are never seen.
_ROW_EVERY_S = 0.1
# A percentile of the last seconds says nothing new more often than this.
_ITL_ROW_EVERY_S = 1.0


@dataclass(frozen=True)
class StreamSeries:
    """One stream's lines.

    Attributes:
        slot: Index of the slot, from 0.
        times_s: (n,) seconds before now, ascending, at most 0.
        tpot_s: (n,) rolling TPOT; NaN between requests.
        itl_times_s: (m,) as ``times_s``, for the gaps.
        itl_p99_s: (m,) 99th percentile of the last gaps; NaN between requests.
        is_active: Whether it delivered tokens within the last two seconds.
    """

    slot: int
    times_s: Floats
    tpot_s: Floats
    itl_times_s: Floats
    itl_p99_s: Floats
    is_active: bool


class StreamMeter:
    """One slot: what its steps delivered, and the lines made of it."""

    def __init__(self, slot: int, capacity: int) -> None:
        """Start without a request.

        Args:
            slot: Index of the slot.
            capacity: Rows kept, ten a second.
        """
        self.slot = slot
        self._tpot = Ring(capacity)
        self._itl = Ring(capacity // 8 + 1)
        self._steps: deque[tuple[float, int]] = deque(maxlen=_ROLLING_STEPS + 1)
        self._gaps_s: deque[float] = deque(maxlen=_ITL_GAPS)

    def begin_request(self, at_s: float) -> None:
        """A request begins: no gap and no TPOT reaches across from the one before."""
        self._steps.clear()
        self._tpot.gap(at_s)
        self.restart_gaps(at_s)

    def restart_gaps(self, at_s: float) -> None:
        """Forget the gaps so far: other settings, or another answer, have gaps of their own."""
        self._gaps_s.clear()
        self._itl.gap(at_s)

    def add_steps(self, step_s: Sequence[float], step_tok: Sequence[int]) -> None:
        """Take what steps delivered.

        Args:
            step_s: (steps,) when each step ended, seconds, ascending.
            step_tok: (steps,) tokens each delivered.
        """
        if not step_s:
            return
        before = [self._steps[-1][0]] if self._steps else []
        self._gaps_s.extend(itl_s([*before, *step_s]).tolist())
        self._steps.extend(zip(step_s, step_tok, strict=True))
        self._add_rows(step_s[-1])

    def end_request(self) -> None:
        """A request ended: write the rows that its last steps have not filled."""
        if self._steps:
            self._add_rows(self._steps[-1][0], is_last=True)

    def view(self, now_s: float, window_s: float, buckets: int) -> StreamSeries | None:
        """The lines of the last ``window_s`` seconds; None where there is nothing to draw."""
        times, (tpot,) = self._tpot.window(now_s - window_s, now_s)
        if not np.isfinite(tpot).any():
            return None
        tpot_times, tpot_line = min_max(times - now_s, tpot, buckets)
        itl_times, (itl,) = self._itl.window(now_s - window_s, now_s)
        last_s = self._steps[-1][0] if self._steps else -math.inf
        return StreamSeries(
            slot=self.slot,
            times_s=tpot_times,
            tpot_s=tpot_line,
            itl_times_s=itl_times - now_s,
            itl_p99_s=itl.copy(),
            is_active=now_s - last_s < 2.0,
        )

    def tpot_s(self) -> float | None:
        """Rolling TPOT of the request under way; None below two steps."""
        if len(self._steps) < 2:
            return None
        tokens = sum(tok for _, tok in self._steps) - self._steps[0][1]
        return (self._steps[-1][0] - self._steps[0][0]) / tokens if tokens > 0 else None

    def rolling_s(self) -> float:
        """How long the steps took that ``tpot_s`` is made of, seconds; 0 below two steps."""
        return self._steps[-1][0] - self._steps[0][0] if self._steps else 0.0

    def gaps_s(self) -> Floats:
        """(n,) The last gaps between steps of this answer at these settings, seconds."""
        return np.asarray(self._gaps_s, dtype=np.float64)

    def itl_p99_s(self) -> float | None:
        """99th percentile of the last gaps between steps; None without one."""
        return percentile(self.gaps_s(), 99)

    def _add_rows(self, at_s: float, is_last: bool = False) -> None:
        tpot = self.tpot_s()
        if tpot is not None and (is_last or _age_s(self._tpot, at_s) >= _ROW_EVERY_S):
            self._tpot.append(at_s, tpot)
        if is_last or _age_s(self._itl, at_s) >= _ITL_ROW_EVERY_S:
            p99 = self.itl_p99_s()
            if p99 is not None:
                self._itl.append(at_s, p99)


def _age_s(ring: Ring, now_s: float) -> float:
    """Age of the newest row with a value; infinite after a gap."""
    if not len(ring):
        return math.inf
    at_s, (value,) = ring.latest()
    return math.inf if math.isnan(value) else now_s - at_s
