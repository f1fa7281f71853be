"""What looks at the live column's pages come to: their cost, paired with the page hidden.

Pure: knows figures, no window.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from tests.bench import stats
from tests.bench.machine import QUIET_SHARE

HIDDEN = "hidden"
PAGES = ("Charts", "Ceiling", "Room")
# The most that the charts may take of a core while one stream decodes.
TARGET_MS_PER_S = 30.0


@dataclass(frozen=True)
class Load:
    """What the engine does meanwhile.

    Attributes:
        name: Where it runs, in words.
        cores: Where it runs.
        streams: Streams that decode at once.
        pages: Which pages are looked at.
    """

    name: str
    cores: frozenset[int]
    streams: int
    pages: tuple[str, ...] = PAGES[:1]


@dataclass(frozen=True)
class View:
    """One look at a page, of some seconds, from the last prompt sent on.

    Attributes:
        gui_ms_per_s: Processor time of the window's thread a second.
        tok_s: Tokens a second of all streams, by the engine's time stamps.
        seconds: How long it lasted.
        rate_hz: How often the charts looked for news at its end.
    """

    gui_ms_per_s: float
    tok_s: float
    seconds: float
    rate_hz: float


@dataclass(frozen=True)
class Shift:
    """A mean difference of pairs with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass
class Result:
    """All looks under one load.

    Attributes:
        load: The load.
        views: By page, ``hidden`` among them, a value an alternation.
        others: Share of the machine that other programs used meanwhile, 0 to 1.
    """

    load: Load
    views: dict[str, list[View]] = field(default_factory=dict)
    others: float = 0.0

    def median_of(self, page: str, name: str) -> float:
        """Median of an attribute over the looks at a page."""
        return float(median(getattr(view, name) for view in self.views[page]))

    def cost(self, page: str) -> Shift:
        """What a page adds to the thread's time, ms a second, paired with hidden."""
        pairs = zip(self.views[page], self.views[HIDDEN], strict=True)
        return shift([shown.gui_ms_per_s - hidden.gui_ms_per_s for shown, hidden in pairs])

    def speed(self, page: str) -> stats.Ratio:
        """Engine's speed with the page / without, paired."""
        shown, hidden = ([v.tok_s for v in self.views[name]] for name in (page, HIDDEN))
        return stats.ratio(stats.log_gains(shown, hidden, is_more_better=True))


def shift(differences_ms: Sequence[float]) -> Shift:
    """The mean of paired differences, with the interval that ratios have.

    Args:
        differences_ms: Two at least, each far below 100,000.
    """
    # A ratio's logarithm is a mean of differences; in seconds, so that its exponential stays small.
    found = stats.geometric_mean([np.asarray(differences_ms, dtype=np.float64) / 1e3])
    return Shift(*(math.log(limit) * 1e3 for limit in (found.value, found.low, found.high)))


def table(results: Sequence[Result]) -> str:
    """The figures for a person."""
    lines = [
        "The pages of the live column on Gemma 270M, offscreen, paired with the page hidden",
        f"{'engine on':<12} {'streams':>7}  {'page':<8} {'GUI thread, ms a second of view':<45} "
        f"{'tok/s':>7} with / without",
    ]
    for result in results:
        lines += [_row(result, page) for page in result.views if page != HIDDEN]
    lines += verdicts(results)
    worst = max(result.others for result in results)
    if worst > QUIET_SHARE:
        lines.append(f"Other programs used up to {worst:.0%} of this machine meanwhile.")
    return "\n".join(lines)


def _row(result: Result, page: str) -> str:
    cost, speed, load = result.cost(page), result.speed(page), result.load
    shown, hidden = (result.median_of(name, "gui_ms_per_s") for name in (page, HIDDEN))
    time_text = (
        f"{shown:6.1f} − {hidden:6.1f} = {cost.value:6.1f} [{cost.low:.1f}, {cost.high:.1f}]"
    )
    return (
        f"{load.name:<12} {load.streams:>7}  {page:<8} {time_text:<45} "
        f"{result.median_of(page, 'tok_s'):>7.1f} {speed.value:.3f} "
        f"[{speed.low:.3f}, {speed.high:.3f}]"
    )


def verdicts(results: Sequence[Result]) -> list[str]:
    """Whether the charts keep to their share of a core beside one stream."""
    found = []
    for result in results:
        if result.load.streams != 1:
            continue
        cost = result.cost(PAGES[0])
        rate_hz = result.median_of(PAGES[0], "rate_hz")
        verdict = "met" if cost.value <= TARGET_MS_PER_S else "MISSED"
        found.append(
            f"target: charts at most {TARGET_MS_PER_S / 10:.0f} % of a core beside one stream, "
            f"engine on {result.load.name}, {rate_hz:.0f} looks a second: {verdict} "
            f"({cost.value / 10:.1f} %)"
        )
    return found


def as_json(results: Sequence[Result]) -> dict[str, Any]:
    """The content of the part ``charts``: milliseconds a second, tokens a second, ratios."""
    return {
        "model": "gemma-3-270m",
        "cells": [_cell(result, page) for result in results for page in _shown(result)],
        "targets": verdicts(results),
        "used_by_others": max(result.others for result in results),
    }


def _shown(result: Result) -> list[str]:
    return [page for page in result.views if page != HIDDEN]


def _cell(result: Result, page: str) -> dict[str, Any]:
    cost, speed = result.cost(page), result.speed(page)
    shown, hidden = result.views[page], result.views[HIDDEN]
    return {
        "engine_on": result.load.name,
        "streams": result.load.streams,
        "page": page,
        "pairs": len(shown),
        "gui_ms_per_s": result.median_of(page, "gui_ms_per_s"),
        "gui_ms_per_s_hidden": result.median_of(HIDDEN, "gui_ms_per_s"),
        "cost_ms_per_s": cost.value,
        "cost_interval": [cost.low, cost.high],
        "tok_s": result.median_of(page, "tok_s"),
        "tok_s_hidden": result.median_of(HIDDEN, "tok_s"),
        "with_over_without": speed.value,
        "with_over_without_interval": [speed.low, speed.high],
        "looks_per_s": result.median_of(page, "rate_hz"),
        "view_s": result.median_of(page, "seconds"),
        "runs": [
            {"gui_ms_per_s": [s.gui_ms_per_s, h.gui_ms_per_s], "tok_s": [s.tok_s, h.tok_s]}
            for s, h in zip(shown, hidden, strict=True)
        ],
    }
