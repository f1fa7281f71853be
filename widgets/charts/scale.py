"""Axes that do not jump: round tops, round ticks, quick to grow and slow to shrink. Pure."""

from __future__ import annotations

import math

# Tops that read well, by mantissa, each with the step between its ticks: three to five ticks.
_STEPS = {
    1.0: 0.25, 1.2: 0.4, 1.5: 0.5, 2.0: 0.5, 2.5: 0.5, 3.0: 1.0, 4.0: 1.0, 5.0: 1.0, 6.0: 2.0,
    8.0: 2.0, 10.0: 2.5,
}  # fmt: skip
# Beyond this no measurement lies, and above 1e308 a top would be infinite.
_LARGEST = 1e300
# A smaller top has to suffice for so long before the axis shrinks.
_SHRINK_AFTER_S = 10.0
# A smaller top must leave this much room, or the axis would soon grow again.
_ROOM = 1.25


def nice_top(value: float) -> float:
    """The smallest round number that is at least ``value`` (finite, above 0)."""
    value = min(value, _LARGEST)
    power = 10.0 ** math.floor(math.log10(value))
    mantissa = next((m for m in _STEPS if m * power >= value), 10.0)
    return mantissa * power


def ticks(top: float, room: float = math.inf) -> list[tuple[float, str]]:
    """Ticks above 0 for a ``top`` that ``nice_top`` made: place as a share of it, and text.

    Args:
        top: The highest of them.
        room: How many lines of text fit between 0 and the top; with fewer than the ticks need,
            evenly spaced ones are left out, but never the top itself.
    """
    power = 10.0 ** math.floor(math.log10(top * (1 + 1e-9)))
    mantissa = min(_STEPS, key=lambda m: abs(m - top / power))
    step = _STEPS[mantissa] * power
    count = round(top / step)
    # The 0 takes a place too: half of it and half of the top label lie beyond the room.
    every = next((n for n in range(1, count) if count % n == 0 and count / n <= room), count)
    return [
        (number / count, tick_text(number * step, step))
        for number in range(every, count + 1, every)
    ]


def tick_text(value: float, step: float) -> str:
    """A tick with the decimals that its step needs; powers of ten where it would not fit."""
    if value >= 99_999.5 or step < 1e-4:
        return f"{value:.1e}".replace("e+", "e")
    decimals = next(d for d in range(7) if math.isclose(round(step, d), step, rel_tol=1e-6))
    return f"{value:,.{decimals}f}"


class SteadyTop:
    """The top of an axis over time."""

    def __init__(self, floor: float) -> None:
        """Begin at a round number of at least ``floor``, above 0; it never goes below that."""
        self._floor = nice_top(floor)
        self._top = self._floor
        self._roomy_since_s: float | None = None
        self._was_still = False

    @property
    def top(self) -> float:
        """The top now."""
        return self._top

    def follow(self, highest: float | None, now_s: float, is_still: bool = False) -> float:
        """Take the highest value shown now and return the top.

        Args:
            highest: Finite; None where nothing is shown.
            now_s: Any monotonic clock, seconds.
            is_still: Whether the window stands still, so that there is nothing to wait for.
        """
        wanted = max(highest or 0.0, self._floor)
        # What was looked at while it stood still says nothing of what is shown again now.
        is_refit, self._was_still = is_still or self._was_still, is_still
        if wanted > self._top or is_refit:
            self._top = nice_top(wanted)
            self._roomy_since_s = None
        elif (smaller := max(nice_top(wanted * _ROOM), self._floor)) < self._top:
            if self._roomy_since_s is None:
                self._roomy_since_s = now_s
            elif now_s - self._roomy_since_s >= _SHRINK_AFTER_S:
                self._top, self._roomy_since_s = smaller, None
        else:
            self._roomy_since_s = None
        return self._top
