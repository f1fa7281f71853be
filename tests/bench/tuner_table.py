"""The table of the tuner's bench: its file, what is best in it, and what it says of itself."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import msgspec
import numpy as np

from app.experiments.experiment import Cell, Experiment, State
from app.experiments.measures import BY_FIGURE
from app.experiments.ranking import better_of, median_of, values_of
from app.experiments.spread import LEVEL, spread_of
from app.experiments.tune_result import config_of
from app.storage.atomic_file import write_whole
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY

Domain: TypeAlias = dict[str, tuple[Value, ...]]

MEASURE = BY_FIGURE["total_tok_s"]
"""What counts where the purpose is most tokens an hour."""
WITHIN = 0.97
"""From this share of the best on a setting is as good as found."""
_FORMAT = 1


class TableError(Exception):
    """There is no table to use; the message says why and what to do."""


class _Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    domain: Domain
    experiment: Experiment


@dataclass(frozen=True)
class Table:
    """Runs of all combinations of some settings.

    Attributes:
        domain: The settings and their values.
        experiment: The runs, a cell for each combination.
    """

    domain: Domain
    experiment: Experiment

    @cached_property
    def cells(self) -> dict[EngineConfig, Cell]:
        """Every combination with its cell, those that cannot run too."""
        path = self.experiment.subject.model_path
        return {config_of(cell, path): cell for cell in self.experiment.cells}

    @cached_property
    def ranked(self) -> tuple[tuple[EngineConfig, float], ...]:
        """Those that were measured with their medians in tok/s, the best first."""
        found = [
            (config, median_of(cell, MEASURE))
            for config, cell in self.cells.items()
            if not cell.skipped
        ]
        known = [(config, value) for config, value in found if value is not None]
        return tuple(sorted(known, key=lambda pair: -pair[1]))

    @property
    def runs(self) -> int:
        """How many were made of those that could be."""
        return sum(len(cell.runs) for cell in self.experiment.cells if not cell.skipped)

    @property
    def is_complete(self) -> bool:
        """Whether all that was asked for was measured."""
        return self.experiment.state is State.DONE and bool(self.ranked)

    def share_of_best(self, config: EngineConfig) -> float:
        """Median of ``config`` / the best median, 0 to 1; 0 for one that was not measured."""
        return dict(self.ranked).get(config, 0.0) / self.ranked[0][1]

    def name_of(self, config: EngineConfig) -> str:
        """What tells it from the others."""
        return name_in(self.domain, config)

    def start(self, seed: int) -> EngineConfig:
        """A combination at random, for a tuner to begin with; the same for the same seed."""
        return random.Random(f"{seed}/start").choice(sorted(dict(self.ranked), key=self.name_of))


def name_in(domain: Domain, config: EngineConfig) -> str:
    """What tells ``config`` from others of ``domain``: ``slots=4, threads=2``."""
    words = (f"{key}={BY_KEY[key].domain.format(getattr(config, key))}" for key in domain)
    return ", ".join(words)


# --- The file -------------------------------------------------------------------------------


def read(path: Path) -> Table:
    """The table as it was written last, complete or not.

    Raises:
        TableError: If there is none, or the file is damaged.
    """
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
    except FileNotFoundError:
        raise TableError(f"There is no {path.name}; --only table records it.") from None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise TableError(f"{path.name} cannot be read ({error}).") from None
    if kept.format != _FORMAT:
        raise TableError(f"{path.name} was written by another version of this bench.")
    return Table(kept.domain, kept.experiment)


def read_complete(path: Path) -> Table:
    """The same.

    Raises:
        TableError: Also if it is not complete.
    """
    table = read(path)
    if not table.is_complete:
        raise TableError(f"{path.name} is not complete; --only table goes on with it.")
    return table


def write(path: Path, table: Table) -> None:
    """Write it whole or not at all.

    Raises:
        StorageError: If it cannot be written.
    """
    content = msgspec.json.encode(_Kept(_FORMAT, table.domain, table.experiment))
    write_whole(path, msgspec.json.format(content, indent=1) + b"\n", "The table could not be kept")


# --- What it says ---------------------------------------------------------------------------


def as_json(table: Table) -> dict[str, Any]:
    """What ``tuner.json`` says of the table; its runs stay in its own file."""
    experiment, ranked = table.experiment, table.ranked
    measured = [table.cells[config] for config, _ in ranked]
    spreads = [_spread_share(cell) for cell in measured]
    return {
        "model": experiment.subject.model,
        "model_sha256": experiment.subject.model_sha256,
        "machine": experiment.subject.machine,
        "engine": experiment.subject.engine,
        "begun_at": experiment.begun_at,
        "workload": msgspec.json.decode(experiment.workload),
        "domain": {key: list(values) for key, values in table.domain.items()},
        "figure": MEASURE.key,
        "configurations": len(measured),
        "skipped": sum(bool(cell.skipped) for cell in experiment.cells),
        "runs": table.runs,
        "disturbed_runs": sum(bool(said) for cell in measured for said in cell.disturbed),
        "median_spread_share": median(spreads),
        "largest_spread_share": max(spreads),
        "pairs_told_apart_share": _told_apart_share(measured),
        "configurations_within_3_percent": sum(
            value >= WITHIN * ranked[0][1] for _, value in ranked
        ),
        **{word: _place(table, number) for word, number in _places(len(ranked)).items()},
    }


def lines(figures: Mapping[str, Any]) -> list[str]:
    """The same for people."""
    found = [
        f"{figures['model']}: {figures['configurations']} configurations, {figures['runs']} runs, "
        f"{figures['disturbed_runs']} of them disturbed; one run is off by "
        f"{100 * figures['median_spread_share']:.1f} % (median over configurations), at most by "
        f"{100 * figures['largest_spread_share']:.1f} %",
        f"{100 * figures['pairs_told_apart_share']:.0f} % of all pairs of configurations can be "
        f"told apart; {figures['configurations_within_3_percent']} of them are within 3 % of the "
        "best",
    ]
    for word in _places(figures["configurations"]):
        place = figures[word]
        found.append(
            f"  {word:<7}{place['tok_s']:8.2f} tok/s ± {100 * place['spread_share']:4.1f} %  "
            f"{place['name']}"
        )
    return found


def _places(count: int) -> dict[str, int]:
    """Which of ``count`` ranks are told."""
    places = {"best": 0, "second": 1, "third": 2, "middle": count // 2, "worst": count - 1}
    return {word: min(place, count - 1) for word, place in places.items()}


def _place(table: Table, number: int) -> dict[str, Any]:
    config, tok_s = table.ranked[number]
    spread = _spread_share(table.cells[config])
    return {"name": table.name_of(config), "tok_s": tok_s, "spread_share": spread}


def _spread_share(cell: Cell) -> float:
    values = [value for value in values_of(cell, MEASURE) if value]
    return spread_of(values) / median(values)


def _told_apart_share(cells: Sequence[Cell]) -> float:
    """Share of all pairs of which one is better beyond the spread, by the runs of equal rounds."""
    if len(cells) < 2:
        return 0.0
    is_better = better_of(cells, cells, MEASURE, (1 - LEVEL) / 2)
    pairs = len(cells) * (len(cells) - 1) / 2
    return float(np.sum(np.triu(is_better | is_better.T, 1)) / pairs)
