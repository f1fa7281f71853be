"""A sweep: every combination of some settings measured in rounds, so that drift hits all alike.

Each visit of a cell applies it, has it work a moment, and keeps the run that follows as soon as it
has ended: what stops the sweep costs at most the run in progress. See ``sweep_order`` for the
order, ``sweep_resume`` for going on with one that was stopped, ``ranking`` for what comes out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import msgspec

from app.experiments.experiment import Cell, Experiment, State
from app.experiments.grid import GridCell
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.measuring import (
    Measured,
    changed_values,
    configured_cell,
    request_note,
)
from app.experiments.port import EnginePort, PortError, StoppedError
from app.experiments.reporter import Reporter
from app.experiments.runner import Runner
from app.experiments.sweep_conclusion import concluded
from app.experiments.sweep_order import groups_of, order_of_round
from app.experiments.workload import Workload
from engine_bridge.settings.domain import DomainError

USUAL_ROUNDS = 5
"""The least that give an interval."""
MOST_ROUNDS = 100
AGAIN = " It was disturbed again when it was repeated at the end."
"""Ends the sentence of a disturbed run that is not repeated once more."""


@dataclass(frozen=True)
class Sweep:
    """What is to be measured.

    Attributes:
        cells: The combinations; those that cannot run say why.
        measure: By what the best is chosen.
        rounds: How often each is measured, 1 to ``MOST_ROUNDS``; an interval needs 5.
        seed: Of the order.
    """

    cells: tuple[GridCell, ...]
    measure: Measure
    rounds: int = USUAL_ROUNDS
    seed: int = 1

    def check(self) -> None:
        """Refuse what cannot be measured.

        Raises:
            DomainError: In a sentence.
        """
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise DomainError(
                f"A sweep takes 1 to {MOST_ROUNDS} rounds; got {self.rounds:,}. Five are the least "
                "that give an interval."
            )
        if all(cell.skipped for cell in self.cells):
            reasons = dict.fromkeys(cell.skipped for cell in self.cells)
            raise DomainError(f"None of these combinations can run: {' '.join(reasons)}")


def usual_measure(workload: Workload) -> Measure:
    """By what the best is chosen unless it is said: total throughput, of one user theirs."""
    is_alone = workload.users == 1 and workload.rate_req_s is None
    return BY_FIGURE["user_tok_s" if is_alone else "total_tok_s"]


def cells_of(cells: Sequence[GridCell]) -> tuple[Cell, ...]:
    """The combinations as parts of an experiment in which nothing is measured yet."""
    return tuple(
        Cell(name=cell.name, config=changed_values(cell.config), skipped=cell.skipped)
        for cell in cells
    )


def sweep(
    port: EnginePort,
    asked: Sweep,
    runner: Runner,
    reporter: Reporter,
    experiment: Experiment,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Experiment:
    """Measure what ``experiment`` has not yet of ``asked``.

    Args:
        port: The engine.
        asked: What is to be measured.
        runner: Runs the workload.
        reporter: Hears of every run as it ends.
        experiment: With the cells of ``asked`` in their order and the runs that are kept.
        clock: Seconds, for the time left.

    Returns:
        The experiment as it is when all is measured, or when the user stopped it.
    """
    return _Sweeping(port, asked, runner, reporter, experiment, clock=clock).run()


@dataclass(frozen=True)
class _Visit:
    """One run of one cell, the ``number``-th from 0; ``is_repeat`` replaces a disturbed one."""

    place: int
    number: int
    is_repeat: bool = False


class _Sweeping:
    """One sweep under way."""

    def __init__(
        self,
        port: EnginePort,
        asked: Sweep,
        runner: Runner,
        reporter: Reporter,
        experiment: Experiment,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._port = port
        self._asked = asked
        self._runner = runner
        self._reporter = reporter
        self._experiment = experiment
        self._cells = list(experiment.cells)
        self._clock = clock
        self._todo = self._left = 0
        # Visits that are ahead, and how long those took that have ended, by their cell.
        self._ahead: Counter[int] = Counter()
        self._took_s: dict[int, list[float]] = {}
        # Drafts learn from texts they have seen, so that the same ones would come out faster.
        self._has_drafts = any(cell.config.spec_types for cell in asked.cells)

    def run(self) -> Experiment:
        """Measure until all is done or the user stops it."""
        state = State.DONE
        try:
            for visits in (self._rounds, self._repeats):
                todo = list(visits())
                self._todo = len(todo)
                self._ahead = Counter(visit.place for visit in todo)
                for number, visit in enumerate(todo):
                    self._left = len(todo) - number
                    self._ahead[visit.place] -= 1
                    if not self._cells[visit.place].skipped:
                        self._visit(visit)
        except StoppedError:
            state = State.STOPPED
        self._keep(state)
        return self._experiment

    # --- What is to be done -------------------------------------------------------------

    def _rounds(self) -> Iterator[_Visit]:
        # By what was asked for, so that one that is gone on with keeps the order it had.
        cells = self._asked.cells
        places = [place for place, cell in enumerate(cells) if not cell.skipped]
        groups = groups_of([cells[place].config for place in places])
        for number in range(self._asked.rounds):
            for at in order_of_round(groups, number, self._asked.seed):
                if len(self._cells[places[at]].runs) <= number:
                    yield _Visit(places[at], number)

    def _repeats(self) -> Iterator[_Visit]:
        """Disturbed runs once more, unless that is how it is here."""
        if is_restless(self._cells):
            return
        for place, cell in enumerate(self._cells):
            for number, sentence in enumerate(cell.disturbed):
                if sentence and not sentence.endswith(AGAIN):
                    yield _Visit(place, number, is_repeat=True)

    # --- One visit ----------------------------------------------------------------------

    def _visit(self, visit: _Visit) -> None:
        cell = self._cells[visit.place]
        begun_s = self._clock()
        self._tell(visit, 0.0)
        try:
            config = self._asked.cells[visit.place].config
            applied = self._port.apply(config)
            made = configured_cell(self._port, config, applied)
            cell = msgspec.structs.replace(
                cell, effective=made.effective, extra=cell.extra | made.extra
            )
            self._runner.warm_up(self._port)
            measured = self._runner.run(
                self._port,
                applied,
                variant=visit.number if self._has_drafts else 0,
                progressed=lambda ended, total: self._tell(visit, ended / max(1, total)),
            )
        except StoppedError:
            raise
        except PortError as error:
            self._cells[visit.place] = given_up(cell, str(error))
        else:
            self._cells[visit.place] = _with_run(cell, visit, measured)
            self._took_s.setdefault(visit.place, []).append(self._clock() - begun_s)
        self._keep(State.RUNNING)

    def _tell(self, visit: _Visit, share: float) -> None:
        """How far it is, when ``share`` of this visit is done."""
        name = self._cells[visit.place].name
        if visit.is_repeat:
            sentence = f"{name}: run {visit.number + 1} once more, for it was disturbed"
        else:
            sentence = f"Round {visit.number + 1} of {self._asked.rounds}: {name}"
        runs = sum(len(cell.runs) for cell in self._cells if not cell.skipped)
        ended = runs + self._todo - self._left if visit.is_repeat else runs
        total = ended + self._left
        left_s = self._left_s(visit, share)
        self._reporter.progressed((ended + share) / max(1, total), sentence, left_s)

    def _left_s(self, visit: _Visit, share: float) -> float | None:
        """What the visits ahead will take by what those before took, each cell by its own."""
        took_s = {place: fmean(times) for place, times in self._took_s.items()}
        if not took_s:
            return None
        usual_s = fmean(took_s.values())
        ahead_s = sum(
            count * took_s.get(place, usual_s)
            for place, count in self._ahead.items()
            if not self._cells[place].skipped
        )
        return ahead_s + (1 - share) * took_s.get(visit.place, usual_s)

    def _keep(self, state: State) -> None:
        self._experiment = msgspec.structs.replace(
            self._experiment, state=state, cells=tuple(self._cells), conclusion=()
        )
        if state is not State.RUNNING:
            self._experiment = concluded(self._experiment, self._asked.measure)
        self._reporter.kept(self._experiment)


def is_restless(cells: Sequence[Cell]) -> bool:
    """Whether most runs were disturbed: repetitions would be so too."""
    runs = sum(len(cell.runs) for cell in cells)
    return 2 * sum(1 for cell in cells for sentence in cell.disturbed if sentence) > runs


def given_up(cell: Cell, sentence: str) -> Cell:
    """A cell that is measured no further; what it had stays."""
    runs = len(cell.runs)
    if runs:
        times = "one run" if runs == 1 else f"{runs} runs"
        sentence = f"Given up after {times}: {sentence}"
    return msgspec.structs.replace(cell, skipped=sentence)


def _with_run(cell: Cell, visit: _Visit, measured: Measured) -> Cell:
    note = request_note([measured])
    if not measured.figures.requests:
        return given_up(cell, note or "None of its requests was answered.")
    if note:
        cell = msgspec.structs.replace(cell, notes=(*cell.notes, f"Run {visit.number + 1}: {note}"))
    if visit.is_repeat:
        return _repeated(cell, visit.number, measured)
    return msgspec.structs.replace(
        cell,
        runs=(*cell.runs, measured.figures),
        disturbed=(*cell.disturbed, measured.disturbed),
    )


def _repeated(cell: Cell, number: int, measured: Measured) -> Cell:
    runs, disturbed, notes = list(cell.runs), list(cell.disturbed), cell.notes
    before = disturbed[number]
    if measured.disturbed:
        # Neither is better than the other; the first stays, for it belongs to its round.
        disturbed[number] = before + AGAIN
    else:
        runs[number], disturbed[number] = measured.figures, ""
        notes = (
            *notes,
            f"Run {number + 1} was repeated at the end, for it was disturbed: {before}",
        )
    return msgspec.structs.replace(cell, runs=tuple(runs), disturbed=tuple(disturbed), notes=notes)
