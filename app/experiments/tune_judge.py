"""Whether one configuration of a tuner is better than another, from few runs. Pure.

**Rounds.** Configurations are compared by the rounds that measured both: what drifts from round to
round is not in the difference.

**Few runs.** Two or three pairs tell nothing of their own spread, so the spread of all pairs that
were measured so far is taken in: the moderated t statistic, in which the variance of a comparison
is the mean of its own and the pooled one, weighed by their degrees of freedom (G. K. Smyth, "Linear
models and empirical Bayes methods for assessing differential expression in microarray
experiments", Stat. Appl. Genet. Mol. Biol. 3, 2004). Before anything is measured, runs are taken to
differ by 3 %.

**Choosing is not claiming.** A candidate is kept where its mean gain is above what the error allows
for, even where it is smaller than one run's spread: many small gains add up. What is told of the
result at the end follows ADR 26.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from app.experiments.student import upper_quantile
from app.experiments.tune_objective import Objective
from app.experiments.verdict import ALIKE_SHARE, Outcome
from engine_bridge.settings.config import EngineConfig

# Spread of a run that is assumed before anything is known, and how many pairs it counts for.
_ASSUMED_SPREAD = 0.03
_ASSUMED_PAIRS = 3
# Others' pairs count for so many at most: comparisons differ in how much their runs do.
_MOST_BORROWED = 8
# One-sided, of a single look at a single candidate.
_KEEP_SHARE, _LIKELY_SHARE, _DROP_SHARE, _BAND_SHARE = 0.05, 0.2, 0.02, 0.025


@dataclass(frozen=True)
class Judgement:
    """One configuration against another.

    Attributes:
        outcome: Whether it is better, worse or not distinguishable; ``UNKNOWN`` without a pair.
        level: Place of the figure that decided, in the objective.
        gain: Mean gain: a logarithm of a ratio, of shares a difference; above 0 where better.
        error: Half the width of its 95 % interval.
        pairs: Rounds that measured both.
        is_likely: Whether it is probably better, short of clear.
    """

    outcome: Outcome
    level: int = 0
    gain: float = 0.0
    error: float = math.inf
    pairs: int = 0
    is_likely: bool = False

    @property
    def may_gain(self) -> bool:
        """Whether more runs might show that it is better by enough to be worth a change."""
        return self.outcome is not Outcome.WORSE and self.gain + self.error > ALIKE_SHARE


class Rounds:
    """What was measured side by side, and the judge of it."""

    def __init__(self, objective: Objective) -> None:
        """Begin without any round."""
        self._objective = objective
        self._rounds: list[dict[EngineConfig, tuple[float | None, ...]]] = []
        self._loud: set[tuple[int, EngineConfig]] = set()
        self._requests: dict[EngineConfig, int] = {}
        self._compared: dict[tuple[EngineConfig, EngineConfig], None] = {}
        self._runs = 0
        self._sums: dict[tuple[int, int, int], tuple[float, int]] = {}  # as asked last

    def begin(self) -> None:
        """Begin the next round."""
        self._rounds.append({})

    def note(
        self, config: EngineConfig, scores: tuple[float | None, ...], requests: int, disturbed: str
    ) -> None:
        """Take in a run of the present round.

        Args:
            config: What was measured.
            scores: By ``Objective.scores``.
            requests: Requests of the run.
            disturbed: What disturbed it; empty for a quiet run.
        """
        self._rounds[-1][config] = scores
        self._requests[config] = requests
        self._runs += 1
        if disturbed:
            self._loud.add((len(self._rounds) - 1, config))

    @property
    def is_restless(self) -> bool:
        """Whether most runs were disturbed: then they count like all others."""
        return 2 * len(self._loud) > self._runs

    def pairs(self, one: EngineConfig, other: EngineConfig, level: int) -> list[float]:
        """By how much ``one`` was better than ``other``, round by round."""
        is_restless = self.is_restless
        gains = []
        for number, scores in enumerate(self._rounds):
            if one not in scores or other not in scores:
                continue
            if not is_restless and {(number, one), (number, other)} & self._loud:
                continue
            mine, theirs = scores[one][level], scores[other][level]
            if mine is not None and theirs is not None:
                gains.append(mine - theirs)
        return gains

    def judge(self, one: EngineConfig, other: EngineConfig, rivals: int = 1) -> Judgement:
        """Whether ``one`` is better than ``other``.

        Args:
            one: A candidate.
            other: The best so far.
            rivals: How many candidates are looked at together: the best of many came out on top
                by luck, too.
        """
        self._compared[one, other] = None
        judgement = Judgement(Outcome.UNKNOWN)
        for level in range(len(self._objective.levels)):
            gains = self.pairs(one, other, level)
            if not gains:
                continue
            judgement = self._at(level, gains, (one, other), rivals)
            is_decided = judgement.outcome is not Outcome.NONE
            if is_decided or not self._objective.levels[level].is_share:
                return judgement
        return judgement

    # --- Inside -------------------------------------------------------------------------

    def _at(
        self,
        level: int,
        gains: Sequence[float],
        pair: tuple[EngineConfig, EngineConfig],
        rivals: int,
    ) -> Judgement:
        mean, count = float(np.mean(gains)), len(gains)
        if self._objective.levels[level].is_share:
            variance, freedom = self._share_variance(level, pair), 10_000
        else:
            variance, freedom = self._moderated(level, gains)
        error = math.sqrt(variance / count)
        outcome = Outcome.NONE
        if mean > error * _quantile(_KEEP_SHARE / max(1, rivals), freedom):
            outcome = Outcome.BETTER
        elif -mean > error * _quantile(_DROP_SHARE, freedom):
            outcome = Outcome.WORSE
        return Judgement(
            outcome,
            level,
            mean,
            error * _quantile(_BAND_SHARE, freedom),
            count,
            is_likely=mean > error * _quantile(_LIKELY_SHARE, freedom),
        )

    def _moderated(self, level: int, gains: Sequence[float]) -> tuple[float, int]:
        """Variance of one pair, and its degrees of freedom."""
        squares, pooled = self._pooled(level)
        assumed = 2 * _ASSUMED_SPREAD**2
        variance = (_ASSUMED_PAIRS * assumed + squares) / (_ASSUMED_PAIRS + pooled)
        borrowed = min(_MOST_BORROWED, _ASSUMED_PAIRS + pooled)
        own = float(np.var(gains)) * len(gains)
        freedom = borrowed + len(gains) - 1
        return (borrowed * variance + own) / freedom, freedom

    def _pooled(self, level: int) -> tuple[float, int]:
        """Sum of squares within all comparisons so far, and its degrees of freedom."""
        known = (self._runs, len(self._compared), level)
        if known not in self._sums:
            squares, freedom = 0.0, 0
            for one, other in self._compared:
                gains = self.pairs(one, other, level)
                if len(gains) > 1:
                    squares += float(np.var(gains)) * len(gains)
                    freedom += len(gains) - 1
            self._sums = {known: (squares, freedom)}
        return self._sums[known]

    def _share_variance(self, level: int, pair: tuple[EngineConfig, EngineConfig]) -> float:
        """Of the difference of two counted shares, as of coins that fall alike."""
        known = [
            scores[config][level] for scores in self._rounds for config in pair if config in scores
        ]
        shares = [share for share in known if share is not None]
        requests = max(1, min(self._requests[config] for config in pair))
        # A share of 0 or 1 of few requests is not as sure as it looks.
        share = (sum(shares) * requests + 1) / (len(shares) * requests + 2)
        return 2 * share * (1 - share) / requests


@lru_cache(maxsize=1024)
def _quantile(share: float, freedom: int) -> float:
    return upper_quantile(share, max(1, min(freedom, 200)))
