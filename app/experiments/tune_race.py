"""A race: candidates against the best so far, round by round, until it is clear who is better.

Each round measures the best and every candidate still in the race, there and back, so that drift
hits all alike. Whoever is clearly worse gets no more runs; the race ends as soon as its winner is
clear, or nobody can win any more, or the rounds are over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.experiments.port import StoppedError
from app.experiments.tune_judge import Judgement
from app.experiments.tune_trials import SpentError, Trials
from app.experiments.verdict import Outcome
from engine_bridge.settings.config import EngineConfig

# One pair may be a disturbance that nobody noticed.
_LEAST_PAIRS = 2


@dataclass
class Result:
    """What a race came to.

    Attributes:
        winner: The candidate that is clearly better; None where the best so far stays.
        judgements: Every candidate that was measured beside the best so far, against it.
        refused: Candidates that the engine refused.
        stopped: Raised by whoever has told what the race came to; None unless the user stopped it.
        cut: Why it ended in the middle of a round: ``you stopped it``; empty if it did not.
    """

    winner: EngineConfig | None = None
    judgements: dict[EngineConfig, Judgement] = field(default_factory=dict)
    refused: list[EngineConfig] = field(default_factory=list)
    stopped: StoppedError | None = None
    cut: str = ""


def race(
    trials: Trials, best: EngineConfig, candidates: Sequence[EngineConfig], most_rounds: int
) -> Result:
    """Race ``candidates`` against ``best``.

    Args:
        trials: Measures.
        best: The best so far.
        candidates: Others, which can run.
        most_rounds: Rounds at most; fewer where the budget ends.

    Raises:
        PortError: If the engine can go on with none.
    """
    return _Race(trials, best, candidates).run(most_rounds)


class _Race:
    """One race under way."""

    def __init__(
        self, trials: Trials, best: EngineConfig, candidates: Sequence[EngineConfig]
    ) -> None:
        self._trials = trials
        self._best = best
        self._alive = list(dict.fromkeys(candidates))
        self._entered = len(self._alive)
        self._result = Result()

    def run(self, most_rounds: int) -> Result:
        try:
            self._run(most_rounds)
        except (SpentError, StoppedError) as error:
            self._result.cut = "the time was over"
            if isinstance(error, StoppedError):
                self._result.cut, self._result.stopped = "you stopped it", error
            self._take_out([one for one in self._alive if not self._trials.reason(one)])
            for config in self._alive:
                self._judged(config)
        self._end()
        return self._result

    def _run(self, most_rounds: int) -> None:
        for number in range(most_rounds):
            order = [self._best, *self._alive]
            if self._trials.left < len(order):
                break
            measured = self._trials.run_round(order if number % 2 == 0 else order[::-1])
            self._take_out(measured)
            if self._best not in measured:  # the memory that it had is gone, say
                break
            self._narrow()
            if not self._alive or self._is_clear():
                break

    def _take_out(self, measured: Sequence[EngineConfig]) -> None:
        for config in [one for one in self._alive if one not in measured]:
            self._alive.remove(config)
            self._result.refused.append(config)

    def _judged(self, config: EngineConfig) -> Judgement:
        judgement = self._trials.judge(config, self._best, self._entered)
        if judgement.pairs:
            self._result.judgements[config] = judgement
        return judgement

    def _narrow(self) -> None:
        """Take out whoever is clearly worse than the best so far, or than the leader."""
        judged = {config: self._judged(config) for config in self._alive}
        self._alive = [
            config for config in self._alive
            if judged[config].outcome is Outcome.UNKNOWN or judged[config].may_gain
        ]  # fmt: skip
        leader = self._leader()
        if leader is None:
            return
        self._alive = [
            config for config in self._alive
            if config is leader
            or self._trials.judge(config, leader).outcome is not Outcome.WORSE
        ]  # fmt: skip

    def _leader(self) -> EngineConfig | None:
        known = [one for one in self._alive if self._judged(one).pairs]
        return max(known, key=lambda one: rank_of(self._judged(one)), default=None)

    def _is_clear(self) -> bool:
        """Whether the one that is left is better for sure."""
        if len(self._alive) > 1:
            return False
        judgement = self._judged(self._alive[0])
        return judgement.outcome is Outcome.BETTER and judgement.pairs >= _LEAST_PAIRS

    def _end(self) -> None:
        leader = self._leader()
        if leader is None:
            return
        judgement = self._judged(leader)
        if judgement.outcome is Outcome.BETTER and judgement.pairs >= _LEAST_PAIRS:
            self._result.winner = leader


def rank_of(judgement: Judgement) -> tuple[bool, int, float]:
    """By what the better of two is taken, both judged against a third."""
    is_better = judgement.outcome is Outcome.BETTER
    return is_better, -judgement.level if is_better else 0, judgement.gain
