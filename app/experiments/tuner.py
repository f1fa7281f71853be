"""A tuner: settings changed one after the other in the practitioners' order, each step measured.

A plain function that blocks; see ADR 31. First comes what is not for measuring to decide
(``tune_ground``), then each step's options race against the best so far (``tune_race``). What is
left of the budget goes to neighbours of the best, for later steps may have changed the ground of
earlier ones, to what could not be decided, and to how much is gained over the settings before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from app.experiments.experiment import Experiment, Kind, State, Subject
from app.experiments.keys import begun_at, new_key
from app.experiments.port import PortError, StoppedError
from app.experiments.reporter import Reporter
from app.experiments.tune_bench import TuneBench
from app.experiments.tune_context import ContextNeed
from app.experiments.tune_goal import TuneGoal
from app.experiments.tune_ground import Fitting, ground_of
from app.experiments.tune_objective import objective_of
from app.experiments.tune_result import BEFORE
from app.experiments.tune_search import Search
from app.experiments.tune_steps import Cores, Step, steps_of
from app.experiments.tune_trials import SpentError, Trials
from app.experiments.tune_words import conclusion_of, purpose_words
from app.experiments.workload_file import kept_json
from engine_bridge.settings.config import EngineConfig

# Pairs of the best and the settings before that bear an interval.
_CONFIRMING_PAIRS = 5
_BEGINNING_ROUNDS = 2


def tune(
    bench: TuneBench,
    start: EngineConfig,
    goal: TuneGoal,
    reporter: Reporter,
    *,
    cores: Cores | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Experiment:
    """Find settings for ``goal``, beginning with ``start``.

    Args:
        bench: Measures, and knows what fits in memory.
        start: The settings to begin with, with the model.
        goal: What the settings are for, and what must hold.
        reporter: Told how far it is, and handed the experiment after every run.
        cores: Processors that may compute; this machine's by default.
        clock: Seconds, for the time left.

    Returns:
        The experiment, kind ``TUNE``: done, stopped with what was best so far, or failed where
        nothing fits or the engine is of no use. ``tune_result.best_cell`` finds the best in it.

    Raises:
        DomainError: If nothing can be tuned with the goal, in a sentence.
        WorkloadError: If its workload cannot be used.
        StoppedError: If the user stopped it before anything began.
    """
    goal.check()
    return _Tuning(bench, start, goal, reporter, cores=cores, clock=clock).run()


class _Tuning:
    """One tuning under way."""

    def __init__(
        self,
        bench: TuneBench,
        start: EngineConfig,
        goal: TuneGoal,
        reporter: Reporter,
        *,
        cores: Cores | None,
        clock: Callable[[], float],
    ) -> None:
        self._bench = bench
        self._start = start
        self._goal = goal
        self._cores = cores
        subject = bench.subject()
        self._objective = objective_of(goal)
        self._trials = Trials(
            bench, goal, self._objective, reporter, _begun(goal, subject), clock=clock
        )
        self._need = ContextNeed(goal, bench.model)
        self._fitting = Fitting(self._trials, goal, self._need)
        self._search: Search | None = None
        self._steps: tuple[Step, ...] = ()
        self._ground: EngineConfig | None = None

    def run(self) -> Experiment:
        try:
            problem = self._tune()
        except StoppedError:
            return self._end(State.STOPPED)
        except PortError as error:
            return self._end(State.FAILED, str(error))
        return self._end(State.FAILED if problem else State.DONE, problem)

    def _tune(self) -> str:
        """Everything in its order; says why it cannot begin, if it cannot."""
        trials, goal = self._trials, self._goal
        trials.announce("Planning what fits")
        ground = ground_of(
            self._start, goal, trials, self._fitting, self._need, has_board=self._bench.has_board
        )
        if ground.config is None:
            trials.note(self._start, *ground.notes, skipped=ground.problem)
            return ground.problem
        self._ground = ground.config
        problem = self._begin(ground.config, ground.notes)
        if problem:
            return problem
        self._search = search = Search(
            trials,
            self._fitting,
            goal,
            self._objective,
            ground=ground.config,
            barred=self._start if self._start != ground.config else None,
        )
        steps = steps_of(
            goal, self._bench.model, has_board=self._bench.has_board, cores=self._cores
        )
        self._steps = steps
        for step in steps:
            search.take_step(step)
        search.look_around(steps)
        search.settle()
        self._confirm(search.best)
        return ""

    def _begin(self, ground: EngineConfig, notes: Sequence[str]) -> str:
        """Measure where it begins, beside the settings before where they can run."""
        trials = self._trials
        together = [ground]
        if self._start != ground:
            if reason := trials.reason(self._start):
                trials.note(self._start, BEFORE, skipped=reason)
            elif trials.may_try(self._start):
                trials.note(self._start, BEFORE)
                together = [self._start, ground]
        trials.note(ground, *(notes or ("These are the settings to begin with.",)))
        trials.announce("The settings to begin with")
        # Alone it would be compared with nothing.
        for number in range(_BEGINNING_ROUNDS if len(together) > 1 else 1):
            try:
                measured = trials.run_round(together if number % 2 == 0 else together[::-1])
            except SpentError:
                break
            if ground not in measured:
                return trials.cell(ground).skipped or trials.reason(ground)
            if not number:  # whoever stops now has it as the best so far
                trials.keep(ground)
                trials.hand_on()
            together = [config for config in together if config in measured]
        return ""

    def _confirm(self, best: EngineConfig) -> None:
        """How much is gained over the settings before, in pairs that bear an interval."""
        trials, start = self._trials, self._start
        if best == start or start not in trials.measured:
            return
        missing = _CONFIRMING_PAIRS - len(trials.paired_values(start, best)[0])
        for number in range(min(missing, trials.left // 2)):
            trials.announce("The best beside the settings before")
            try:
                trials.run_round((start, best) if number % 2 == 0 else (best, start))
            except SpentError:
                return

    def _end(self, state: State, failure: str = "") -> Experiment:
        trials, goal, search = self._trials, self._goal, self._search
        conclusion: tuple[str, ...] = ()
        if search is None and state is State.STOPPED:
            conclusion = ("Stopped by you before any other settings were tried.",)
        if search is not None:
            start, best = self._start, search.best
            conclusion = conclusion_of(
                goal, self._objective, start, best,
                values=(trials.values(start), trials.values(best)),
                pairs=trials.paired_values(start, best),
                counts=(trials.used, len(trials.measured)), spent_s=trials.spent_s,
                fates=search.fates.sentences(goal, search.reserve, self._unreached(search)),
                is_ground=best == self._ground, is_stopped=state is State.STOPPED,
            )  # fmt: skip
        return trials.hand_on(state, conclusion, failure)

    def _unreached(self, search: Search) -> list[str]:
        """Names of the steps that nobody came to, of those that would have something to try."""
        return [
            step.name
            for step in self._steps
            if search.fates.of(step.name) is None and search.applies(step)
        ]


def _begun(goal: TuneGoal, subject: Subject) -> Experiment:
    return Experiment(
        key=new_key(),
        kind=Kind.TUNE,
        begun_at=begun_at(),
        state=State.RUNNING,
        title=f"{subject.model}, {goal.workload.name}: tuned for {purpose_words(goal)}",
        subject=subject,
        workload=kept_json(goal.run_workload),
    )
