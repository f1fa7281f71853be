"""The stretch of time that charts show. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stretch:
    """From when to when, and how finely.

    Attributes:
        until_s: Its right edge, seconds of the meters' clock.
        length_s: Its length, above 0.
        bucket_s: Lines are thinned to their extremes in each of these, seconds; 0 for not at all.
    """

    until_s: float
    length_s: float
    bucket_s: float = 0.0

    @property
    def since_s(self) -> float:
        """Its left edge."""
        return self.until_s - self.length_s

    def holds(self, time_s: float) -> bool:
        """Whether a time lies in it, edges included."""
        return self.since_s <= time_s <= self.until_s
