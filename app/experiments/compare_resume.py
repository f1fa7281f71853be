"""Goes on with a comparison that was stopped or cut. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.experiments.compare import Comparison, cells_of
from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.resume import (
    refuse_other_cells,
    refuse_other_kind,
    refuse_other_subject,
    refuse_other_workload,
)
from app.experiments.workload import Workload

_WORDS = "--a, --b and --set"


def resumed(
    kept: Experiment,
    asked: Comparison,
    subject: Subject,
    workload: Workload,
    names: tuple[str, str],
) -> Experiment:
    """``kept`` as an experiment to go on with.

    Of a pair only one of which was run, nothing is left: both are to see the same machine, and what
    was run before a break saw another.

    Args:
        kept: What was measured.
        asked: What is asked for now; another budget than before is welcome.
        subject: What it would be measured on now.
        workload: The workload that is asked for now.
        names: What tells A from B.

    Raises:
        DomainError: In a sentence, where the runs would not belong together.
    """
    asked.check()
    refuse_other_words(kept, asked, workload, names)
    refuse_other_subject(kept, subject)
    return msgspec.structs.replace(
        kept,
        state=State.RUNNING,
        cells=_whole_pairs(kept.cells),
        conclusion=(),
        failure="",
    )


def refuse_other_words(
    kept: Experiment, asked: Comparison, workload: Workload, names: tuple[str, str]
) -> None:
    """Refuse to go on with ``kept`` where something else is asked for.

    Raises:
        DomainError: In a sentence.
    """
    refuse_other_kind(kept, Kind.COMPARE)
    refuse_other_workload(kept, workload)
    refuse_other_cells(kept, cells_of(asked, names), _WORDS)


def _whole_pairs(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    pairs = min(len(cell.runs) for cell in cells)
    half = f"Pair {pairs + 1}: "
    return tuple(
        msgspec.structs.replace(
            cell,
            runs=cell.runs[:pairs],
            disturbed=cell.disturbed[:pairs],
            notes=tuple(note for note in cell.notes if not note.startswith(half)),
        )
        for cell in cells
    )
