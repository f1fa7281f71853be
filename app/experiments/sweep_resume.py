"""Begins a sweep's experiment, or goes on with one that was stopped or cut. Pure.

Runs of two machines, builds or models are no runs of one experiment, so each of these is compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.grid import GridCell
from app.experiments.sweep import Sweep, cells_of, given_up
from app.experiments.workload import Workload
from app.experiments.workload_file import kept_json
from engine_bridge.settings.domain import DomainError

_BEGIN = "Begin a new sweep instead."


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
    for what, before, now in (
        ("model", kept.subject.model_sha256, subject.model_sha256),
        ("machine", kept.subject.machine, subject.machine),
        ("engine", kept.subject.engine, subject.engine),
    ):
        if before != now:
            raise DomainError(_other_sentence(kept.key, what, before, now))
    wanted = cells_of(asked.cells)
    cells = tuple(
        _gone_on_with(before, now) for before, now in zip(kept.cells, wanted, strict=True)
    )
    return msgspec.structs.replace(
        kept, state=State.RUNNING, cells=cells, conclusion=(), failure=""
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
    if kept.kind is not Kind.SWEEP:
        raise DomainError(f"{kept.key} is no sweep but a {kept.kind}; it cannot be gone on with.")
    if kept.workload != kept_json(workload):
        raise DomainError(
            f"{kept.key} was measured with another workload, or its settings were others. {_BEGIN}"
        )
    if [(cell.name, cell.config) for cell in kept.cells] != [
        (cell.name, cell.config) for cell in cells_of(cells)
    ]:
        raise DomainError(
            f"{kept.key} measured other combinations: {_names(kept.cells)}. Go on with the same "
            "--vary and --set, or begin a new sweep."
        )


# --- Inside -----------------------------------------------------------------------------


def _gone_on_with(before: Cell, now: Cell) -> Cell:
    """What does not fit now is not measured now; what did not fit then is tried if it does."""
    if before.runs and now.skipped and not before.skipped:
        return given_up(before, now.skipped)
    if before.runs:
        return before
    return msgspec.structs.replace(before, skipped=now.skipped)


def _other_sentence(key: str, what: str, before: str, now: str) -> str:
    if what == "model":
        return f"{key} was measured on another model: its file's hash is not the same. {_BEGIN}"
    return f"{key} was measured on another {what}: {before}, and this is {now}. {_BEGIN}"


def _names(cells: Sequence[Cell]) -> str:
    shown = "; ".join(cell.name for cell in cells[:4])
    return f"{shown} and {len(cells) - 4} more" if len(cells) > 4 else shown
