"""Series of measurements in bounded memory, and what of them a chart needs to draw.

Knows numpy only. Times are seconds of one monotonic clock.
"""

from __future__ import annotations

import math
from typing import NamedTuple

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

    @property
    def state_bytes(self) -> int:
        """Memory of the rows, full or not."""
        return self._times.nbytes + self._values.nbytes


def around(times_s: Floats, since_s: float, until_s: float) -> slice:
    """Rows of a window and the neighbour on each side, so that lines reach its edges.

    Empty where no line can cross the window: all rows lie before it, or all after it.

    Args:
        times_s: (n,) seconds, ascending.
        since_s: Where the window begins.
        until_s: Where it ends.
    """
    first = int(np.searchsorted(times_s, since_s, side="left"))
    last = int(np.searchsorted(times_s, until_s, side="right"))
    if first == times_s.size or last == 0:
        return slice(first, first)
    return slice(max(0, first - 1), min(times_s.size, last + 1))


def min_max(times_s: Floats, values: Floats, bucket_s: float) -> tuple[Floats, Floats]:
    """Thin a line out so that it looks the same: lowest and highest value of each bucket.

    Buckets lie on a fixed grid of time, so that a line that scrolls keeps its shape. Gaps survive
    however narrow they are: a bucket keeps one before, between and after its two values wherever
    the input has one there.

    Args:
        times_s: (n,) seconds, ascending, finite.
        values: (n,); anything not finite is a gap.
        bucket_s: Length of a bucket, above 0; infinite for a single one.

    Returns:
        Times and values, at most five rows a bucket, gaps as NaN; a copy of the input where it has
        no more than two rows per bucket.
    """
    rows = thin_rows(times_s, values, bucket_s)
    if rows is None:
        return times_s.copy(), values.copy()
    return times_s[rows.places], np.where(rows.is_gap, np.nan, values[rows.places])


class ThinRows(NamedTuple):
    """Which rows a thinned line keeps.

    Attributes:
        places: (m,) rows of the input, ascending.
        is_gap: (m,) whether the row stands for a gap.
    """

    places: npt.NDArray[np.intp]
    is_gap: npt.NDArray[np.bool_]


def thin_rows(times_s: Floats, values: Floats, bucket_s: float) -> ThinRows | None:
    """The rows that ``min_max`` keeps; None where that is all of them."""
    bucket = np.floor(times_s / bucket_s)
    edges = np.flatnonzero(np.concatenate(([True], bucket[1:] != bucket[:-1])))
    if times_s.size <= 2 * edges.size:
        return None
    ends = np.append(edges[1:], times_s.size)
    bucket_of = np.repeat(np.arange(edges.size), ends - edges)
    finite = np.isfinite(values)
    low = _place_of_lowest(np.where(finite, values, np.inf), edges, bucket_of)
    high = _place_of_lowest(np.where(finite, -values, np.inf), edges, bucket_of)
    first, last = np.minimum(low, high), np.maximum(low, high)
    # Gaps before each row, so that a difference counts those between two rows.
    gaps = np.concatenate(([0], np.cumsum(~finite)))
    has_value = np.logical_or.reduceat(finite, edges)
    rows = np.stack([edges, first, first, last, ends - 1], axis=1)
    keep = np.stack(
        [
            gaps[first] > gaps[edges],
            has_value,
            gaps[last] > gaps[first],
            has_value & (first != last),
            gaps[ends] > gaps[last],
        ],
        axis=1,
    )
    is_gap = np.broadcast_to(np.array([True, False, True, False, True]), rows.shape)
    return ThinRows(rows[keep], is_gap[keep])


def _place_of_lowest(
    values: Floats, edges: npt.NDArray[np.intp], bucket_of: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Row of the first lowest value of each bucket."""
    lowest = np.minimum.reduceat(values, edges)
    hits = np.flatnonzero(values == lowest[bucket_of])
    owners = bucket_of[hits]
    return hits[np.concatenate(([True], owners[1:] != owners[:-1]))]
