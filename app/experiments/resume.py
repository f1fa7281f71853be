"""What going on with an experiment of the history asks of it, whatever its kind. Pure.

Runs of two machines, builds, models or workloads are no runs of one experiment, so each of these is
compared, and what differs is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.experiments.experiment import Cell, Experiment, Kind, Subject
from app.experiments.workload import Workload
from app.experiments.workload_file import kept_json
from engine_bridge.settings.domain import DomainError, Value

_NOUNS: Mapping[Kind, str] = {
    Kind.SWEEP: "sweep",
    Kind.COMPARE: "comparison",
    Kind.USERS: "experiment with users",
    Kind.QUALITY: "comparison of caches",
    Kind.TUNE: "tuning",
}
_MOST_NAMES = 4


def noun_of(kind: Kind) -> str:
    """What an experiment of that kind is called."""
    return _NOUNS.get(kind, str(kind))


def refuse_other_kind(kept: Experiment, kind: Kind) -> None:
    """Refuse one of another kind.

    Raises:
        DomainError: In a sentence.
    """
    if kept.kind is not kind:
        raise DomainError(
            f"{kept.key} is no {noun_of(kind)} but a {noun_of(kept.kind)}; it cannot be gone on "
            f"with by this command."
        )


def refuse_other_workload(kept: Experiment, workload: Workload) -> None:
    """Refuse one that was measured with other work.

    Raises:
        DomainError: In a sentence.
    """
    if kept.workload != kept_json(workload):
        raise DomainError(
            f"{kept.key} was measured with another workload, or its settings were others. "
            f"{_begin(kept)}"
        )


def refuse_other_cells(kept: Experiment, wanted: Sequence[Cell], words: str) -> None:
    """Refuse one that measured other configurations than ``wanted``; ``words`` say them.

    Raises:
        DomainError: In a sentence.
    """
    if [(cell.name, cell.config) for cell in kept.cells] != [
        (cell.name, cell.config) for cell in wanted
    ]:
        raise DomainError(
            f"{kept.key} measured other combinations: {_names(kept.cells)}. Go on with the same "
            f"{words}, or begin a new {noun_of(kept.kind)}."
        )


def refuse_other_settings(kept: Experiment, settings: Mapping[str, Value]) -> None:
    """Refuse one a cell of which was measured with other settings.

    Raises:
        DomainError: In a sentence.
    """
    for cell in kept.cells:
        differing = [
            key for key in {**cell.config, **settings} if cell.config.get(key) != settings.get(key)
        ]
        if differing:
            raise DomainError(
                f"{kept.key} was measured with other settings ({', '.join(differing)}). Go on with "
                f"the same --set, or begin a new {noun_of(kept.kind)}."
            )


def refuse_other_model(kept: Experiment, model_sha256: str) -> None:
    """Refuse one that was measured on another model; an unknown hash refuses nothing.

    Known before anything is started, unlike the machine's and the engine's.

    Raises:
        DomainError: In a sentence.
    """
    before = kept.subject.model_sha256
    if before and model_sha256 and before != model_sha256:
        raise DomainError(_other_sentence(kept, "model", before, model_sha256))


def refuse_other_subject(kept: Experiment, subject: Subject) -> None:
    """Refuse one that was measured on something else.

    Raises:
        DomainError: In a sentence.
    """
    for what, before, now in (
        ("model", kept.subject.model_sha256, subject.model_sha256),
        ("machine", kept.subject.machine, subject.machine),
        ("engine", kept.subject.engine, subject.engine),
    ):
        if before != now:
            raise DomainError(_other_sentence(kept, what, before, now))


# --- Inside -----------------------------------------------------------------------------


def _other_sentence(kept: Experiment, what: str, before: str, now: str) -> str:
    is_file = what == "model"
    said = "its file's hash is not the same" if is_file else f"{before}, and this is {now}"
    return f"{kept.key} was measured on another {what}: {said}. {_begin(kept)}"


def _begin(kept: Experiment) -> str:
    return f"Begin a new {noun_of(kept.kind)} instead."


def _names(cells: Sequence[Cell]) -> str:
    shown = "; ".join(cell.name for cell in cells[:_MOST_NAMES])
    more = len(cells) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
