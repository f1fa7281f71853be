"""A series made ready to be drawn: gaps as gaps, lone points visible, extremes harmless. Pure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Half the length of the dash that stands for a point without neighbours, seconds: 2 to 3 pixels.
_DASH_S = 0.4
# Beyond the edges of any chart, and still harmless to a painter.
_FAR_OUTSIDE = 100.0


def drawable(times_s: Floats, values: Floats, shares_per_value: float) -> tuple[Floats, Floats]:
    """A line as shares of the axis.

    What is not finite becomes a gap. A point with a gap on both sides becomes a short dash, since a
    line of one point draws nothing.

    Args:
        times_s: (n,) seconds.
        values: (n,).
        shares_per_value: 1 / the value at the top of the axis.

    Returns:
        (m,) seconds and (m,) shares of the axis, NaN in gaps, m at least n.
    """
    finite = np.isfinite(times_s) & np.isfinite(values)
    shares = np.where(finite, values, np.nan) * shares_per_value
    shares.clip(-_FAR_OUTSIDE, _FAR_OUTSIDE, out=shares)
    padded = np.concatenate(([False], finite, [False]))
    alone = np.flatnonzero(finite & ~padded[:-2] & ~padded[2:])
    if not alone.size:
        return times_s, shares
    starts = times_s.copy()
    starts[alone] -= _DASH_S
    ends = np.minimum(times_s[alone] + _DASH_S, 0.0)
    return np.insert(starts, alone + 1, ends), np.insert(shares, alone + 1, shares[alone])


def highest(*series: Floats) -> float | None:
    """The highest finite value of all; None without any."""
    tops = [float(part.max()) for s in series if (part := s[np.isfinite(s)]).size]
    return max(tops, default=None)
