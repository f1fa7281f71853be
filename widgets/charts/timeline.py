"""What the time axis says: seconds before now, or the time of day. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime

from engine_bridge.metrics.meters import WINDOW_S
from engine_bridge.metrics.stretch import Stretch

# Steps between labels that read well, seconds.
_STEPS_S = (0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800)
# Beyond this nobody counts back from now.
_LONGEST_RELATIVE_S = 600.0
_MINUTE_S = 60


@dataclass(frozen=True)
class Timeline:
    """The time axis that all charts share.

    Attributes:
        stretch: What is shown.
        now_s: The present, seconds of the meters' clock.
        is_following: Whether the right edge is the present.
        wall_s: Time of day (seconds since 1970) − the meters' clock.
    """

    stretch: Stretch = field(default_factory=lambda: Stretch(0.0, WINDOW_S))
    now_s: float = 0.0
    is_following: bool = True
    wall_s: float = 0.0

    @property
    def length_s(self) -> float:
        """Length of the axis."""
        return self.stretch.length_s

    @property
    def is_relative(self) -> bool:
        """Whether times are said as seconds before now, else as the time of day."""
        return self.is_following and self.length_s <= _LONGEST_RELATIVE_S

    def labels(self, room: int) -> list[tuple[float, str]]:
        """Places (seconds before the right edge) and texts of at most ``room`` labels."""
        room = max(2, room)
        step_s = next((s for s in _STEPS_S if self.length_s / s <= room - 1), _STEPS_S[-1])
        if self.is_relative:
            count = math.floor(self.length_s / step_s + 1e-9)
            return [(-n * step_s, _ago(n * step_s)) for n in range(count, -1, -1)]
        edge = self.stretch.until_s + self.wall_s
        first = math.ceil((edge - self.length_s) / step_s)
        last = math.floor(edge / step_s)
        return [(n * step_s - edge, _clock(n * step_s, step_s)) for n in range(first, last + 1)]

    def moment(self, time_s: float) -> str:
        """A time, seconds before the right edge, in words: ``34 s ago`` or ``21:04:31``."""
        if self.is_relative:
            return f"{_span(-time_s)} ago"
        return _clock(self._day_s(time_s), self.length_s / 100)

    def ago(self, at_s: float) -> str:
        """A time of the meters' clock in words, whatever is shown: ``3 min ago``, ``at 21:04``."""
        age_s = self.now_s - at_s
        if age_s >= 60 * _MINUTE_S:
            return f"at {self.clock(age_s)}"
        minutes = int(age_s / _MINUTE_S)
        return f"{minutes} min ago" if minutes else "less than a minute ago"

    def clock(self, age_s: float) -> str:
        """The time of day, ``21:04``, of what happened so long ago, whatever is shown."""
        return _clock(self.now_s - age_s + self.wall_s, _MINUTE_S)

    def day(self, time_s: float) -> datetime:
        """A time, seconds before the right edge, as date and time of day, with its zone."""
        return datetime.fromtimestamp(self._day_s(time_s)).astimezone()

    def _day_s(self, time_s: float) -> float:
        """A time, seconds before the right edge, as seconds since 1970."""
        return self.stretch.until_s + time_s + self.wall_s


def _span(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest_s = divmod(round(seconds), _MINUTE_S)
    return f"{minutes} min {rest_s} s" if minutes >= 2 else f"{seconds:.0f} s"


def _ago(seconds: float) -> str:
    if seconds == 0:
        return "now"
    if seconds >= 2 * _MINUTE_S and seconds % _MINUTE_S == 0:
        return f"−{seconds / _MINUTE_S:.0f} min"
    return f"−{seconds:g} s"


def _clock(day_s: float, step_s: float) -> str:
    if step_s < 1:
        day_s = round(day_s, 1)  # or 30.96 would read 30.9
        at = datetime.fromtimestamp(day_s)
        return f"{at:%H:%M:%S}.{at.microsecond // 100_000}"
    return f"{datetime.fromtimestamp(round(day_s)):{'%H:%M:%S' if step_s < _MINUTE_S else '%H:%M'}}"
