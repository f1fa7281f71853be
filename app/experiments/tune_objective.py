"""By what a tuner chooses: each purpose has figures that decide, the first one in front. Pure.

* One person chatting: the time of a typical turn, from sending a question to the last word of the
  answer: TTFT + tokens of an answer × TPOT. So a faster first word and faster text are weighed by
  what they are to whoever waits.
* Users within limits: the share of requests that kept both limits; of alike shares the goodput;
  where no request keeps them, by how much the tighter limit is missed.
* Most tokens an hour: the total throughput.

Before all of them stands the share of requests that were answered as asked for: work that is not
done is not fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from app.experiments.experiment import Figures
from app.experiments.measures import BY_FIGURE, Measure, Unit
from app.experiments.tune_goal import Purpose, TuneGoal
from app.experiments.workload import Workload

ANSWERED = Measure("answered_share", "requests answered", Unit.SHARE, True, "more", "fewer")
TURN = Measure("turn_s", "time of a typical turn", Unit.SECONDS, is_more_better=False)
STRAIN = Measure("strain", "distance from the limits", Unit.SHARE, False, "nearer", "farther off")


@dataclass(frozen=True)
class Level:
    """One figure that decides.

    Attributes:
        measure: What it is; a share is compared by its difference, all else by its ratio.
        value: Takes it from a run; None where the run does not show it.
    """

    measure: Measure
    value: Callable[[Figures], float | None]

    @property
    def is_share(self) -> bool:
        """Whether it is a counted share of requests."""
        return self.measure.key in (ANSWERED.key, "kept_share")

    def score(self, figures: Figures) -> float | None:
        """Its value on a scale on which differences count and more is better."""
        value = self.value(figures)
        if value is None or self.is_share:
            return value
        if value <= 0:
            return None
        return math.log(value) if self.measure.is_more_better else -math.log(value)


@dataclass(frozen=True)
class Objective:
    """What decides for one purpose.

    Attributes:
        levels: The figures, the one that decides first in front; the later ones decide where those
            before are alike.
        chief: Place of the one that is told of the result.
    """

    levels: tuple[Level, ...]
    chief: int

    @property
    def measure(self) -> Measure:
        """What is told of the result."""
        return self.levels[self.chief].measure

    def scores(self, figures: Figures) -> tuple[float | None, ...]:
        """A run on the scales of all levels."""
        return tuple(level.score(figures) for level in self.levels)

    def value(self, figures: Figures) -> float | None:
        """The figure that is told of the result."""
        return self.levels[self.chief].value(figures)


def objective_of(goal: TuneGoal) -> Objective:
    """What decides for ``goal``."""
    answered = Level(ANSWERED, _answered_share)
    workload = goal.run_workload
    match goal.purpose:
        case Purpose.CHAT:
            answer_tok = workload.answer_tok.mean_tok
            return Objective((answered, Level(TURN, lambda run: turn_s(run, answer_tok))), 1)
        case Purpose.USERS:
            levels = (
                answered,
                Level(BY_FIGURE["kept_share"], lambda run: run.kept_share),
                Level(BY_FIGURE["goodput_req_s"], lambda run: run.goodput_req_s),
                Level(STRAIN, lambda run: strain(run, workload)),
            )
            return Objective(levels, 2)
    return Objective((answered, Level(BY_FIGURE["total_tok_s"], lambda run: run.total_tok_s)), 1)


def turn_s(run: Figures, answer_tok: float) -> float | None:
    """Seconds from sending a typical question to the last token of its answer.

    Args:
        run: A run.
        answer_tok: Tokens of a typical answer.
    """
    if run.ttft_s is None or run.tpot_s is None:
        return None
    return run.ttft_s + answer_tok * run.tpot_s


def strain(run: Figures, workload: Workload) -> float | None:
    """How far a run is from the limits: 2 where the tighter of them is missed by its double."""
    shares = [
        time_s / limit_s
        for time_s, limit_s in (
            (run.ttft_p95_s, workload.ttft_slo_s),
            (run.tpot_s, workload.tpot_slo_s),
        )
        if time_s is not None and limit_s is not None
    ]
    return max(shares, default=None)


def _answered_share(run: Figures) -> float | None:
    asked = run.requests + run.failed
    return run.requests / asked if asked else None
