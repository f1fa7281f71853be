"""Simulated users on an engine: what each gets the more there are, and how many are too many.

A plain function that blocks; see ADR 25. Each number of users is one cell, measured by one run or
several; together they are the curve.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind, State
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
from app.experiments.users_cell import long_prompt_cell, users_cell
from app.experiments.users_conclusion import concluded
from app.experiments.users_plan import UsersPlan
from app.experiments.users_search import edge_of, next_users
from app.experiments.workload import Workload
from app.experiments.workload_file import kept_json
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig

# A search doubles up and halves down, and looks at the edge again: about so many probes for each
# doubling, and so many more at the end.
_PROBES_PER_DOUBLING = 1.5
_PROBES_AT_EDGE = 3


def simulate_users(
    port: EnginePort,
    config: EngineConfig,
    plan: UsersPlan,
    reporter: Reporter,
    *,
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
        runner: Runs the plan's workload; one that watches this machine by default.
        hashes: Hashes of model files; those kept for this user by default.
        clock: Seconds, for the budget.

    Returns:
        The experiment: done, stopped or failed, with what had been measured.

    Raises:
        DomainError: If the model's file is none, or the plan cannot be carried out, in a sentence.
        WorkloadError: If the workload cannot be used, or does not fit into a slot.
        StoppedError: If the user stopped it before anything was measured.
    """
    plan.refuse_impossible(config)
    preparing = Preparing(port, reporter, plan.workload, config.model_path, hashes=hashes)
    subject = preparing.subject()
    experiment = Experiment(
        key=new_key(),
        kind=Kind.USERS,
        begun_at=begun_at(),
        state=State.RUNNING,
        title=f"{subject.model}, {plan.workload.name}, {plan.title}",
        subject=subject,
        workload=kept_json(plan.workload),
    )
    runner = runner or WorkloadRunner(plan.workload)
    return _Simulating(
        port, config, plan, experiment, runner=runner, reporter=reporter, clock=clock
    ).run()


@dataclass
class _Probed:
    """What was measured of one number of users."""

    workload: Workload
    runs: list[Measured]


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
        self._clock = clock
        self._begun_s = clock()
        self._base = Cell("")
        self._cells: dict[int, Cell] = {}
        self._probed: dict[int, _Probed] = {}
        self._tried: dict[int, Proportion] = {}
        self._long: Cell | None = None
        self._ended = 0
        self._is_spent = False

    def run(self) -> Experiment:
        """Measure until all is done, or the budget is spent, or the user stops it."""
        try:
            applied = self._prepare()
            while (users := self._next()) is not None and self._has_time():
                self._probe(applied, users)
            if self._plan.long_prompt_tok and self._has_time():
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
        return applied

    def _next(self) -> int | None:
        """The number of users that is measured next; None when all is."""
        if self._plan.is_search:
            return next_users(self._tried, self._plan.goal)
        return next((users for users in self._plan.loads if users not in self._probed), None)

    def _has_time(self) -> bool:
        """Whether one more run may begin; the first one always may."""
        if self._probed and self._clock() - self._begun_s >= self._plan.seconds:
            self._is_spent = True
        return not self._is_spent

    def _probe(self, applied: Applied, users: int) -> None:
        """One run with so many users, or one more."""
        probed = self._probed.get(users) or _Probed(self._plan.workload_for(users), [])
        measured = self._play(applied, probed, self._plan.words(users))
        if not measured.figures.requests and not self._probed:
            raise PortError(request_note([measured]))
        probed.runs.append(measured)
        self._probed[users] = probed
        cell, kept = users_cell(self._base, self._plan.words(users), probed.workload, probed.runs,
                                applied.effective)  # fmt: skip
        self._cells[users] = cell
        if kept is not None:
            self._tried[users] = kept
        self._keep(State.RUNNING)

    def _mix(self, applied: Applied) -> None:
        """The same once more while long prompts arrive."""
        users = max(self._probed)
        if self._plan.is_search:
            users = max(1, edge_of(self._tried, self._plan.goal)[0])
        probed = self._probed[users]
        long = self._long_scripts(probed.runs[-1].record.duration_s)
        name = f"{self._plan.words(users)} and long prompts"
        measured = self._play(applied, probed, name, long)
        self._long = long_prompt_cell(self._base, name, probed.workload, measured)
        self._keep(State.RUNNING)

    def _long_scripts(self, duration_s: float) -> tuple[Script, ...]:
        workload = long_workload(self._plan.workload, self._plan.long_prompt_tok)
        each_tok = tok_per_char(self._port, sample_text(workload))
        return arriving(scripts_of(workload, each_tok), duration_s)

    def _play(
        self, applied: Applied, probed: _Probed, words: str, beside: tuple[Script, ...] = ()
    ) -> Measured:
        number = len(probed.runs)
        sentence = words if not number or beside else f"{words}, once more"
        self._tell(sentence, 0.0)
        self._runner = self._runner.for_workload(probed.workload)
        self._runner.warm_up(self._port)
        measured = self._runner.run(
            self._port,
            applied,
            variant=number,
            progressed=lambda ended, total: self._tell(sentence, ended / max(1, total)),
            beside=beside,
        )
        self._ended += 1
        return measured

    # --- Inside -------------------------------------------------------------------------

    def _tell(self, sentence: str, share: float) -> None:
        """How far it is, when ``share`` of this probe is done."""
        done = self._ended + share
        if self._plan.is_search:
            doublings = math.log2(self._plan.goal.most) + 1
            total = _PROBES_PER_DOUBLING * doublings + _PROBES_AT_EDGE
            # How long it takes depends on what it finds.
            self._reporter.progressed(min(done / total, 0.95), sentence, None)
            return
        total = len(self._plan.loads) + bool(self._plan.long_prompt_tok)
        self._reporter.progressed(done / total, sentence, None)

    def _keep(self, state: State, failure: str = "") -> None:
        cells = [self._cells[users] for users in sorted(self._cells)]
        self._experiment = msgspec.structs.replace(
            self._experiment,
            state=state,
            failure=failure,
            cells=(*cells, *([] if self._long is None else [self._long])),
        )
        if state is not State.RUNNING:
            self._experiment = concluded(
                self._experiment, self._plan, self._tried, is_spent=self._is_spent
            )
        self._reporter.kept(self._experiment)

    def _finish(self, state: State, failure: str = "") -> Experiment:
        # What measured nothing is no experiment to look at later.
        if self._probed:
            self._keep(state, failure)
            return self._experiment
        return msgspec.structs.replace(self._experiment, state=state, failure=failure)
