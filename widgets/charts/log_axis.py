"""A logarithmic axis that does not jump: round ends, round ticks. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_ROUND = (1.0, 2.0, 5.0, 10.0)
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
# What is shown stays so far, as a factor, from the ends of the axis.
_MARGIN = 1.5
# From here on only powers of ten have a tick, or ticks would touch.
_MANY_DECADES = 2.5
# An axis stays as it is until another one would be so many times shorter.
_ROOMY = 10.0


@dataclass(frozen=True)
class LogAxis:
    """From ``low`` to ``high``, both above 0."""

    low: float = 0.1
    high: float = 1000.0

    def share(self, value: float) -> float:
        """Where ``value`` (above 0) stands: 0 at the low end, 1 at the high one."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    def value(self, share: float) -> float:
        """What stands at a share."""
        return float(self.low * (self.high / self.low) ** share)

    def ticks(self, room: float = math.inf) -> list[tuple[float, str]]:
        """Round values with their texts.

        Args:
            room: How many texts fit beside each other; with fewer, ticks are left out.
        """
        decades = math.log10(self.high / self.low)
        steps = (1.0,) if decades > _MANY_DECADES else _ROUND[:-1]
        found = _round_values(self.low, self.high, steps)
        while len(found) > max(2.0, room):
            found = found[::2]
        return [(value, tick_text(value)) for value in found]

    def following(self, values: Sequence[float]) -> LogAxis:
        """The axis for ``values`` (above 0): this one as long as it will do."""
        if not values:
            return self
        needed = around(values)
        is_inside = self.low <= min(values) and max(values) <= self.high
        is_short = self.high / self.low <= _ROOMY * needed.high / needed.low
        return self if is_inside and is_short else needed


def around(values: Sequence[float]) -> LogAxis:
    """An axis with round ends for ``values``, at least one and all above 0."""
    low, high = min(values) / _MARGIN, max(values) * _MARGIN
    low_power = 10.0 ** math.floor(math.log10(low))
    high_power = 10.0 ** math.floor(math.log10(high))
    low = max(step for step in _ROUND if step * low_power <= low * (1 + 1e-9)) * low_power
    high = min(step for step in _ROUND if step * high_power >= high * (1 - 1e-9)) * high_power
    return LogAxis(low, max(high, 10 * low))


def _round_values(low: float, high: float, steps: Sequence[float]) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    values = (step * 10.0**power for power in range(first, last + 1) for step in steps)
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


def tick_text(value: float) -> str:
    """``0.5``, ``20``, ``1 k``, ``500 G``."""
    for size, prefix in _PREFIXES:
        if value >= size * (1 - 1e-9):
            return f"{value / size:.4g} {prefix}"
    return f"{value:.4g}"
