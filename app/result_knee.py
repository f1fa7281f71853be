"""Where more load stops to pay: the knee of throughput over slots or users. Pure.

The knee is the first load from which no larger one brings ``LEAST_GAIN`` more aggregate throughput
for each doubling of the load. Later loads count all, not the next one only, so that one run that
went astray makes no knee.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

LEAST_GAIN = 0.10
"""Less than this for twice the load is no gain that anybody would wait longer for."""

_LEAST_LOADS = 3
_LEAST_CHANGE = 0.01


def knee_of(loads: Sequence[float], totals: Sequence[float]) -> int | None:
    """Place of the knee; None where the last load still pays, or there are fewer than three.

    Args:
        loads: Slots or users, ascending, above 0.
        totals: Aggregate throughput of each, above 0.
    """
    if len(loads) < _LEAST_LOADS:
        return None
    for place in range(len(loads) - 1):
        later = range(place + 1, len(loads))
        if all(_gain(loads, totals, place, at) < LEAST_GAIN for at in later):
            return place
    return None


def knee_sentence(
    noun: str, loads: Sequence[float], totals: Sequence[float], users: Sequence[float | None]
) -> str:
    """Where the knee is and what lies beyond it; empty where too little was measured.

    Args:
        noun: What the loads are, in the plural: ``slots``.
        loads: As for ``knee_of``.
        totals: Aggregate throughput of each, tok/s.
        users: Speed per user of each, tok/s, where it is known.
    """
    if len(loads) < _LEAST_LOADS:
        return ""
    place = knee_of(loads, totals)
    if place is None:
        gain = _gain(loads, totals, len(loads) - 2, len(loads) - 1)
        return (
            f"No knee up to {_count(loads[-1], noun)}: from {loads[-2]:g} to {loads[-1]:g} the "
            f"total still grows by {_percent(gain)} for each doubling."
        )
    best = max(range(place + 1, len(loads)), key=lambda at: totals[at])
    more = totals[best] / totals[place] - 1
    change = "no more" if abs(more) < _LEAST_CHANGE else f"{_percent(abs(more))} {_way(more)}"
    sentence = (
        f"Knee at {_count(loads[place], noun)}, {_speed(totals[place])} in total: beyond it no "
        f"doubling adds {_percent(LEAST_GAIN)} to that. The most there, with "
        f"{_count(loads[best], noun)}, is {_speed(totals[best])} ({change})"
    )
    before, after = users[place], users[best]
    if before is None or after is None or abs(after / before - 1) < _LEAST_CHANGE:
        return f"{sentence}."
    return f"{sentence}, while each user's speed goes from {before:.3g} to {_speed(after)}."


# --- Inside -----------------------------------------------------------------------------


def _gain(loads: Sequence[float], totals: Sequence[float], before: int, after: int) -> float:
    """Growth of the total for each doubling of the load between two places, 0.1 for 10 %."""
    doublings = math.log2(loads[after] / loads[before])
    return float((totals[after] / totals[before]) ** (1 / doublings) - 1)


def _way(more: float) -> str:
    return "more" if more > 0 else "less"


def _count(load: float, noun: str) -> str:
    return f"{load:g} {noun.removesuffix('s') if load == 1 else noun}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _speed(tok_s: float) -> str:
    return f"{tok_s:.3g} tok/s" if tok_s < 1000 else f"{tok_s:,.0f} tok/s"
