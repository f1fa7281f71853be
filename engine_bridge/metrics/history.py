"""An hour of one measurement in bounded memory: the last minutes whole, what is older thinned.

Knows numpy only. Times are seconds of one monotonic clock.
"""

from __future__ import annotations

import math

import numpy as np

from engine_bridge.metrics.ring import Floats, Ring, around, min_max
from engine_bridge.metrics.stretch import Stretch

HISTORY_S = 3600.0
"""How far back the charts can go."""

# Half a pixel of an hour in a chart 900 pixels wide: thinner would be seen, thicker is not.
_BUCKET_S = 2.0
# What a bucket keeps at most: its lowest and highest value, and a gap before, between and after.
_ROWS_A_BUCKET = 5
_OLDER_ROWS = int(HISTORY_S / _BUCKET_S) * _ROWS_A_BUCKET


def thinned(rows: tuple[Floats, Floats], stretch: Stretch) -> tuple[Floats, Floats]:
    """Rows made ready to be drawn: few enough, and timed from the right edge of ``stretch``."""
    times_s, values = rows
    if stretch.bucket_s > 0 and times_s.size:
        times_s, values = min_max(times_s, values, stretch.bucket_s)
    return times_s - stretch.until_s, values.copy()


class History:
    """A series of one value: recent rows as they came, older ones by their extremes.

    Takes at most 0.29 MB plus 32 bytes for each recent row, whatever comes.
    """

    def __init__(self, recent_rows: int) -> None:
        """Make an empty history.

        Args:
            recent_rows: Rows kept as they came, at least 1; the extremes of everything older reach
                back an hour.
        """
        self._recent = Ring(recent_rows)
        self._older = Ring(_OLDER_ROWS)
        self._bucket_begin_s = math.nan

    def append(self, time_s: float, value: float) -> None:
        """Add a row; see ``Ring.append``."""
        if len(self._recent):
            time_s = max(time_s, self._recent.latest()[0])
        begin_s = math.floor(time_s / _BUCKET_S) * _BUCKET_S
        if begin_s > self._bucket_begin_s:
            self._close_bucket()
        self._recent.append(time_s, value)
        self._bucket_begin_s = begin_s

    def gap(self, time_s: float) -> None:
        """Add a row without a value, unless the row before is one already or there is none."""
        if len(self._recent) and not math.isnan(self._recent.latest()[1][0]):
            self.append(time_s, math.nan)

    def latest(self) -> tuple[float, float]:
        """Time and value of the newest row.

        Raises:
            IndexError: If there is none.
        """
        time_s, (value,) = self._recent.latest()
        return time_s, float(value)

    def __len__(self) -> int:
        """Rows held as they came."""
        return len(self._recent)

    def window(self, since_s: float, until_s: float) -> tuple[Floats, Floats]:
        """Rows of a window and their neighbours; see ``ring.around``.

        Returns:
            (n,) seconds, ascending, and (n,) values; perhaps views, valid until the next append.
        """
        times, (values,) = self._recent.window()
        if times.size and since_s < times[0] and len(self._older):
            older_times, (older_values,) = self._older.window()
            older = slice(0, int(np.searchsorted(older_times, times[0], side="left")))
            times = np.concatenate((older_times[older], times))
            values = np.concatenate((older_values[older], values))
        rows = around(times, since_s, until_s)
        return times[rows], values[rows]

    @property
    def state_bytes(self) -> int:
        """Memory it takes when full."""
        return self._recent.state_bytes + self._older.state_bytes

    def _close_bucket(self) -> None:
        """Keep what a bucket's rows looked like, before the ring forgets them."""
        times, (values,) = self._recent.window(self._bucket_begin_s)
        for time_s, value in zip(*min_max(times, values, math.inf), strict=True):
            if math.isnan(value):
                self._older.gap(time_s)
            else:
                self._older.append(time_s, value)
