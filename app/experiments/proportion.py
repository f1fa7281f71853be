"""A share of requests that was counted, and how sure it is. Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from app.experiments.spread import LEVEL

_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True)
class Proportion:
    """So many of so many.

    The interval is Wilson's at 95 %: it stays within 0 and 1 and holds near them, where a share of
    kept limits usually is. Source: E. B. Wilson, "Probable inference, the law of succession, and
    statistical inference", J. Am. Stat. Assoc. 22 (1927).

    Attributes:
        count: How many did, 0 to ``of``.
        of: How many there were, 0 or more.
    """

    count: int
    of: int

    @property
    def share(self) -> float:
        """The share, 0 to 1; 0 where there were none."""
        return self.count / self.of if self.of else 0.0

    @property
    def low(self) -> float:
        """Lower end of the interval, 0 to 1."""
        # Rounding must not put it below the least there can be.
        return max(0.0, self._centre - self._half) if self.count else 0.0

    @property
    def high(self) -> float:
        """Upper end of the interval, 0 to 1."""
        return min(1.0, self._centre + self._half) if self.count < self.of else 1.0

    def __add__(self, other: Proportion) -> Proportion:
        """Both counts together."""
        return Proportion(self.count + other.count, self.of + other.of)

    @property
    def _centre(self) -> float:
        return (self.count + _Z**2 / 2) / (self.of + _Z**2)

    @property
    def _half(self) -> float:
        spread = self.of * self.share * (1 - self.share)
        return _Z * math.sqrt(spread + _Z**2 / 4) / (self.of + _Z**2)


def least_to_show(share: float) -> int:
    """How many must all do it, so that the interval is not below ``share`` (0 to below 1)."""
    return math.ceil(_Z**2 * share / (1 - share))
