"""What is read out of a tuning that is kept: the best settings. Pure."""

from __future__ import annotations

from app.experiments.experiment import Cell, Experiment
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value

KEPT = "kept"
"""In ``Cell.extra`` the number of the step that kept it, from 1: the best so far has the highest;
missing where it was never kept."""


BEFORE = "These are the settings before."
"""The first note of the cell of the settings that tuning began from, where they are not its ground:
they are what the best is compared with, and no try of the tuner."""


def is_before(cell: Cell) -> bool:
    """Whether it holds the settings before, which were neither kept nor dropped."""
    return cell.notes[:1] == (BEFORE,) and not cell.extra.get(KEPT)


NOT_DECIDED = "Not decided, for"
"""How the verdict on a try begins that came to no end of its own."""


def is_undecided(cell: Cell) -> bool:
    """Whether it was tried, and the tuning ended before it was kept or dropped."""
    return not cell.extra.get(KEPT) and NOT_DECIDED in "".join(cell.notes[-1:])


def best_cell(experiment: Experiment) -> Cell | None:
    """The cell that was kept last: the best so far; None where none was."""
    kept = [cell for cell in experiment.cells if cell.extra.get(KEPT)]
    return max(kept, key=lambda cell: cell.extra[KEPT], default=None)


def config_of(cell: Cell, model_path: str) -> EngineConfig:
    """The settings of a cell, for a model's file."""
    values: dict[str, object] = {**cell.config, "model_path": model_path}
    return EngineConfig.from_values(values)


def changes_between(before: EngineConfig, after: EngineConfig) -> dict[str, tuple[Value, Value]]:
    """Settings that differ, by key: the value before and the one after."""
    return {key: (getattr(before, key), getattr(after, key)) for key in after.changed_from(before)}
