"""Series of measurements in bounded memory, and what of them a chart needs to draw.

Knows numpy only. Times are seconds of one monotonic clock.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Ring:
    """The last ``capacity`` rows of a series: a time and one or more values each.

    Rows are written twice, half the storage apart, so that any window is one contiguous view.
    """

    def __init__(self, capacity: int, columns: int = 1) -> None:
        """Make an empty ring.

        Args:
            capacity: Rows kept, at least 1.
            columns: Values of a row, at least 1.

        Raises:
            ValueError: If either is below 1.
        """
        if capacity < 1 or columns < 1:
            raise ValueError(f"A ring of {capacity} rows and {columns} columns holds nothing.")
        self._capacity = capacity
        self._times = np.zeros(2 * capacity, dtype=np.float64)
        self._values = np.zeros((columns, 2 * capacity), dtype=np.float64)
        self._next = 0
        self._length = 0

    def __len__(self) -> int:
        """Rows held now, at most the capacity."""
        return self._length

    def append(self, time_s: float, *values: float) -> None:
        """Add a row and forget the oldest where the ring is full.

        Args:
            time_s: Finite; a time before the row before is moved to it, so that times ascend.
            values: One per column; NaN says that there is none.

        Raises:
            ValueError: If the time is not finite or the number of values is wrong.
        """
        if not math.isfinite(time_s) or len(values) != len(self._values):
            raise ValueError(f"No row of this ring: {values} at {time_s}.")
        if self._length:
            time_s = max(time_s, float(self._times[self._next + self._capacity - 1]))
        for place in (self._next, self._next + self._capacity):
            self._times[place] = time_s
            self._values[:, place] = values
        self._next = (self._next + 1) % self._capacity
        self._length = min(self._length + 1, self._capacity)

    def gap(self, time_s: float) -> None:
        """Add a row without values, unless the row before is one already or there is none."""
        if self._length and not np.isnan(self.latest()[1]).all():
            self.append(time_s, *[math.nan] * len(self._values))

    def latest(self) -> tuple[float, Floats]:
        """Time and values (columns,) of the newest row.

        Raises:
            IndexError: If the ring is empty.
        """
        if not self._length:
            raise IndexError("The ring is empty.")
        place = self._next + self._capacity - 1
        return float(self._times[place]), self._values[:, place]

    def window(
        self, since_s: float = -math.inf, until_s: float = math.inf
    ) -> tuple[Floats, Floats]:
        """Rows from ``since_s`` to ``until_s``, both included.

        Returns:
            (n,) seconds, ascending, and (columns, n) values: views, valid until the next append.
        """
        end = self._next + self._capacity
        times = self._times[end - self._length : end]
        first = int(np.searchsorted(times, since_s, side="left"))
        last = int(np.searchsorted(times, until_s, side="right"))
        values = self._values[:, end - self._length : end]
        return times[first:last], values[:, first:last]


def min_max(times_s: Floats, values: Floats, buckets: int) -> tuple[Floats, Floats]:
    """Thin a line out so that it looks the same: lowest and highest value of each bucket.

    Gaps survive however narrow they are: a bucket keeps one before, between and after its two
    values wherever the input has one there.

    Args:
        times_s: (n,) seconds, ascending.
        values: (n,); anything not finite is a gap.
        buckets: Spans of equal row count, at least 1; take one per pixel.

    Returns:
        Times and values, at most 5 × ``buckets`` rows, gaps as NaN; a copy of the input where it
        has no more than two rows per bucket.
    """
    if times_s.size <= 2 * buckets:
        return times_s.copy(), values.copy()
    finite = np.isfinite(values)
    edges = np.linspace(0, times_s.size, buckets + 1).astype(np.intp)
    bucket_of = np.searchsorted(edges[:-1], np.arange(times_s.size), side="right") - 1
    low = _place_of_lowest(np.where(finite, values, np.inf), edges[:-1], bucket_of)
    high = _place_of_lowest(np.where(finite, -values, np.inf), edges[:-1], bucket_of)
    first, last = np.minimum(low, high), np.maximum(low, high)
    # Gaps before each row, so that a difference counts those between two rows.
    gaps = np.concatenate(([0], np.cumsum(~finite)))
    has_value = np.logical_or.reduceat(finite, edges[:-1])
    rows = np.stack([edges[:-1], first, first, last, edges[1:] - 1], axis=1)
    keep = np.stack(
        [
            gaps[first] > gaps[edges[:-1]],
            has_value,
            gaps[last] > gaps[first],
            has_value & (first != last),
            gaps[edges[1:]] > gaps[last],
        ],
        axis=1,
    )
    thinned = values[rows]
    thinned[:, ::2] = np.nan
    return times_s[rows][keep], thinned[keep]


def _place_of_lowest(
    values: Floats, edges: npt.NDArray[np.intp], bucket_of: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Row of the first lowest value of each bucket."""
    lowest = np.minimum.reduceat(values, edges)
    hits = np.flatnonzero(values == lowest[bucket_of])
    _, first = np.unique(bucket_of[hits], return_index=True)
    return hits[first]
