"""TPOT and inter-token gaps of every stream, live.

Knows step times and token counts only. One stream is one slot.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from engine_bridge.metrics.definitions import percentile
from engine_bridge.metrics.history import HISTORY_S, History, thinned
from engine_bridge.metrics.ring import Floats, Ring, around
from engine_bridge.metrics.step_log import StepLog
from engine_bridge.metrics.stretch import Stretch

# TPOT over the last steps: long enough to be readable, short enough to follow a change in 1 s.
_ROLLING_STEPS = 16
# p99 needs some hundred gaps to mean anything; these are the last 10 to 20 s of a fast stream.
_ITL_GAPS = 512
# Charts draw ten times a second; more rows than that are never seen.
_ROW_EVERY_S = 0.1
# A percentile of the last seconds says nothing new more often than this.
_ITL_ROW_EVERY_S = 1.0
_ITL_ROWS = int(HISTORY_S / _ITL_ROW_EVERY_S) + 1
# A stream that has been silent for longer does not deliver now.
_ACTIVE_S = 2.0


@dataclass(frozen=True)
class StreamSeries:
    """One stream's lines.

    Attributes:
        slot: Index of the slot, from 0.
        times_s: (n,) seconds before the right edge, ascending.
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

    def __init__(self, slot: int, capacity: int, log: StepLog) -> None:
        """Start without a request.

        Args:
            slot: Index of the slot.
            capacity: Rows of TPOT kept as they came, ten a second; older ones are thinned.
            log: Of the steps of all streams.
        """
        self.slot = slot
        self._log = log
        self._answer = log.begin_answer()
        self._tpot = History(capacity)
        self._itl = Ring(_ITL_ROWS)
        self._steps: deque[tuple[float, int]] = deque(maxlen=_ROLLING_STEPS + 1)
        self._gaps_s: deque[float] = deque(maxlen=_ITL_GAPS)
        self._pause_s: float | None = None

    def begin_request(self, at_s: float) -> None:
        """A request begins: no gap and no TPOT reaches across from the one before."""
        self._answer = self._log.begin_answer()
        self._steps.clear()
        self._pause_s = None
        self._tpot.gap(at_s)
        self.restart_gaps(at_s)

    def restart_gaps(self, at_s: float) -> None:
        """Forget the gaps so far: other settings, or another answer, have gaps of their own."""
        self._gaps_s.clear()
        self._itl.gap(at_s)

    def note_pause(self, at_s: float) -> None:
        """The engine was being changed at ``at_s``: a step that ends later begins anew.

        Steps from before may still be on their way.
        """
        self._pause_s = at_s

    def add_steps(self, step_s: Sequence[float], step_tok: Sequence[int]) -> None:
        """Take what steps delivered.

        Args:
            step_s: (steps,) when each step ended, seconds, ascending.
            step_tok: (steps,) tokens each delivered.
        """
        if not step_s:
            return
        after = 0
        if self._pause_s is not None and step_s[-1] > self._pause_s:
            after = next(n for n, at_s in enumerate(step_s) if at_s > self._pause_s)
            self._take(step_s[:after], step_tok[:after])
            self._steps.clear()
            self._tpot.gap(self._pause_s)
            self._itl.gap(self._pause_s)
            self._pause_s = None
        self._take(step_s[after:], step_tok[after:])

    def _take(self, step_s: Sequence[float], step_tok: Sequence[int]) -> None:
        """Take steps between which nothing paused."""
        if not step_s:
            return
        before_s = self._steps[-1][0] if self._steps else math.nan
        if step_s[0] < before_s:
            return  # no clock goes back
        self._log.add(self._answer, [before_s, *step_s[:-1]], step_s, step_tok)
        ends_s = [before_s, *step_s] if self._steps else step_s
        # What ``itl_s`` is, without an array for a pair: this is done for every token.
        self._gaps_s.extend(end - begin for begin, end in pairwise(ends_s))
        self._steps.extend(zip(step_s, step_tok, strict=True))
        self._add_rows(step_s[-1])

    def end_request(self) -> None:
        """A request ended: write the rows that its last steps have not filled."""
        if self._steps:
            self._add_rows(self._steps[-1][0], is_last=True)

    def view(self, now_s: float, stretch: Stretch) -> StreamSeries | None:
        """The lines of a stretch of time; None where there is nothing to draw."""
        times, tpot = self._tpot.window(stretch.since_s, stretch.until_s)
        if not np.isfinite(tpot).any():
            return None
        tpot_times, tpot_line = thinned((times, tpot), stretch)
        itl_times, (itl,) = self._itl.window()
        rows = around(itl_times, stretch.since_s, stretch.until_s)
        itl_times, itl_line = thinned((itl_times[rows], itl[rows]), stretch)
        return StreamSeries(
            slot=self.slot,
            times_s=tpot_times,
            tpot_s=tpot_line,
            itl_times_s=itl_times,
            itl_p99_s=itl_line,
            is_active=self.is_active(now_s),
        )

    def is_active(self, now_s: float) -> bool:
        """Whether it delivered tokens within the last two seconds."""
        return bool(self._steps) and now_s - self._steps[-1][0] < _ACTIVE_S

    @property
    def has_rows(self) -> bool:
        """Whether its line has any rows, of whatever time."""
        return len(self._tpot) > 0

    @property
    def state_bytes(self) -> int:
        """Memory its lines take when full."""
        return self._tpot.state_bytes + self._itl.state_bytes

    def tpot_s(self) -> float | None:
        """Rolling TPOT of the request under way; None below two steps."""
        if len(self._steps) < 2:
            return None
        tokens = sum(tok for _, tok in self._steps) - self._steps[0][1]
        return (self._steps[-1][0] - self._steps[0][0]) / tokens if tokens > 0 else None

    def rolling(self) -> tuple[float, float] | None:
        """From when to when the steps reach that ``tpot_s`` is made of; None below two."""
        return (self._steps[0][0], self._steps[-1][0]) if len(self._steps) >= 2 else None

    def gaps_s(self) -> Floats:
        """(n,) The last gaps between steps of this answer at these settings, seconds."""
        return np.asarray(self._gaps_s, dtype=np.float64)

    def itl_p99_s(self) -> float | None:
        """99th percentile of the last gaps between steps; None without one."""
        return percentile(self.gaps_s(), 99)

    def _add_rows(self, at_s: float, is_last: bool = False) -> None:
        if is_last or _age_s(self._tpot, at_s) >= _ROW_EVERY_S:
            tpot = self.tpot_s()
            if tpot is not None:
                self._tpot.append(at_s, tpot)
        if is_last or _age_s(self._itl, at_s) >= _ITL_ROW_EVERY_S:
            p99 = self.itl_p99_s()
            if p99 is not None:
                self._itl.append(at_s, p99)


def _age_s(series: Ring | History, now_s: float) -> float:
    """Age of the newest row with a value; infinite after a gap."""
    if not len(series):
        return math.inf
    at_s, value = series.latest()
    only = value if isinstance(value, float) else value[0]
    return math.inf if math.isnan(only) else now_s - at_s
