"""What a limit of a chart can be: its range, round values, and how one is written. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from widgets.charts.sheet import Unit

# Round values of a decade, 3 to 10 % apart: what a hand can tell apart on a chart.
_MANTISSAS = (
    *(1.0 + step / 10 for step in range(10)),
    *(2.0 + step / 5 for step in range(15)),
    *(5.0 + step / 2 for step in range(10)),
)
# Digits of a limit that somebody typed.
_DIGITS = 4


@dataclass(frozen=True)
class LimitScale:
    """The limit of one figure, in the unit that its data has.

    Attributes:
        name: Of the figure.
        unit: In which people read and write it.
        lowest: The smallest limit.
        highest: The largest.
        start: The first one by keyboard, where nothing was measured to start from.
    """

    name: str
    unit: Unit
    lowest: float
    highest: float
    start: float

    def rounded(self, value: float) -> float:
        """The round value nearest to ``value``, in the range."""
        value = self._inside(value)
        below, above = self._neighbours(value * self.unit.per_value)
        written = value * self.unit.per_value
        nearest = below if written - below <= above - written else above
        return self._inside(nearest / self.unit.per_value)

    def stepped(self, value: float, direction: int) -> float:
        """The next round value above ``value`` (``direction`` 1) or below it (−1)."""
        written = value * self.unit.per_value
        # A little further on, so that a round value is not its own neighbour.
        below, above = self._neighbours(written * (1 + direction * 1e-6))
        return self._inside((above if direction > 0 else below) / self.unit.per_value)

    def first(self, measured: float | None) -> float:
        """A limit to begin with: above most of what was measured, or the usual one."""
        if measured is None or not math.isfinite(measured) or measured <= 0:
            return self.start
        return self.rounded(1.25 * measured)

    def holds(self, value: float) -> bool:
        """Whether ``value`` can be a limit; what was rounded at an end of the range can."""
        return self.lowest * (1 - 1e-9) <= value <= self.highest * (1 + 1e-9)

    def written(self, value: float) -> str:
        """``0.5``, ``1.25``, ``250``: as it is typed."""
        return f"{float(f'{value * self.unit.per_value:.{_DIGITS}g}'):.10g}"

    def text(self, value: float) -> str:
        """``0.5 s``."""
        return f"{self.written(value)} {self.unit.name}"

    def read(self, text: str) -> float:
        """The limit that somebody typed, with or without its unit.

        Raises:
            ValueError: If it is none; the message is a sentence.
        """
        typed = text.strip().removesuffix(self.unit.name).strip()
        try:
            value = float(typed) / self.unit.per_value
        except ValueError:
            raise ValueError(self._wanted(f"“{text.strip()}” is no number; ")) from None
        if not self.holds(value):
            raise ValueError(self._wanted(f"{typed} {self.unit.name} is out of range; "))
        return float(f"{value:.{_DIGITS}g}")

    @property
    def range_text(self) -> str:
        """``0.01 to 600 s``."""
        return f"{self.written(self.lowest)} to {self.text(self.highest)}"

    def _wanted(self, said: str) -> str:
        return f"{said}a limit of {self.name} is {self.range_text}, as in {self.text(self.start)}."

    def _inside(self, value: float) -> float:
        return min(self.highest, max(self.lowest, value))

    @staticmethod
    def _neighbours(written: float) -> tuple[float, float]:
        """The round values at or below, and above, a number above 0."""
        power = 10.0 ** math.floor(math.log10(written) + 1e-12)
        # Rounded, since 3 × 0.1 is no 0.3.
        grid = [round(mantissa * power, 12) for mantissa in (*_MANTISSAS, 10.0, 11.0)]
        below = max((each for each in grid if each <= written * (1 + 1e-9)), default=grid[0])
        return below, next(each for each in grid if each > below)


TTFT_LIMIT = LimitScale("TTFT", Unit("s", 1.0), 0.01, 600.0, 1.0)
TPOT_LIMIT = LimitScale("TPOT", Unit("ms", 1000.0), 0.001, 10.0, 0.05)
