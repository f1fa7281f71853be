"""Where a value stands on a fader, and which value a place means. Pure: no Qt.

A fader rests on stops: the words that come before the numbers, the numbers ascending, the words
after them. A *place* is a position in stops, a float from 0 to ``len(stops) - 1``; a number between
two stops has an interpolated place, so that an exact value is shown where it belongs.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from engine_bridge.settings.domain import ChoiceDomain, FloatDomain, IntDomain, Value

# The one word that stands behind the largest number: it means "more than any of them".
_LAST_WORDS = ("all",)


@dataclass(frozen=True)
class FaderScale:
    """The stops of one fader.

    Attributes:
        before: Words before the numbers.
        numbers: Ascending.
        after: Words after the numbers.
    """

    before: tuple[str, ...]
    numbers: tuple[float, ...]
    after: tuple[str, ...]

    @classmethod
    def of_int(cls, domain: IntDomain, stops: Sequence[int] | None = None) -> Self:
        """The scale of a whole number, on its own stops or on ``stops``.

        Stops outside the domain are left out; the rest is sorted.
        """
        wanted = domain.stops if stops is None else stops
        numbers = sorted({n for n in wanted if domain.minimum <= n <= domain.maximum})
        return cls(
            tuple(word for word in domain.words if word not in _LAST_WORDS),
            tuple(numbers),
            tuple(word for word in domain.words if word in _LAST_WORDS),
        )

    @classmethod
    def of_float(cls, domain: FloatDomain) -> Self:
        """The scale of a decimal number: one stop a step, the maximum included."""
        count = round((domain.maximum - domain.minimum) / domain.step)
        numbers = [round(domain.minimum + i * domain.step, domain.decimals) for i in range(count)]
        return cls((), (*numbers, domain.maximum), ())

    @classmethod
    def of_choice(cls, domain: ChoiceDomain) -> Self:
        """The scale of a choice: one stop a word, in the domain's order."""
        return cls(domain.choices, (), ())

    @property
    def stops(self) -> tuple[Value, ...]:
        """All stops, first to last."""
        return (*self.before, *self.numbers, *self.after)

    def place_of(self, value: object) -> float:
        """Place of ``value``, 0 to ``len(stops) - 1``.

        Numbers beyond the first or last stop stand on it. A word that is no stop stands at 0.
        """
        if isinstance(value, str):
            return float(self.stops.index(value)) if value in self.stops else 0.0
        if not isinstance(value, (int, float)) or not self.numbers:
            return 0.0
        offset = len(self.before)
        right = bisect.bisect_left(self.numbers, value)
        if right == 0:
            return float(offset)
        if right == len(self.numbers):
            return float(offset + right - 1)
        low, high = self.numbers[right - 1], self.numbers[right]
        return offset + right - 1 + (value - low) / (high - low)
