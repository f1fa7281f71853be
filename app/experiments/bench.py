"""One configuration measured properly: a warm-up that is thrown away, then several equal runs.

A plain function that blocks; see ADR 25.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.keys import begun_at, new_key
from app.experiments.measuring import Measured, configured_cell, name_of, request_note
from app.experiments.model_hash import ModelHashes
from app.experiments.port import ConfigRefusedError, EnginePort, PortError, StoppedError
from app.experiments.reporter import Reporter
from app.experiments.runner import Runner, WorkloadRunner
from app.experiments.scripting import sample_text
from app.experiments.subject import hashed_subject
from app.experiments.workload import Workload
from app.experiments.workload_error import WorkloadError
from app.experiments.workload_file import kept_json
from app.experiments.workload_fit import fit_problem, sharing_remarks
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig

USUAL_RUNS = 5
"""Fewer show too little of their spread."""

MOST_RUNS = 1_000
# The time of a run, guessed from less of the warm-up than this, would jump about.
_LEAST_SHARE = 0.1


def bench(
    port: EnginePort,
    config: EngineConfig,
    workload: Workload,
    reporter: Reporter,
    runs: int = USUAL_RUNS,
    *,
    runner: Runner | None = None,
    hashes: ModelHashes | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Experiment:
    """Measure ``config`` with ``workload``.

    Args:
        port: The engine.
        config: What to measure, with its model.
        workload: The work of each run.
        reporter: Told how far it is; handed the experiment after every run.
        runs: How often it is measured after the warm-up, 1 to 1,000.
        runner: Runs the workload; one that watches this machine by default.
        hashes: Hashes of model files; those kept for this user by default.
        clock: Seconds, for the time that is left.

    Returns:
        The experiment: done, stopped or failed, with the runs that had ended.

    Raises:
        WorkloadError: If the workload, or the number of runs, cannot be used.
        ConfigRefusedError: If a conversation of it does not fit into a slot.
    """
    refuse_impossible(config, workload, runs)
    under_way = _Bench(
        port,
        config,
        workload,
        reporter,
        runs=runs,
        runner=runner or WorkloadRunner(workload),
        hashes=hashes or ModelHashes(),
        clock=clock,
    )
    return under_way.run()


class _Bench:
    """One bench under way."""

    def __init__(
        self,
        port: EnginePort,
        config: EngineConfig,
        workload: Workload,
        reporter: Reporter,
        *,
        runs: int,
        runner: Runner,
        hashes: ModelHashes,
        clock: Callable[[], float],
    ) -> None:
        self._port = port
        self._config = config
        self._workload = workload
        self._reporter = reporter
        self._runs = runs
        self._runner = runner
        self._hashes = hashes
        self._clock = clock
        self._begun_s = 0.0  # when the part under way began
        self._part_s: list[float] = []  # how long each took that has ended, the warm-up first
        self._measured: list[Measured] = []
        self._cell = Cell(name_of(config))
        self._experiment = Experiment(
            key=new_key(),
            kind=Kind.BENCH,
            begun_at=begun_at(),
            state=State.RUNNING,
            title=workload.name,
            subject=Subject(model_path=config.model_path),
            workload=kept_json(workload),
        )

    def run(self) -> Experiment:
        try:
            applied = self._prepare()
            self._warm_up(applied)
            for number in range(1, self._runs + 1):
                self._measure(applied, number)
        except StoppedError:
            return self._finish(State.STOPPED)
        except PortError as error:
            return self._finish(State.FAILED, str(error))
        return self._finish(State.DONE)

    # --- The parts ----------------------------------------------------------------------

    def _prepare(self) -> Applied:
        self._reporter.progressed(0.0, "Loading the model", None)
        applied = self._port.apply(self._config)
        _refuse_too_long(self._workload, applied.effective.ctx_per_slot_tok)
        path = self._config.model_path
        subject = hashed_subject(self._port, path, applied.model, self._hashes, self._reporter)
        self._cell = configured_cell(self._port, self._config, applied)
        self._cell = msgspec.structs.replace(
            self._cell, notes=(*self._cell.notes, *self._remarks(applied))
        )
        self._experiment = msgspec.structs.replace(
            self._experiment,
            subject=subject,
            title=f"{subject.model}, {self._workload.name}, {self._cell.name}",
        )
        return applied

    def _remarks(self, applied: Applied) -> list[str]:
        remarks = list(sharing_remarks(self._workload, applied.effective.slots))
        if self._has_drafts:
            remarks.append(
                "Each run had other texts of the same kind, since drafts learn from texts they "
                "have seen."
            )
        return remarks

    @property
    def _has_drafts(self) -> bool:
        return bool(self._config.spec_types)

    def _warm_up(self, applied: Applied) -> None:
        thrown_away = self._play(applied, "Warm-up", 0)
        if not thrown_away.figures.requests:
            raise PortError(request_note([thrown_away]))

    def _measure(self, applied: Applied, number: int) -> None:
        variant = number if self._has_drafts else 0
        measured = self._play(applied, f"Run {number} of {self._runs}", variant)
        self._measured.append(measured)
        self._experiment = msgspec.structs.replace(self._experiment, cells=(self._whole_cell(),))
        self._reporter.kept(self._experiment)

    def _play(self, applied: Applied, part: str, variant: int) -> Measured:
        self._begun_s = self._clock()
        self._tell(part, 0.0)
        measured = self._runner.run(
            self._port,
            applied,
            variant=variant,
            progressed=lambda ended, total: self._tell(part, ended / max(1, total)),
        )
        self._part_s.append(self._clock() - self._begun_s)
        return measured

    def _finish(self, state: State, failure: str = "") -> Experiment:
        self._experiment = msgspec.structs.replace(
            self._experiment, state=state, failure=failure, cells=(self._whole_cell(),)
        )
        # What measured nothing is no experiment to look at later.
        if self._measured:
            self._reporter.kept(self._experiment)
        return self._experiment

    # --- Inside -------------------------------------------------------------------------

    def _tell(self, part: str, share_of_part: float) -> None:
        parts = self._runs + 1
        done = len(self._part_s) + share_of_part
        each_s = self._usual_s(share_of_part)
        left_s = None if each_s is None else each_s * (parts - done)
        self._reporter.progressed(done / parts, part, left_s)

    def _usual_s(self, share_of_part: float) -> float | None:
        """How long a run takes, by those that have ended; None while that is not known."""
        if self._part_s:
            # A warm-up counts tokens and fills caches: it says less than any run.
            ended = self._part_s[1:] or self._part_s
            return sum(ended) / len(ended)
        if share_of_part < _LEAST_SHARE:
            return None
        return (self._clock() - self._begun_s) / share_of_part

    def _whole_cell(self) -> Cell:
        """The cell with the runs so far."""
        failures = request_note(self._measured)
        return msgspec.structs.replace(
            self._cell,
            runs=tuple(run.figures for run in self._measured),
            disturbed=tuple(run.disturbed for run in self._measured),
            notes=(*self._cell.notes, *([failures] if failures else [])),
        )


def refuse_impossible(config: EngineConfig, workload: Workload, runs: int) -> None:
    """Refuse what cannot be measured, as far as that is known without an engine.

    Raises:
        WorkloadError: If the workload, or the number of runs, cannot be used.
        ConfigRefusedError: If a conversation of it does not fit into a slot.
    """
    if not 1 <= runs <= MOST_RUNS:
        raise WorkloadError(f"A bench takes 1 to {MOST_RUNS:,} runs; got {runs:,}.")
    sample_text(workload)  # the user's own text, if it is one, can be read
    _refuse_too_long(workload, config.slot_cap_tok)


def _refuse_too_long(workload: Workload, ctx_per_slot_tok: int) -> None:
    problem = fit_problem(workload, ctx_per_slot_tok)
    if problem is not None:
        raise ConfigRefusedError(problem)
