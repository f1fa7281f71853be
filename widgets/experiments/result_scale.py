"""Axes of result charts: from values to shares of a side, with ticks. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from widgets.charts.log_axis import LogAxis
from widgets.experiments.result_sheet import Axis

# So many values have a tick each; of more, round ones have.
_MOST_OWN_TICKS = 10
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_WANTED_STEPS = 5
# Room beyond the outermost points, as a share of the stretch between them.
_BESIDE = 0.06
# What scatters by a thousandth must not look as if it scattered.
_LEAST_REACH = 0.05
_HEADROOM = 1.04


@dataclass(frozen=True)
class Scale:
    """One axis.

    Attributes:
        low: Value at its beginning.
        high: Value at its end, above ``low``.
        is_log: Logarithmic; ``low`` is above 0 then.
        ticks: Values with their texts, ascending.
    """

    low: float
    high: float
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()

    def share(self, value: float) -> float:
        """Where ``value`` stands: 0 at the beginning, 1 at the end; never beyond by a side."""
        if self.is_log:
            low, high = math.log(self.low), math.log(self.high)
            value = math.log(value) if value > 0 else low
        else:
            low, high = self.low, self.high
        return max(-1.0, min(2.0, (value - low) / (high - low)))


def horizontal(axis: Axis, values: Sequence[float]) -> Scale:
    """The horizontal axis for points at ``values``: few whole numbers have a tick each."""
    if axis.names:
        ticks = tuple((float(place), name) for place, name in enumerate(axis.names))
        return Scale(-0.5, len(axis.names) - 0.5, ticks=ticks)
    known = sorted({value for value in values if math.isfinite(value)})
    if not known:
        return Scale(0.0, 1.0)
    is_log = axis.is_log and known[0] > 0
    own = known if len(known) <= _MOST_OWN_TICKS and _are_whole(known) else []
    if is_log:
        return _logarithmic(known[0], known[-1], own)
    low, high = _stretch(known[0], known[-1], axis)
    ticks = tuple((value, number_text(value)) for value in own) or round_ticks(low, high)
    return Scale(low, high, ticks=ticks)


def vertical(axis: Axis, values: Sequence[float]) -> Scale:
    """The vertical axis for points, ends of bars and limits at ``values``."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return Scale(0.0, 1.0)
    if axis.starts_at_zero:
        ticks = round_ticks(min(0.0, *known), max(known) or 1.0, is_whole=True)
        return Scale(ticks[0][0], ticks[-1][0] * _HEADROOM, ticks=ticks)
    low, high = min(known), max(known)
    middle = (low + high) / 2
    reach = max((high - low) / 2 * (1 + 2 * _BESIDE), _LEAST_REACH * abs(middle)) or 1.0
    low, high = middle - reach, middle + reach
    return Scale(low, high, ticks=round_ticks(low, high))


def round_ticks(
    low: float, high: float, *, is_whole: bool = False
) -> tuple[tuple[float, str], ...]:
    """Round values from ``low`` to ``high``, a handful.

    Args:
        low: Where the axis begins.
        high: Where it ends, above ``low``.
        is_whole: Whether the outermost ticks enclose both ends, else they lie within.
    """
    if not low < high:
        low, high = low - 0.5, low + 0.5
    step = _step((high - low) / _WANTED_STEPS)
    first = math.floor(low / step + 1e-9) if is_whole else math.ceil(low / step - 1e-9)
    last = math.ceil(high / step - 1e-9) if is_whole else math.floor(high / step + 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if not math.isclose(round(step, decimals), step, rel_tol=1e-6):
        decimals += 1  # 2.5 and its like
    return tuple((n * step, f"{n * step:,.{min(decimals, 8)}f}") for n in range(first, last + 1))


def number_text(value: float) -> str:
    """``4,096``, ``0.5``: whole numbers whole, others with four digits."""
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.4g}"


# --- Inside -----------------------------------------------------------------------------


def _are_whole(values: Sequence[float]) -> bool:
    return all(value == int(value) for value in values)


def _step(least: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(least))
    return next(step for step in _STEPS if step * power >= least * (1 - 1e-9)) * power


def _stretch(low: float, high: float, axis: Axis) -> tuple[float, float]:
    beside = _BESIDE * (high - low) or abs(low) * _LEAST_REACH or 0.5
    return (0.0 if axis.starts_at_zero and low >= 0 else low - beside), high + beside


def _logarithmic(low: float, high: float, own: Sequence[float]) -> Scale:
    beside = (high / low) ** _BESIDE if high > low else 1.5
    begin, end = low / beside, high * beside
    values = own or [value for value, _ in LogAxis(begin, end).ticks()]
    return Scale(begin, end, is_log=True, ticks=tuple((v, number_text(v)) for v in values))
