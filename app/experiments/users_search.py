"""How many users keep the limits: which number to try next, and what those tried come to. Pure.

More users never make it better, so numbers are doubled until one fails and halved from there. On
the way a third of the requests is enough to see where to go; only the two numbers at the edge get
all of them, for they are what the answer says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeVar

from app.experiments.proportion import Proportion

_LOOKS = 3
# Below this a look at a number would too often lead the wrong way.
_LEAST_LOOK = 20


class Standing(StrEnum):
    """What the interval of the kept share says of the share that is asked for."""

    KEEPS = "keeps"
    FAILS = "fails"
    UNSURE = "unsure"


@dataclass(frozen=True)
class Goal:
    """What is asked of a number of users.

    Attributes:
        share: Share of requests that must keep the limits, above 0 and below 1.
        most: No larger number is tried, at least 1.
        requests: By how many requests a number at the edge is judged, at least 1.
    """

    share: float
    most: int
    requests: int

    @property
    def look(self) -> int:
        """Requests of one probe."""
        return min(self.requests, max(_LEAST_LOOK, math.ceil(self.requests / _LOOKS)))

    def standing(self, kept: Proportion) -> Standing:
        """What ``kept`` says."""
        if kept.low >= self.share:
            return Standing.KEEPS
        return Standing.FAILS if kept.high < self.share else Standing.UNSURE


Tried = Mapping[int, Proportion]
"""Requests that kept the limits, by the number of users."""

LoadT = TypeVar("LoadT", int, float)


def edge_of(
    tried: Mapping[LoadT, Proportion], goal: Goal
) -> tuple[LoadT | Literal[0], LoadT | None]:
    """The largest load that seems to keep the limits, 0 for none, and the first that seems not.

    None where all that were tried seem to keep them.
    """
    failing = [load for load, kept in tried.items() if kept.share < goal.share]
    fails = min(failing, default=None)
    keeping = [load for load in tried if fails is None or load < fails]
    return (max(keeping) if keeping else 0), fails


def next_users(tried: Tried, goal: Goal) -> int | None:
    """The number to try next, or once more; None when the search has ended."""
    keeps, fails = edge_of(tried, goal)
    if fails is None and keeps < goal.most:
        return min(max(1, 2 * keeps), goal.most)
    if fails is not None and fails - keeps > 1:
        return (keeps + fails) // 2
    edge = [users for users in (keeps, fails) if users and _needs_more(tried[users], goal)]
    return min(edge, key=lambda users: tried[users].of, default=None)


def _needs_more(kept: Proportion, goal: Goal) -> bool:
    return kept.of < goal.requests and goal.standing(kept) is Standing.UNSURE
