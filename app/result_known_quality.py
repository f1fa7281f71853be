"""What the KV caches of a sweep cost in quality, from experiments that measured just that. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.experiments.experiment import Cell, Experiment, Kind, Subject
from engine_bridge.settings.config import EngineConfig

_TYPES = ("cache_type_k", "cache_type_v")
# Beside the types a candidate may name this and still be the same cache.
_HARMLESS = (*_TYPES, "flash_attn")
_BASE = ("f16", "f16")


@dataclass(frozen=True)
class CacheCost:
    """What a cache costs.

    Attributes:
        mean_kld: Mean KLD from f16, nats.
        error: Its standard error; None where it is the base itself, or was not told.
    """

    mean_kld: float
    error: float | None


def cache_costs(
    cells: Mapping[int, Cell], subject: Subject, known: Iterable[Experiment]
) -> dict[int, CacheCost]:
    """The cost of each cell's cache; empty where not all are known, or all are of one kind.

    Args:
        cells: By number.
        subject: What they were measured on.
        known: Experiments to look in, the newest first; others than of KV caches of the same model
            file are passed over.
    """
    kinds = {place: _types_of(cell) for place, cell in cells.items()}
    if len(set(kinds.values())) < 2 or not subject.model_sha256:
        return {}
    told = {_BASE: CacheCost(0.0, None)}
    for experiment in known:
        is_of_it = experiment.subject.model_sha256 == subject.model_sha256
        if experiment.kind is Kind.QUALITY and is_of_it:
            for types, cost in _told_by(experiment).items():
                told.setdefault(types, cost)
    if not all(types in told for types in kinds.values()):
        return {}
    return {place: told[types] for place, types in kinds.items()}


def has_several_caches(cells: Iterable[Cell]) -> bool:
    """Whether the types of KV caches differ between cells."""
    return len({_types_of(cell) for cell in cells}) > 1


# --- Inside -----------------------------------------------------------------------------


def _types_of(cell: Cell) -> tuple[str, str]:
    usual = EngineConfig()
    first, second = (str(cell.config.get(key, getattr(usual, key))) for key in _TYPES)
    return first, second


def _told_by(experiment: Experiment) -> dict[tuple[str, str], CacheCost]:
    return {
        _types_of(cell): CacheCost(cell.extra["mean_kld"], cell.extra.get("mean_kld_error"))
        for cell in experiment.cells
        if "mean_kld" in cell.extra and all(key in _HARMLESS for key in cell.config)
    }
