"""How far an axis has to reach for rare spikes not to press the rest flat, and what lies beyond.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from widgets.charts.line import Floats, highest
from widgets.charts.picture import Series, Spike

# A level counts where a series stays at it for so many values in a row; of series that are all
# shorter, for the second number.
_STAYS = (16, 4)
# What so many of all values keep below counts too: short answers leave few values in a row.
_COMMON_PERCENT = 80
# Up to so many times the usual everything is shown whole.
_ROOM = 1.4
# More marks than this nobody reads.
_MOST_SPIKES = 8


def usual_top(series: Sequence[Floats]) -> float | None:
    """What the axis has to reach so that all but rare spikes are on it.

    Args:
        series: (n,) values of each; what is not finite is a gap.

    Returns:
        At most the highest value; None without any.
    """
    top = highest(*series)
    lasting = next((level for count in _STAYS if (level := _lasting(series, count))), None)
    if top is None or lasting is None or top <= _ROOM * lasting:
        return top
    values = np.concatenate([each[np.isfinite(each)] for each in series])
    common = float(np.percentile(values, _COMMON_PERCENT))
    return min(top, _ROOM * max(lasting, common))


def spikes_of(
    series: Iterable[Series], above: float, worded: Callable[[Series, float], str], ground: str
) -> tuple[Spike, ...]:
    """The highest value of each stretch above ``above``, the highest of all first.

    Args:
        series: Lines, in the unit of ``above``.
        above: What the axis has to reach.
        worded: What is said of a value of a series.
        ground: Colour that words stand on.
    """
    found = []
    for each in series:
        for place in _tops(each.values, above):
            value = float(each.values[place])
            text = worded(each, value)
            found.append(Spike(float(each.times_s[place]), value, text, each.colour, ground))
    found.sort(key=lambda spike: spike.value, reverse=True)
    return tuple(found[:_MOST_SPIKES])


def _lasting(series: Sequence[Floats], count: int) -> float | None:
    """The highest level that a series keeps to for ``count`` values (a power of two) in a row."""
    levels = []
    for each in series:
        level = np.where(np.isfinite(each), each, np.nan)
        reach = 1
        with np.errstate(invalid="ignore"):
            while reach < count:
                level = np.minimum(level[:-reach], level[reach:])
                reach *= 2
        levels.append(level)
    return highest(*levels)


def _tops(values: Floats, above: float) -> list[int]:
    """Where each stretch above a value is highest."""
    is_above = np.isfinite(values) & (values > above)
    if not is_above.any():
        return []
    edges = np.flatnonzero(np.diff(np.concatenate(([0], is_above.astype(np.int8), [0]))))
    return [
        begin + int(values[begin:end].argmax())
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    ]
