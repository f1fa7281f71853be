"""Begins a sweep's experiment, or goes on with one that was stopped or cut. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.grid import GridCell
from app.experiments.resume import (
    refuse_other_cells,
    refuse_other_kind,
    refuse_other_subject,
    refuse_other_workload,
)
from app.experiments.sweep import Sweep, cells_of, given_up
from app.experiments.workload import Workload
from app.experiments.workload_file import kept_json
from engine_bridge.settings.domain import Value

ROUNDS, MEASURE = "rounds", "measure"
"""Under what an experiment keeps what was asked for."""

_WORDS = "--vary and --set"


def can_go_on(kind: Kind, state: State) -> bool:
    """Whether an experiment of that kind that came so far has something left to measure."""
    return kind is Kind.SWEEP and state in (State.STOPPED, State.CUT)


def begun(
    asked: Sweep, subject: Subject, workload: Workload, *, key: str, begun_at: str, title: str
) -> Experiment:
    """The experiment before its first run.

    Raises:
        DomainError: In a sentence, where nothing of it can be measured.
    """
    asked.check()
    return Experiment(
        key=key,
        kind=Kind.SWEEP,
        begun_at=begun_at,
        state=State.RUNNING,
        title=title,
        subject=subject,
        workload=kept_json(workload),
        cells=cells_of(asked.cells),
        asked=_words_of(asked),
    )


def resumed(kept: Experiment, asked: Sweep, subject: Subject, workload: Workload) -> Experiment:
    """``kept`` as an experiment to go on with.

    Args:
        kept: What was measured.
        asked: What is asked for now; more rounds than before are welcome.
        subject: What it would be measured on now.
        workload: The workload that is asked for now.

    Raises:
        DomainError: In a sentence, where the runs would not belong together.
    """
    asked.check()
    refuse_other_words(kept, asked.cells, workload)
    refuse_other_subject(kept, subject)
    wanted = cells_of(asked.cells)
    cells = tuple(
        _gone_on_with(before, now) for before, now in zip(kept.cells, wanted, strict=True)
    )
    return msgspec.structs.replace(
        kept,
        state=State.RUNNING,
        cells=cells,
        conclusion=(),
        failure="",
        asked=_words_of(asked),
    )


def refuse_other_words(kept: Experiment, cells: Sequence[GridCell], workload: Workload) -> None:
    """Refuse to go on with ``kept`` where something else is asked for.

    Known before anything is started, unlike what it would be measured on.

    Args:
        kept: What was measured.
        cells: The combinations that are asked for now.
        workload: The workload that is asked for now.

    Raises:
        DomainError: In a sentence.
    """
    refuse_other_kind(kept, Kind.SWEEP)
    refuse_other_workload(kept, workload)
    refuse_other_cells(kept, cells_of(cells), _WORDS)


# --- Inside -----------------------------------------------------------------------------


def _words_of(asked: Sweep) -> dict[str, Value]:
    """What neither the workload nor the cells tell of a sweep."""
    return {ROUNDS: asked.rounds, MEASURE: asked.measure.key}


def _gone_on_with(before: Cell, now: Cell) -> Cell:
    """What does not fit now is not measured now; what did not fit then is tried if it does."""
    if before.runs and now.skipped and not before.skipped:
        return given_up(before, now.skipped)
    if before.runs:
        return before
    return msgspec.structs.replace(before, skipped=now.skipped)
