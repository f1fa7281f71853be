"""Simulated users on an engine: what each gets the more there are, and how many are too many.

A plain function that blocks; see ADR 25. Each load is one cell, measured by one run or several;
together they are the curve.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from app.experiments.experiment import Cell, Experiment, State
from app.experiments.keys import begun_at, new_key
from app.experiments.long_prompt import arriving, long_workload
from app.experiments.measuring import Measured, configured_cell, request_note
from app.experiments.model_hash import ModelHashes
from app.experiments.play import tok_per_char
from app.experiments.port import EnginePort, PortError, StoppedError
from app.experiments.proportion import Proportion
from app.experiments.reporter import Reporter
from app.experiments.runner import WorkloadRunner
from app.experiments.script import Script
from app.experiments.scripting import sample_text, scripts_of
from app.experiments.sweep_start import Preparing
from app.experiments.users_cell import kept_of, long_prompt_cell, users_cell
from app.experiments.users_conclusion import concluded
from app.experiments.users_plan import UsersPlan
from app.experiments.users_resume import (
    begun,
    loads_of,
    long_cell_of,
    refuse_other_words,
    resumed,
)
from app.experiments.users_search import edge_of, next_users
from app.experiments.users_time import UsersTime
from app.experiments.workload import Workload
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig


def simulate_users(
    port: EnginePort,
    config: EngineConfig,
    plan: UsersPlan,
    reporter: Reporter,
    *,
    kept: Experiment | None = None,
    runner: WorkloadRunner | None = None,
    hashes: ModelHashes | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Experiment:
    """Have users work on ``config``.

    Args:
        port: The engine.
        config: Its settings, with its model.
        plan: How many users, or what to search for.
        reporter: Told how far it is; handed the experiment after every probe.
        kept: An experiment of the same work and settings to go on with.
        runner: Runs the plan's workload; one that watches this machine by default.
        hashes: Hashes of model files; those kept for this user by default.
        clock: Seconds, for the budget and the time left.

    Returns:
        The experiment: done, stopped or failed, with what had been measured.

    Raises:
        DomainError: If the model's file is none, the plan cannot be carried out, or ``kept`` is of
            something else, in a sentence.
        WorkloadError: If the workload cannot be used, or does not fit into a slot.
        StoppedError: If the user stopped it before anything was measured.
    """
    plan.refuse_impossible(config)
    if kept is not None:
        refuse_other_words(kept, plan, config)
    preparing = Preparing(port, reporter, plan.workload, config.model_path, hashes=hashes)
    subject = preparing.subject()
    if kept is not None:
        experiment = resumed(kept, plan, config, subject)
    else:
        experiment = begun(plan, config, subject, key=new_key(), begun_at=begun_at())
    runner = runner or WorkloadRunner(plan.workload)
    return _Simulating(
        port, config, plan, experiment, runner=runner, reporter=reporter, clock=clock
    ).run()


class _Simulating:
    """One experiment under way."""

    def __init__(
        self,
        port: EnginePort,
        config: EngineConfig,
        plan: UsersPlan,
        experiment: Experiment,
        *,
        runner: WorkloadRunner,
        reporter: Reporter,
        clock: Callable[[], float],
    ) -> None:
        self._port = port
        self._config = config
        self._plan = plan
        self._runner = runner
        self._reporter = reporter
        self._experiment = experiment
        self._base = Cell("")
        self._cells = loads_of(experiment)
        self._long = long_cell_of(experiment)
        self._time = UsersTime(plan, config.slots, clock)

    def run(self) -> Experiment:
        """Measure until all is done, or the budget is spent, or the user stops it."""
        try:
            applied = self._prepare()
            while (load := self._next()) is not None and self._time.has_more():
                self._probe(applied, load)
            if self._plan.long_prompt_tok and self._long is None and self._time.has_more():
                self._mix(applied)
        except StoppedError:
            return self._finish(State.STOPPED)
        except PortError as error:
            return self._finish(State.FAILED, str(error))
        return self._finish(State.DONE)

    # --- The parts ----------------------------------------------------------------------

    def _prepare(self) -> Applied:
        self._reporter.progressed(0.0, "Loading the model", None)
        applied = self._port.apply(self._config)
        self._plan.refuse_too_long(applied.effective.ctx_per_slot_tok)
        # How much could be read at most is told with benches: here it would be in every cell.
        made = configured_cell(self._port, self._config, applied)
        self._base = msgspec.structs.replace(made, notes=())
        is_long_due = bool(self._plan.long_prompt_tok) and self._long is None
        self._time.begin(
            [load for load in self._plan.loads if load not in self._cells], is_long_due=is_long_due
        )
        return applied

    def _next(self) -> float | None:
        """The load that is measured next; None when all is."""
        if self._plan.is_search:
            tried = {round(load): kept for load, kept in self._tried.items()}
            return next_users(tried, self._plan.goal)
        return next((load for load in self._plan.loads if load not in self._cells), None)

    @property
    def _tried(self) -> dict[float, Proportion]:
        """Requests that kept the limits, by the load; empty without limits."""
        judged = ((load, kept_of(cell)) for load, cell in self._cells.items())
        return {load: kept for load, kept in judged if kept is not None}

    def _probe(self, applied: Applied, load: float) -> None:
        """One run at that load, or one more."""
        workload, name = self._plan.workload_for(load), self._plan.words(load)
        before = self._cells.get(load, self._base)
        measured = self._play(applied, workload, name, len(before.runs))
        if not measured.figures.requests and not self._cells:
            raise PortError(request_note([measured]))
        self._cells[load] = users_cell(before, name, workload, measured, applied.effective)
        self._keep(State.RUNNING)

    def _mix(self, applied: Applied) -> None:
        """The same once more while long prompts arrive."""
        load = max(self._cells)
        if self._plan.is_search:
            load = max(1, edge_of(self._tried, self._plan.goal)[0])
        workload, cell = self._plan.workload_for(load), self._cells[load]
        long = self._long_scripts(cell.runs[-1].duration_s)
        name = f"{self._plan.words(load)} and long prompts"
        measured = self._play(applied, workload, name, len(cell.runs), long)
        self._long = long_prompt_cell(self._base, name, workload, measured)
        self._keep(State.RUNNING)

    def _long_scripts(self, duration_s: float) -> tuple[Script, ...]:
        workload = long_workload(self._plan.workload, self._plan.long_prompt_tok)
        each_tok = tok_per_char(self._port, sample_text(workload))
        return arriving(scripts_of(workload, each_tok), duration_s)

    def _play(
        self,
        applied: Applied,
        workload: Workload,
        words: str,
        number: int,
        beside: tuple[Script, ...] = (),
    ) -> Measured:
        """One run; ``number`` others of the same load were before it."""
        sentence = words if not number or beside else f"{words}, once more"
        self._tell(workload, sentence, 0.0)
        self._runner = self._runner.for_workload(workload)
        self._runner.warm_up(self._port)
        measured = self._runner.run(
            self._port,
            applied,
            variant=number,
            progressed=lambda ended, total: self._tell(workload, sentence, ended / max(1, total)),
            beside=beside,
        )
        self._time.ended(workload)
        return measured

    # --- Inside -------------------------------------------------------------------------

    def _tell(self, workload: Workload, sentence: str, share: float) -> None:
        """How far it is, when ``share`` of this run is done."""
        told = self._time.progress(workload, share)
        self._reporter.progressed(told.share, sentence, told.left_s)

    def _keep(self, state: State, failure: str = "") -> None:
        cells = [self._cells[load] for load in sorted(self._cells)]
        self._experiment = msgspec.structs.replace(
            self._experiment,
            state=state,
            failure=failure,
            cells=(*cells, *([] if self._long is None else [self._long])),
            conclusion=(),
        )
        if state is not State.RUNNING:
            self._experiment = concluded(
                self._experiment, self._plan, self._tried, is_spent=self._time.is_spent
            )
        self._reporter.kept(self._experiment)

    def _finish(self, state: State, failure: str = "") -> Experiment:
        # What measured nothing is no experiment to look at later.
        if self._cells:
            self._keep(state, failure)
            return self._experiment
        return msgspec.structs.replace(self._experiment, state=state, failure=failure)
