"""The configurations that a tuner has tried, their runs, and what is said of each.

Every run is handed on as soon as it has ended, so that a crash loses none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import msgspec

from app.experiments.experiment import Cell, Experiment, Figures, State
from app.experiments.port import ConfigRefusedError, EngineGoneError
from app.experiments.reporter import Reporter
from app.experiments.tune_bench import TuneBench
from app.experiments.tune_goal import VARIANTS, TuneGoal
from app.experiments.tune_judge import Judgement, Rounds
from app.experiments.tune_objective import Objective
from app.experiments.tune_result import KEPT
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem
from engine_bridge.settings.rules import errors_of

# One more than this and the engine does not seem to bear the settings that are kept.
_MOST_DEATHS = 3


class SpentError(Exception):
    """Fewer runs than are needed are left of the budget, or no time is."""


class Trials:
    """All that was tried of one tuning.

    Attributes:
        experiment: As it was handed on last.
        rounds: What was measured side by side.
    """

    def __init__(
        self,
        bench: TuneBench,
        goal: TuneGoal,
        objective: Objective,
        reporter: Reporter,
        experiment: Experiment,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing tried.

        Args:
            bench: Measures.
            goal: How much may be measured.
            objective: By what is chosen.
            reporter: Handed the experiment after every run.
            experiment: Before its first run.
            clock: Seconds, for the time left.
        """
        self._bench = bench
        self._goal = goal
        self._objective = objective
        self._reporter = reporter
        self.experiment = experiment
        self.rounds = Rounds(objective)
        self._clock = clock
        self._begun_s = clock()
        self._cells: dict[EngineConfig, Cell] = {}
        self._reasons: dict[EngineConfig, str] = {}
        self._misfits: set[EngineConfig] = set()
        self._by_round: list[dict[EngineConfig, float | None]] = []
        self._used = self._kept = self._deaths = 0
        self._first_run_s = self._begun_s
        # What was told last: neither the share nor the end is taken back.
        self._share, self._end_s = 0.0, math.inf
        self._doing = "Looking at the settings"

    # --- What is known ------------------------------------------------------------------

    @property
    def left(self) -> int:
        """Runs that may still be taken and, if as long as those before, will end in time."""
        left = self._goal.measurements - self._used
        # Where it begins is measured in any case: without it there is nothing to tell.
        if not self._goal.seconds or not self._kept:
            return left
        return min(left, max(0, int(self._left_s / self._run_s)))

    @property
    def spent_s(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._begun_s

    @property
    def budget(self) -> int:
        """Runs in total, as far as can be told by now."""
        return self._used + self.left

    @property
    def is_short_of_time(self) -> bool:
        """Whether time, not the number of runs, is what will end it."""
        return self.left < self._goal.measurements - self._used

    @property
    def used(self) -> int:
        """Runs that were taken."""
        return self._used

    @property
    def measured(self) -> tuple[EngineConfig, ...]:
        """Configurations with a run, in the order in which they were tried."""
        return tuple(config for config, cell in self._cells.items() if cell.runs)

    def cell(self, config: EngineConfig) -> Cell:
        """What there is of ``config``; a cell without runs if nothing."""
        return self._cells.get(config) or self._bench.cell(config)

    def values(self, config: EngineConfig) -> list[float | None]:
        """The figure that is told of the result, by run."""
        return [self._objective.value(run) for run in self.cell(config).runs]

    def paired_values(
        self, one: EngineConfig, other: EngineConfig
    ) -> tuple[list[float | None], list[float | None]]:
        """That figure of both, of the rounds that measured both."""
        both = [values for values in self._by_round if one in values and other in values]
        return [values[one] for values in both], [values[other] for values in both]

    def may_try(self, config: EngineConfig) -> bool:
        """Whether ``config`` is measured already, or one more may be."""
        return bool(self.within_limit([config]))

    def within_limit(self, configs: Sequence[EngineConfig]) -> list[EngineConfig]:
        """As many of ``configs`` as may be measured, the first ones."""
        known = set(self.measured)
        new = [config for config in configs if config not in known]
        limit = self._goal.configurations
        room = max(0, limit - len(known)) if limit else len(new)
        return [config for config in configs if config in known or config in new[:room]]

    def broken_rule(self, config: EngineConfig) -> Problem | None:
        """The rule that ``config`` breaks; None if it keeps them all."""
        return next(iter(errors_of(config, self._bench.model)), None)

    def reason(self, config: EngineConfig) -> str:
        """Why ``config`` cannot run, by a rule or the planner; empty where it can.

        Raises:
            StoppedError: If the user stopped meanwhile.
        """
        if config not in self._reasons:
            broken = self.broken_rule(config)
            self._reasons[config] = self._bench.fits(config) if broken is None else broken.message
            if self._reasons[config] and broken is None:
                self._misfits.add(config)
        return self._reasons[config]

    def is_misfit(self, config: EngineConfig) -> bool:
        """Whether ``config`` keeps the rules and the planner says that it does not fit."""
        return bool(self.reason(config)) and config in self._misfits

    # --- What is done -------------------------------------------------------------------

    def announce(self, sentence: str) -> None:
        """Say what is done now."""
        self._doing = sentence
        self._tell()

    def run_round(self, configs: Sequence[EngineConfig]) -> tuple[EngineConfig, ...]:
        """Measure each of ``configs`` once, side by side.

        Returns:
            Those that were measured; the others were refused, and their cells say why.

        Raises:
            SpentError: If fewer runs are left than configurations, and nothing was measured; or if
                the time was over before all of them were.
            StoppedError: If the user stopped the experiment.
            PortError: If the engine can go on with none.
        """
        if self.left < len(configs):
            raise SpentError
        self.rounds.begin()
        self._by_round.append({})
        # Drafts learn from texts they have seen; without any the same work is compared.
        variant = 0
        if any(config.spec_types for config in configs):
            variant = max(len(self.cell(config).runs) for config in configs) % VARIANTS
        return tuple(config for config in configs if self._in_time(config, variant))

    def note(self, config: EngineConfig, *sentences: str, skipped: str = "") -> None:
        """Add what is said of ``config``; ``skipped`` is why it was not measured."""
        cell = self.cell(config)
        self._cells[config] = msgspec.structs.replace(
            cell,
            notes=(*cell.notes, *sentences),
            skipped="" if cell.runs else skipped or cell.skipped,
        )

    def keep(self, config: EngineConfig) -> None:
        """``config`` is the best from now on."""
        self._kept += 1
        cell = self.cell(config)
        extra = cell.extra | {KEPT: float(self._kept)}
        self._cells[config] = msgspec.structs.replace(cell, extra=extra)

    def hand_on(
        self, state: State = State.RUNNING, conclusion: Sequence[str] = (), failure: str = ""
    ) -> Experiment:
        """Hand the experiment on as it is now."""
        self.experiment = msgspec.structs.replace(
            self.experiment,
            state=state,
            cells=tuple(self._cells.values()),
            conclusion=tuple(conclusion),
            failure=failure,
        )
        self._reporter.kept(self.experiment)
        return self.experiment

    def judge(self, one: EngineConfig, other: EngineConfig, rivals: int = 1) -> Judgement:
        """Whether ``one`` is better than ``other``, see ``Rounds.judge``."""
        return self.rounds.judge(one, other, rivals)

    # --- Inside -------------------------------------------------------------------------

    @property
    def _left_s(self) -> float:
        """Seconds until the limit."""
        return self._begun_s + self._goal.seconds - self._clock()

    @property
    def _run_s(self) -> float:
        """Seconds that a run took, with its load, in the mean."""
        return max(1e-9, (self._clock() - self._first_run_s) / max(1, self._used))

    def _in_time(self, config: EngineConfig, variant: int) -> bool:
        if self._goal.seconds and self._kept and self._left_s <= 0:
            raise SpentError
        return self._measure(config, variant)

    def _measure(self, config: EngineConfig, variant: int) -> bool:
        if not self._used:
            self._first_run_s = self._clock()
        self._tell()
        try:
            figures = self._bench.measure(config, variant)
        except (ConfigRefusedError, EngineGoneError) as error:
            self._used += 1  # it took its time, too
            self._deaths += isinstance(error, EngineGoneError)
            self._reasons[config] = str(error)
            self.note(config, skipped=str(error))
            self.hand_on()
            if self._deaths > _MOST_DEATHS:
                raise
            return False
        self._used += 1
        self._take(config, figures, self._bench.disturbed())
        self.hand_on()
        return True

    def _take(self, config: EngineConfig, figures: Figures, disturbed: str) -> None:
        before, made = self.cell(config), self._bench.cell(config)
        self._cells[config] = msgspec.structs.replace(
            before,
            effective=made.effective,
            extra=made.extra | before.extra,
            runs=(*before.runs, figures),
            disturbed=(*before.disturbed, disturbed),
            skipped="",
        )
        asked = figures.requests + figures.failed
        self._by_round[-1][config] = self._objective.value(figures)
        self.rounds.note(config, self._objective.scores(figures), max(1, asked), disturbed)

    def _tell(self) -> None:
        now_s = self._clock()
        share = self._used / self._goal.measurements
        if self._goal.seconds:
            share = max(share, (now_s - self._begun_s) / self._goal.seconds)
        self._share = min(1.0, max(share, self._share))
        left_s = None
        if self._used:
            left_s = self._run_s * (self._goal.measurements - self._used)
            if self._goal.seconds:
                left_s = min(left_s, self._left_s)
            self._end_s = min(self._end_s, now_s + left_s)
            left_s = max(0.0, self._end_s - now_s)
        self._reporter.progressed(self._share, self._doing, left_s)
