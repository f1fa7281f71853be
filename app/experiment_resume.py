"""Going on with a sweep of the history: its words, read back from what was kept. Pure."""

from __future__ import annotations

import msgspec

from app.experiment_request import SweepRequest
from app.experiments.experiment import Cell, Experiment, Kind
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.sweep import MOST_ROUNDS, USUAL_ROUNDS, usual_measure
from app.experiments.sweep_resume import MEASURE, ROUNDS
from app.experiments.workload import Workload
from app.experiments.workload_error import WorkloadError
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.table import BY_KEY


def resume_request(kept: Experiment, running: EngineConfig | None) -> SweepRequest:
    """The request that goes on with ``kept``.

    Args:
        kept: A sweep that was stopped, or cut.
        running: What the engine runs; its model must be that of the sweep.

    Raises:
        DomainError: If it cannot be gone on with, in a sentence.
        WorkloadError: If its workload cannot be used any more.
    """
    if kept.kind is not Kind.SWEEP or not kept.cells:
        raise DomainError("Only sweeps can be gone on with.")
    if running is None:
        raise DomainError("No model is loaded. Load the one that the sweep is about.")
    if running.model_path != kept.subject.model_path:
        raise DomainError(f"The sweep is about {kept.subject.model}. Load that model first.")
    try:
        workload = msgspec.json.decode(kept.workload, type=Workload)
    except msgspec.DecodeError as error:
        raise WorkloadError(f"The workload of this sweep cannot be read: {error}") from None
    workload.check()
    words = words_of(kept.cells)
    base = base_of(kept.cells[0], words, kept.subject.model_path)
    return SweepRequest(base, words, workload, _measure_of(kept, workload), _rounds_of(kept), kept)


def _measure_of(kept: Experiment, workload: Workload) -> Measure:
    """That which was asked for; of a sweep that does not keep it the usual one."""
    return BY_FIGURE.get(str(kept.asked.get(MEASURE))) or usual_measure(workload)


def _rounds_of(kept: Experiment) -> int:
    """As many as were asked for, and no fewer than were measured."""
    asked = kept.asked.get(ROUNDS)
    rounds = asked if isinstance(asked, int) and 1 <= asked <= MOST_ROUNDS else USUAL_ROUNDS
    return max(rounds, *(len(cell.runs) for cell in kept.cells))


def words_of(cells: tuple[Cell, ...]) -> tuple[str, ...]:
    """What varied, as ``grid_of`` reads it: from names such as ``slots=4, cache_type_k=q8_0``."""
    axes: dict[str, list[str]] = {}
    for cell in cells:
        for word in cell.name.split(", "):
            key, _, text = word.partition("=")
            values = axes.setdefault(key, [])
            if text not in values:
                values.append(text)
    return tuple(
        f"{key}={(';' if any(',' in text for text in texts) else ',').join(texts)}"
        for key, texts in axes.items()
    )


def base_of(cell: Cell, words: tuple[str, ...], model_path: str) -> EngineConfig:
    """The settings that did not vary.

    Raises:
        DomainError: If one of them is none of this version.
    """
    varied = {key for word in words for key in word.partition("=")[0].split("+")}
    values: dict[str, object] = {
        key: value for key, value in cell.config.items() if key not in varied and key in BY_KEY
    }
    return EngineConfig.from_values({**values, "model_path": model_path})
