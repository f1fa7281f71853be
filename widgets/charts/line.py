"""A series made ready to be drawn: gaps as gaps, lone points visible, extremes harmless. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Half the length of the dash that stands for a point without neighbours, pixels.
_DASH_PX = 1.5


def cropped(times_s: Floats, values: Floats, length_s: float) -> tuple[Floats, Floats]:
    """A line cut off at the edges of its window, so that no painter meets what lies far outside.

    Args:
        times_s: (n,) seconds before the right edge, ascending.
        values: (n,).
        length_s: Length of the window.

    Returns:
        (n,) copies, with a first and last row moved along their lines to the edges.
    """
    times_s, values = times_s.copy(), values.copy()
    if times_s.size < 2:
        return times_s, values
    with np.errstate(all="ignore"):  # whatever overflows becomes a gap
        for outer, inner, edge in ((0, 1, -length_s), (-1, -2, 0.0)):
            begin, end = times_s[outer], times_s[inner]
            if min(begin, end) < edge < max(begin, end):
                share = (edge - begin) / (end - begin)
                values[outer] += (values[inner] - values[outer]) * share
                times_s[outer] = edge
    return times_s, values


def runs(x: Floats, y: Floats) -> Iterator[tuple[Floats, Floats]]:
    """The stretches of a line between its gaps.

    A point with a gap on both sides becomes a short dash, since a line of one point draws nothing.

    Args:
        x: (n,) pixels, ascending.
        y: (n,) pixels.
    """
    finite = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], finite.astype(np.int8), [0]))))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end - begin == 1:
            yield x[begin] + np.array([-_DASH_PX, _DASH_PX]), np.repeat(y[begin], 2)
        else:
            yield x[begin:end], y[begin:end]


def strokes(x: Floats, y: Floats) -> tuple[npt.NDArray[np.bool_], Floats, Floats]:
    """A whole line as movements of a pen; see ``runs``.

    Args:
        x: (n,) pixels, ascending.
        y: (n,) pixels.

    Returns:
        (m,) whether the pen is lifted on its way to a place, and the (m,) places.
    """
    finite = np.isfinite(x) & np.isfinite(y)
    padded = np.concatenate(([False], finite, [False]))
    begins, ends = finite & ~padded[:-2], finite & ~padded[2:]
    is_lifted, x, y, alone = begins[finite], x[finite], y[finite], (begins & ends)[finite]
    if not alone.any():
        return is_lifted, x, y
    places = np.flatnonzero(alone)
    dash_ends = x[places] + _DASH_PX
    x = np.insert(np.where(alone, x - _DASH_PX, x), places + 1, dash_ends)
    return np.insert(is_lifted, places + 1, False), x, np.insert(y, places + 1, y[places])


def highest(*series: Floats) -> float | None:
    """The highest finite value of all; None without any."""
    tops = [float(part.max()) for s in series if (part := s[np.isfinite(s)]).size]
    return max(tops, default=None)
