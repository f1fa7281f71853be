"""A against B: two configurations take turns on the same work until the difference is clear.

The order is A B B A: what drifts evenly adds as much to the one as to the other, and every second
change costs nothing. Each pair has texts of its own, the same for both. After every second pair
(a whole turn) the verdict is looked at with an interval that bears it, see ``running_ratio``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.measuring import (
    Measured,
    changed_values,
    configured_cell,
    request_note,
)
from app.experiments.port import EnginePort, PortError, StoppedError
from app.experiments.ranking import values_of
from app.experiments.reporter import Reporter
from app.experiments.runner import Runner
from app.experiments.verdict import NAMES, Outcome, Verdict, running_verdict
from app.experiments.workload import Workload
from app.experiments.workload_file import kept_json
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError

LEAST_PAIRS = 4
"""Fewer pairs bear any difference, whatever they show: their interval has no end."""
MOST_PAIRS = 200
# What is told beside the figure that decides.
_BESIDE = ("ttft_s", "tpot_s", "prefill_tok_s", "total_tok_s", "owned_bytes")
_BESIDE_SENTENCE = "Beside it, each with 95 % for itself, so that one of many may mislead:"


@dataclass(frozen=True)
class Comparison:
    """What is to be compared.

    Attributes:
        first: A.
        second: B.
        measure: The figure that decides.
        pairs: How many pairs at most, ``LEAST_PAIRS`` to ``MOST_PAIRS``.
        seconds: How long at most; a pair that has begun is ended.
    """

    first: EngineConfig
    second: EngineConfig
    measure: Measure
    pairs: int = 12
    seconds: float = 600.0

    def check(self) -> None:
        """Refuse a budget with which nothing can be told.

        Raises:
            DomainError: In a sentence.
        """
        if not LEAST_PAIRS <= self.pairs <= MOST_PAIRS:
            raise DomainError(
                f"A comparison takes {LEAST_PAIRS} to {MOST_PAIRS} pairs; got {self.pairs:,}. "
                "Fewer tell nothing of how much a run differs from the next."
            )
        if not 0 < self.seconds < math.inf:
            raise DomainError(
                f"A comparison needs time; got {self.seconds:g} seconds. Two runs are its least."
            )


def cells_of(asked: Comparison, names: tuple[str, str]) -> tuple[Cell, ...]:
    """A and B as parts of an experiment in which nothing is measured yet."""
    configs = (asked.first, asked.second)
    return tuple(
        Cell(name=f"{letter}: {name}", config=changed_values(config))
        for letter, name, config in zip(NAMES, names, configs, strict=True)
    )


def begun(
    asked: Comparison,
    subject: Subject,
    workload: Workload,
    *,
    key: str,
    begun_at: str,
    names: tuple[str, str],
) -> Experiment:
    """The experiment before its first run; ``names`` are what tells A from B.

    Raises:
        DomainError: In a sentence, where the budget suffices for nothing.
    """
    asked.check()
    return Experiment(
        key=key,
        kind=Kind.COMPARE,
        begun_at=begun_at,
        state=State.RUNNING,
        title=f"{subject.model}, {workload.name}: {names[0]} against {names[1]}",
        subject=subject,
        workload=kept_json(workload),
        cells=cells_of(asked, names),
    )


def compare(
    port: EnginePort,
    asked: Comparison,
    runner: Runner,
    reporter: Reporter,
    experiment: Experiment,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Experiment:
    """Measure pairs until the verdict is settled or the budget is spent.

    Args:
        port: The engine.
        asked: What is to be compared.
        runner: Runs the workload.
        reporter: Hears of every run as it ends.
        experiment: As ``begun`` made it, or one to go on with.
        clock: Seconds, for the budget.

    Returns:
        The experiment with the verdict; failed where A or B cannot run.
    """
    return _Comparing(port, asked, runner, reporter, experiment, clock=clock).run()


def verdict_of(cells: Sequence[Cell], measure: Measure) -> Verdict:
    """What the pairs so far say: the quiet ones, or all where most were disturbed."""
    first, second = cells
    mine, theirs = values_of(first, measure), values_of(second, measure)
    for number in _disturbed_pairs(cells) if not _is_restless(cells) else ():
        mine[number] = None
    return running_verdict(mine, theirs, measure)


# --- Inside -----------------------------------------------------------------------------


class _CannotRunError(Exception):
    """A or B cannot be measured; the message says which and why."""


class _Comparing:
    """One comparison under way."""

    def __init__(
        self,
        port: EnginePort,
        asked: Comparison,
        runner: Runner,
        reporter: Reporter,
        experiment: Experiment,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._port = port
        self._asked = asked
        self._configs = (asked.first, asked.second)
        self._runner = runner
        self._reporter = reporter
        self._experiment = experiment
        self._cells = list(experiment.cells)
        self._clock = clock
        self._begun_s = clock()
        self._applied: tuple[int, Applied] | None = None
        self._ended = 0  # runs, by this call

    def run(self) -> Experiment:
        """Measure, and end with the verdict."""
        ending = ""
        state, failure = State.DONE, ""
        try:
            ending = self._measure()
        except StoppedError:
            state = State.STOPPED
        except _CannotRunError as error:
            state, failure = State.FAILED, str(error)
        self._keep(state, failure, ending)
        return self._experiment

    def _measure(self) -> str:
        """Take turns; says in a sentence why it ended."""
        done = min(len(cell.runs) for cell in self._cells)
        # One that is gone on with may have been clear before.
        if ending := self._clear_after(done):
            return ending
        for pair in range(done, self._asked.pairs):
            if self._elapsed_s >= self._asked.seconds:
                return f"The budget of {self._asked.seconds:,.0f} s was spent."
            for which in (0, 1) if pair % 2 == 0 else (1, 0):
                self._visit(which, pair)
            if ending := self._clear_after(pair + 1):
                return ending
        return f"The budget of {self._asked.pairs} pairs was spent."

    def _clear_after(self, pairs: int) -> str:
        """Why it ends after so many pairs; empty where it goes on, as in the middle of a turn."""
        if pairs and pairs % 2 == 0 and verdict_of(self._cells, self._asked.measure).is_settled:
            return f"It was clear after {pairs} of at most {self._asked.pairs} pairs."
        return ""

    def _visit(self, which: int, pair: int) -> None:
        self._tell(which, pair, 0.0)
        try:
            measured = self._run(which, pair)
        except StoppedError:
            raise
        except PortError as error:
            raise _CannotRunError(f"{NAMES[which]} failed: {error}") from error
        self._ended += 1
        cell, note = self._cells[which], request_note([measured])
        if not measured.figures.requests:
            raise _CannotRunError(f"{NAMES[which]} answered no request. {note}".rstrip())
        notes = (*cell.notes, f"Pair {pair + 1}: {note}") if note else cell.notes
        self._cells[which] = msgspec.structs.replace(
            cell,
            runs=(*cell.runs, measured.figures),
            disturbed=(*cell.disturbed, measured.disturbed),
            notes=notes,
        )
        self._keep(State.RUNNING)

    def _run(self, which: int, pair: int) -> Measured:
        if self._applied is None or self._applied[0] != which:
            self._applied = None
            applied = self._port.apply(self._configs[which])
            self._applied = which, applied
            made = configured_cell(self._port, self._configs[which], applied)
            self._cells[which] = msgspec.structs.replace(
                self._cells[which], effective=made.effective, extra=made.extra
            )
            self._runner.warm_up(self._port)
        return self._runner.run(
            self._port,
            self._applied[1],
            variant=pair,
            progressed=lambda ended, total: self._tell(which, pair, ended / max(1, total)),
        )

    @property
    def _elapsed_s(self) -> float:
        return self._clock() - self._begun_s

    def _tell(self, which: int, pair: int, share: float) -> None:
        """How far it is, when ``share`` of this run is done."""
        runs = sum(len(cell.runs) for cell in self._cells)
        total = 2 * self._asked.pairs
        by_runs, by_time = (runs + share) / total, self._elapsed_s / self._asked.seconds
        left_s = None
        if self._ended:
            run_s = self._elapsed_s / (self._ended + share)
            left_s = min(run_s * (total - runs - share), self._asked.seconds - self._elapsed_s)
            left_s = max(0.0, left_s)
        sentence = f"Pair {pair + 1} of at most {self._asked.pairs}: {self._cells[which].name}"
        self._reporter.progressed(min(1.0, max(by_runs, by_time)), sentence, left_s)

    def _keep(self, state: State, failure: str = "", ending: str = "") -> None:
        conclusion: tuple[str, ...] = ()
        if state is not State.RUNNING and all(cell.runs for cell in self._cells):
            conclusion = conclusion_of(self._cells, self._asked.measure, ending)
        self._experiment = msgspec.structs.replace(
            self._experiment,
            state=state,
            cells=tuple(self._cells),
            conclusion=conclusion,
            failure=failure,
        )
        self._reporter.kept(self._experiment)


def conclusion_of(cells: Sequence[Cell], measure: Measure, ending: str) -> tuple[str, ...]:
    """The verdict, why it ended there, and what else can be told of the pairs."""
    others = [BY_FIGURE[key] for key in _BESIDE if key != measure.key]
    verdicts = [verdict_of(cells, other) for other in others]
    beside = [one.sentence for one in verdicts if one.outcome is not Outcome.UNKNOWN]
    sentences = [verdict_of(cells, measure).sentence, ending, _disturbance(cells)]
    sentences += [_BESIDE_SENTENCE, *beside] if beside else []
    return tuple(filter(None, sentences))


def _disturbed_pairs(cells: Sequence[Cell]) -> tuple[int, ...]:
    """Pairs of which a run was disturbed, from 0; a pair of one run is none yet."""
    first, second = cells
    return tuple(
        number
        for number, both in enumerate(zip(first.disturbed, second.disturbed, strict=False))
        if any(both)
    )


def _is_restless(cells: Sequence[Cell]) -> bool:
    return 2 * len(_disturbed_pairs(cells)) > min(len(cell.runs) for cell in cells)


def _disturbance(cells: Sequence[Cell]) -> str:
    count, pairs = len(_disturbed_pairs(cells)), min(len(cell.runs) for cell in cells)
    if not count:
        return ""
    if _is_restless(cells):
        return (
            f"{count} of {pairs} pairs were disturbed, and all are counted: close other programs "
            "for a closer interval."
        )
    return f"{count} of {pairs} pairs were disturbed and are not counted."
