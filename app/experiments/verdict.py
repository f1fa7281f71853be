"""What two settings' runs say of each other, in a sentence with its interval.

A difference is claimed only where the interval excludes none and the difference is larger than the
spread: what the next run could turn round is nothing to choose by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.experiments.measures import Measure, Unit
from app.experiments.spread import (
    LEAST_RUNS,
    Ratio,
    log_gains,
    ratio,
    ratio_of_medians,
    running_ratio,
)

# A narrow no-break space keeps a number and its unit together at a line's end.
_NB = "\u202f"
# Differences below this share are none to anybody: an interval within it ends a comparison.
ALIKE_SHARE = 0.01
MANY = 2.0
"""From here on "2.5 times as fast" is easier to think of than "150 % faster"."""
NAMES = ("A", "B")


class Outcome(StrEnum):
    """What a verdict comes to; the second one is better or worse than the first."""

    BETTER = "better"
    WORSE = "worse"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Verdict:
    """Two settings in one figure.

    Attributes:
        outcome: What is claimed.
        sentence: The claim with its interval.
        gain: How many times better the second is than the first, above 1 where it is better; None
            where too little was measured.
    """

    outcome: Outcome
    sentence: str
    gain: Ratio | None = None

    @property
    def is_settled(self) -> bool:
        """Whether more pairs would hardly change it: a clear difference, or clearly none."""
        if self.outcome in (Outcome.BETTER, Outcome.WORSE):
            return True
        if self.gain is None or self.outcome is Outcome.UNKNOWN:
            return False
        return self.gain.low > 1 - ALIKE_SHARE and self.gain.high < 1 + ALIKE_SHARE


def verdict_of_pairs(
    first: Sequence[float | None],
    second: Sequence[float | None],
    measure: Measure,
    names: tuple[str, str] = NAMES,
) -> Verdict:
    """Judge runs that took turns; their number was settled before.

    Args:
        first: Figures of the one by pair; None where a run could not show it.
        second: Figures of the other, of the same pairs.
        measure: What they are.
        names: What the two are called.
    """
    mine, theirs = _pairs(first, second)
    if len(mine) < LEAST_RUNS:
        return _too_few(len(mine), "pairs", LEAST_RUNS, measure)
    gains = log_gains(theirs, mine, is_more_better=measure.is_more_better)
    return _judged(ratio(gains), measure, names, f"{len(mine)} pairs", "pairs")


def running_verdict(
    first: Sequence[float | None],
    second: Sequence[float | None],
    measure: Measure,
) -> Verdict:
    """Judge pairs as they come; may be asked after every one of them. See ``running_ratio``."""
    mine, theirs = _pairs(first, second)
    if len(mine) < 2:
        return _too_few(len(mine), "pairs", 2, measure)
    gains = log_gains(theirs, mine, is_more_better=measure.is_more_better)
    return _judged(running_ratio(gains), measure, NAMES, f"{len(mine)} pairs", "pairs")


def verdict_of_runs(
    first: Sequence[float | None],
    second: Sequence[float | None],
    measure: Measure,
    names: tuple[str, str] = NAMES,
) -> Verdict:
    """Judge runs that do not belong together, as of two experiments of the history."""
    mine, theirs = _known(first), _known(second)
    if min(len(mine), len(theirs)) < LEAST_RUNS:
        return _too_few(min(len(mine), len(theirs)), "runs", LEAST_RUNS, measure)
    if measure.is_more_better:
        gain = ratio_of_medians(theirs, mine)
    else:
        gain = ratio_of_medians(mine, theirs)
    return _judged(gain, measure, names, f"{len(mine)} and {len(theirs)} runs", "runs")


def too_few_sentence(count: int, what: str, least: int, labels: Sequence[str]) -> str:
    """Why nothing is claimed of some figures.

    Args:
        count: How many there are.
        what: Of what: ``runs``, ``pairs``.
        least: How many are needed.
        labels: The figures; at least one.
    """
    has = f"There are {count or 'no'} {what}" if count != 1 else f"There is 1 {what[:-1]}"
    named = f"{', '.join(labels[:-1])} and {labels[-1]}" if len(labels) > 1 else labels[0]
    return f"{has} with {named}; {least} are needed to tell a difference."


def claim_text(gain: float, measure: Measure) -> str:
    """``12 % faster``, of a gain of 1.12."""
    word = measure.better if gain >= 1 else measure.worse
    return f"{difference_text(_share(gain, measure))} {word}"


def difference_text(share: float) -> str:
    """``12 %``, with one digit behind the point below ten; ``any`` of no end."""
    return f"{_number(share)}{_NB}%" if math.isfinite(share) else "any"


# --- Inside -----------------------------------------------------------------------------


def _known(values: Sequence[float | None]) -> list[float]:
    # Nothing can be said in percent of a figure that is 0.
    return [value for value in values if value is not None and value > 0]


def _pairs(
    first: Sequence[float | None], second: Sequence[float | None]
) -> tuple[list[float], list[float]]:
    both = [
        (mine, theirs)
        for mine, theirs in zip(first, second, strict=False)
        if mine is not None and theirs is not None and mine > 0 and theirs > 0
    ]
    return [mine for mine, _ in both], [theirs for _, theirs in both]


def _too_few(count: int, what: str, least: int, measure: Measure) -> Verdict:
    return Verdict(Outcome.UNKNOWN, too_few_sentence(count, what, least, [measure.label]))


def _judged(
    gain: Ratio, measure: Measure, names: tuple[str, str], count: str, what: str
) -> Verdict:
    first, second = names
    if not math.isfinite(gain.high):
        sentence = f"The {count} are too few to tell a difference in {measure.label}."
        return Verdict(Outcome.UNKNOWN, sentence, gain)
    if gain.low == gain.high == 1:
        sentence = f"No difference in {measure.label}: all {count} are equal."
        return Verdict(Outcome.NONE, sentence, gain)
    if gain.low <= 1 <= gain.high:
        low, high = claim_text(gain.low, measure), claim_text(gain.high, measure)
        sentence = (
            f"No difference in {measure.label}: the interval from {low} to {high} for {second} "
            f"contains none ({count})."
        )
        return Verdict(Outcome.NONE, sentence, gain)
    claim = f"{second} is {claim_text(gain.value, measure)} than {first}"
    if abs(math.log(gain.value)) <= gain.spread:
        sentence = (
            f"No difference in {measure.label}: {claim}, which is less than the spread of the "
            f"{what} ({difference_text(math.expm1(gain.spread))}; {count})."
        )
        return Verdict(Outcome.NONE, sentence, gain)
    if gain.value >= MANY and measure.better == "faster":
        sentence = (
            f"{second} is {gain.value:.1f} times as fast as {first} in {measure.label} (between "
            f"{gain.low:.1f} and {gain.high:.1f} times, {count})."
        )
    else:
        ends = sorted(_share(end, measure) for end in (gain.low, gain.high))
        sentence = (
            f"{claim} in {measure.label} (between {_number(ends[0])} and "
            f"{difference_text(ends[1])}, {count})."
        )
    return Verdict(Outcome.BETTER if gain.value > 1 else Outcome.WORSE, sentence, gain)


def _share(gain: float, measure: Measure) -> float:
    """How far from equal, as a share: a gain of 1.12 is 0.12.

    Speed is told for times too: "12 % faster" is 1.12 times the speed. Memory is told as bytes.
    """
    return abs(1 / gain - 1) if measure.unit is Unit.BYTES else abs(gain - 1)


def _number(share: float) -> str:
    percent = 100 * share
    return f"{percent:,.0f}" if percent >= 9.95 else f"{percent:.1f}"
