"""How far an experiment of simulated users is, and how long it will still take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.experiments.users_plan import UsersPlan
from app.experiments.workload import Workload

# A search doubles up and halves down, and looks at the edge again: about so many probes for each
# doubling, and so many more at the end.
_PROBES_PER_DOUBLING = 1.5
_PROBES_AT_EDGE = 3
# A search that found nothing sooner is all but over.
_MOST_OF_SEARCH = 0.95
# The time of a run, guessed from less of the first one than this, would jump about.
_LEAST_SHARE = 0.1


@dataclass(frozen=True)
class Progress:
    """How far it is.

    Attributes:
        share: Done, 0 to 1.
        left_s: Seconds that it will still take; None if that is not known.
    """

    share: float
    left_s: float | None


class UsersTime:
    """The time of one experiment.

    Attributes:
        is_spent: Whether the plan's seconds were over before all was measured.
    """

    def __init__(self, plan: UsersPlan, slots: int, clock: Callable[[], float]) -> None:
        """Begin to count the plan's seconds; ``slots`` are the engine's."""
        self.is_spent = False
        self._plan = plan
        self._slots = slots
        self._clock = clock
        self._begun_s = self._measuring_s = clock()
        self._runs = self._planned = 0
        self._done = self._total = 0.0

    def begin(self, loads: Sequence[float], *, is_long_due: bool) -> None:
        """The first run begins; ``loads`` are to be measured, and one once more if long prompts."""
        self._measuring_s = self._clock()
        weights = [self._weight(self._plan.workload_for(load)) for load in loads]
        if is_long_due and not self._plan.is_search:
            weights.append(self._weight(self._plan.workload_for(self._plan.loads[-1])))
        self._planned = len(weights)
        self._total = sum(weights)

    def has_more(self) -> bool:
        """Whether one more run may begin; the first one always may."""
        if self._runs and self._clock() - self._begun_s >= self._plan.seconds:
            self.is_spent = True
        return not self.is_spent

    def ended(self, workload: Workload) -> None:
        """A run has ended."""
        self._runs += 1
        self._done += self._weight(workload)

    def progress(self, workload: Workload, share: float) -> Progress:
        """How far it is, when ``share`` of a run of ``workload`` is done."""
        if self._plan.is_search:
            doublings = math.log2(self._plan.goal.most) + 1
            total = _PROBES_PER_DOUBLING * doublings + _PROBES_AT_EDGE
            # How long it takes depends on what it finds.
            done = min((self._runs + share) / total, _MOST_OF_SEARCH)
            return Progress(done, self._within_budget(None))
        done = self._done + share * self._weight(workload)
        left_s = None
        if done > 0 and (self._runs or share >= _LEAST_SHARE):
            each_s = (self._clock() - self._measuring_s) / done
            left_s = max(0.0, each_s * (self._total - done))
        elif self._plan.is_open:  # then a weight is the time in which the requests arrive
            left_s = self._total - done
        return Progress(
            min(1.0, (self._runs + share) / max(1, self._planned)), self._within_budget(left_s)
        )

    def _within_budget(self, left_s: float | None) -> float | None:
        if not math.isfinite(self._plan.seconds):
            return left_s
        budget_s = max(0.0, self._plan.seconds - (self._clock() - self._begun_s))
        return budget_s if left_s is None else min(left_s, budget_s)

    def _weight(self, workload: Workload) -> float:
        """What a run takes in comparison: seconds in an open loop, rounds of the slots else."""
        if workload.rate_req_s is not None:
            return workload.requests / workload.rate_req_s
        return workload.requests / min(workload.users, self._slots)
