"""A server measured with the ruler of the embedded engine, and beside it if that is wanted.

A plain function that blocks; see ADR 30.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from app.experiments.bench import MOST_RUNS
from app.experiments.conditions import Conditions
from app.experiments.experiment import Cell, Experiment, Figures, Kind, State, Subject
from app.experiments.keys import begun_at, new_key
from app.experiments.measures import BY_FIGURE
from app.experiments.measuring import Measured, configured_cell, measured_run, request_note
from app.experiments.peak_source import peak_of
from app.experiments.play import tok_per_char
from app.experiments.port import ConfigRefusedError, EnginePort, PortError, StoppedError
from app.experiments.probe_greeting import Greeting, greet
from app.experiments.probe_port import ServerPort
from app.experiments.probe_words import (
    CACHES,
    CLOCK,
    SAME_MODEL,
    UNWATCHED_HERE,
    UNWATCHED_THERE,
    counting_note,
    dialect_note,
    ending_notes,
    greeting_note,
    own_words,
)
from app.experiments.reporter import Reporter
from app.experiments.script import Script
from app.experiments.scripting import sample_text, scripts_of
from app.experiments.server_answer import Answer
from app.experiments.server_process import process_of
from app.experiments.subject import engine_line, machine_line
from app.experiments.verdict import Outcome, verdict_of_pairs
from app.experiments.workload import Workload
from app.experiments.workload_error import WorkloadError
from app.experiments.workload_file import kept_json
from app.experiments.workload_fit import fit_problem
from engine_bridge.gguf_window import shown_name
from engine_bridge.settings.config import EngineConfig

EMBEDDED = "embedded engine"
_COMPARED = ("tpot_s", "ttft_s", "total_tok_s")


@dataclass(frozen=True)
class Beside:
    """The embedded engine, to be measured beside the server.

    Attributes:
        port: The engine.
        config: What it runs.
    """

    port: EnginePort
    config: EngineConfig


@dataclass
class _Side:
    """One of those that take turns; its process is 0 where that is not on this machine."""

    name: str
    port: EnginePort
    pid: int
    cell: Cell
    is_server: bool = False
    is_watched: bool = True
    peak_bytes_per_s: float | None = None
    measured: list[Measured] = field(default_factory=list)

    def with_runs(self) -> Cell:
        failures = request_note(self.measured)
        return msgspec.structs.replace(
            self.cell,
            runs=tuple(run.figures for run in self.measured),
            disturbed=tuple(run.disturbed for run in self.measured),
            notes=(*self.cell.notes, *([failures] if failures else [])),
        )


def check_runs(runs: int) -> None:
    """Refuse a number of runs that cannot be.

    Raises:
        WorkloadError: In a sentence.
    """
    if not 1 <= runs <= MOST_RUNS:
        raise WorkloadError(f"A probe takes 1 to {MOST_RUNS:,} runs; got {runs:,}.")


def probe(
    port: ServerPort,
    model: str,
    workload: Workload,
    reporter: Reporter,
    runs: int = 5,
    *,
    beside: Beside | None = None,
    watch: Callable[[int], Conditions] = Conditions,
    clock: Callable[[], float] = time.monotonic,
) -> Experiment:
    """Measure the server with ``workload``.

    Args:
        port: To the server.
        model: What it calls the model; empty takes the only one that there is.
        workload: The work of each run.
        reporter: Told how far it is; handed the experiment after every run.
        runs: How often each is measured after the warm-up, 1 to 1,000.
        beside: Measured on the same work in turns; None measures the server alone.
        watch: Makes what watches this machine, for the process of an engine or server.
        clock: Seconds, for the time that is left.

    Returns:
        The experiment: done, stopped or failed, with the runs that had ended.

    Raises:
        WorkloadError: If the workload, or the number of runs, cannot be used.
        ConfigRefusedError: If the embedded engine cannot do it.
        PortError: If the server cannot be measured at all.
    """
    check_runs(runs)
    sample_text(workload)
    under_way = _Probe(
        port, model, workload, reporter, runs=runs, beside=beside, watch=watch, clock=clock
    )
    return under_way.run()


def salted(scripts: Sequence[Script], salt: str) -> tuple[Script, ...]:
    """The same conversations with another beginning, which no cache has seen."""
    made = []
    for script in scripts:
        if script.system:
            made.append(msgspec.structs.replace(script, system=f"{salt}\n{script.system}"))
            continue
        first = script.turns[0]
        first = msgspec.structs.replace(first, text=f"{salt}\n{first.text}")
        made.append(msgspec.structs.replace(script, turns=(first, *script.turns[1:])))
    return tuple(made)


class _Probe:
    """One probe under way."""

    def __init__(
        self,
        port: ServerPort,
        model: str,
        workload: Workload,
        reporter: Reporter,
        *,
        runs: int,
        beside: Beside | None,
        watch: Callable[[int], Conditions],
        clock: Callable[[], float],
    ) -> None:
        self._port = port
        self._model = model
        self._workload = workload
        self._reporter = reporter
        self._runs = runs
        self._beside = beside
        self._watch = watch
        self._clock = clock
        self._scripts: tuple[Script, ...] = ()
        self._sides: list[_Side] = []
        self._answers: list[Answer] = []
        self._part_s: list[float] = []
        self._experiment = Experiment(
            key=new_key(),
            kind=Kind.PROBE,
            begun_at=begun_at(),
            state=State.RUNNING,
            title=f"{port.address.place}, {workload.name}",
            subject=Subject(model_path=port.address.base_url),
            workload=kept_json(workload),
        )

    def run(self) -> Experiment:
        state, failure = State.DONE, ""
        try:
            self._prepare()
            for side in self._sides:
                self._warm_up(side)
            for number in range(self._runs):
                # Back and forth, so that what drifts hits both alike.
                for side in self._sides if number % 2 == 0 else reversed(self._sides):
                    self._measure(side, number)
        except StoppedError:
            state = State.STOPPED
        except PortError as error:
            if not any(side.measured for side in self._sides):
                raise
            state, failure = State.FAILED, str(error)
        return self._finish(state, failure)

    # --- The parts ----------------------------------------------------------------------

    def _prepare(self) -> None:
        self._reporter.progressed(0.0, f"Asking {self._port.address.place}", None)
        greeting = greet(self._port, self._model, sample_text(self._workload))
        rate = greeting.tok_per_char
        address = self._port.address
        pid = process_of(address)
        notes = [CLOCK, CACHES, dialect_note(self._port.dialect), greeting_note(greeting)]
        if pid is None:
            notes.append(UNWATCHED_HERE if address.is_loopback else UNWATCHED_THERE)
        cell = Cell(name=address.place, notes=tuple(filter(None, notes)))
        # The work of a server that is not known would be taken for that of others.
        is_watched = pid is not None or not address.is_loopback
        self._sides = [_Side(cell.name, self._port, pid or 0, cell, True, is_watched)]
        if self._beside is not None:
            rate = self._prepare_beside(self._beside)
        self._scripts = scripts_of(self._workload, rate)
        self._experiment = self._introduced(greeting)

    def _prepare_beside(self, beside: Beside) -> float:
        """Load the embedded engine; gives the tokens of a character."""
        self._reporter.progressed(0.0, "Loading the model beside", None)
        applied = beside.port.apply(beside.config)
        problem = fit_problem(self._workload, applied.effective.ctx_per_slot_tok)
        if problem is not None:
            raise ConfigRefusedError(problem)
        cell = configured_cell(beside.port, beside.config, applied)
        name = EMBEDDED if cell.name == "defaults" else f"{EMBEDDED}, {cell.name}"
        notes = [*cell.notes, engine_line(beside.port.hello)]
        slots = applied.effective.slots
        if self._workload.rate_req_s is None and self._workload.users > slots:
            notes.append(
                f"{self._workload.users:,} users share its {slots:,} slots (--set slots=…); TTFT "
                "counts the wait."
            )
        cell = msgspec.structs.replace(cell, name=name, notes=tuple(notes))
        peak_bytes_per_s = peak_of(beside.port, applied).bytes_per_s
        side = _Side(name, beside.port, beside.port.pid, cell, peak_bytes_per_s=peak_bytes_per_s)
        self._sides.append(side)
        return tok_per_char(beside.port, sample_text(self._workload))

    def _introduced(self, greeting: Greeting) -> Experiment:
        where = "" if self._port.address.is_loopback else "client: "
        model = self._port.model
        if model.lower().endswith(".gguf"):  # where the file lies is nobody's business
            model = shown_name(model)
        return msgspec.structs.replace(
            self._experiment,
            title=f"{model} at {self._port.address.place}, {self._workload.name}",
            subject=Subject(
                machine=f"{where}{machine_line()}",
                engine=greeting.server or "an OpenAI-compatible server",
                model=model,
                model_path=self._port.address.base_url,
            ),
        )

    def _warm_up(self, side: _Side) -> None:
        thrown_away = self._play(side, f"Warm-up: {side.name}", _salt())
        self._port.take_answers()
        if not thrown_away.figures.requests:
            raise PortError(request_note([thrown_away]))

    def _measure(self, side: _Side, number: int) -> None:
        part = f"Run {number + 1} of {self._runs}: {side.name}"
        measured = self._play(side, part, self._salt_of(number))
        if side.is_server:
            answers = self._port.take_answers()
            self._answers += answers
            measured = _without_unknown(measured, answers)
        if not measured.figures.requests:
            raise PortError(request_note([measured]))
        side.measured.append(measured)
        self._keep(State.RUNNING)

    def _play(self, side: _Side, part: str, salt: str) -> Measured:
        begun_s = self._clock()
        self._tell(part, 0.0)
        with self._watch(side.pid) as conditions:
            measured = measured_run(
                side.port,
                salted(self._scripts, salt),
                self._workload,
                conditions,
                peak_bytes_per_s=side.peak_bytes_per_s,
                progressed=lambda ended, total: self._tell(part, ended / max(1, total)),
            )
        self._part_s.append(self._clock() - begun_s)
        if side.is_watched:
            return measured
        return Measured(measured.record, measured.figures)

    def _salt_of(self, number: int) -> str:
        """That of a run: the same for both sides."""
        return f"Run {uuid.uuid5(_NAMESPACE, f'{self._experiment.key} {number}').hex[:12]}."

    # --- Inside -------------------------------------------------------------------------

    def _tell(self, part: str, share_of_part: float) -> None:
        parts = (self._runs + 1) * len(self._sides)
        done = len(self._part_s) + share_of_part
        left_s = None
        if self._part_s:
            left_s = sum(self._part_s) / len(self._part_s) * max(0.0, parts - done)
        self._reporter.progressed(min(1.0, done / parts), part, left_s)

    def _finish(self, state: State, failure: str) -> Experiment:
        self._keep(state, failure)
        return self._experiment

    def _keep(self, state: State, failure: str = "") -> None:
        cells = [side.with_runs() for side in self._sides]
        if cells and cells[0].runs:
            cells[0] = self._told(cells[0])
        self._experiment = msgspec.structs.replace(
            self._experiment,
            state=state,
            failure=failure,
            cells=tuple(cells),
            conclusion=self._conclusion(cells) if state is not State.RUNNING else (),
        )
        if any(cell.runs for cell in cells):
            self._reporter.kept(self._experiment)

    def _told(self, cell: Cell) -> Cell:
        """The server's cell with what its answers say of themselves."""
        sentence, figures = own_words(self._answers)
        asked_tok = sum(turn.new_tok for script in self._scripts for turn in script.turns)
        runs = len(cell.runs)
        notes = [counting_note(self._answers), *ending_notes(self._answers, asked_tok * runs)]
        return msgspec.structs.replace(
            cell,
            extra=cell.extra | figures,
            notes=(*filter(None, [*notes, sentence]), *cell.notes),
        )

    def _conclusion(self, cells: Sequence[Cell]) -> tuple[str, ...]:
        if len(cells) < 2 or not all(cell.runs for cell in cells):
            return ()
        sentences = []
        for key in _COMPARED:
            measure = BY_FIGURE[key]
            server, own = ([getattr(run, key) for run in cell.runs] for cell in cells)
            names = (f"the server at {cells[0].name}", "the embedded engine")
            verdict = verdict_of_pairs(server, own, measure, names)
            sentences.append(verdict.sentence)
            if verdict.outcome is Outcome.UNKNOWN:  # the others are as unknown
                break
        return (*(said[:1].upper() + said[1:] for said in sentences), SAME_MODEL)


_NAMESPACE = uuid.UUID("3f0e8b5e-8a39-4d0d-9c0c-0f5e6c4d2a11")


def _salt() -> str:
    return f"Run {uuid.uuid4().hex[:12]}."


def _without_unknown(measured: Measured, answers: Sequence[Answer]) -> Measured:
    """``measured`` without figures that rest on what the server did not tell."""
    if any(a.usage is not None and a.usage.cached_tok is not None for a in answers):
        return measured
    figures: Figures = msgspec.structs.replace(measured.figures, reused_share=None)
    return Measured(measured.record, figures, measured.disturbed)
