"""The tuner on a recorded table: what it finds with so many of the runs, seed by seed.

A seed draws where the tuner begins and which of a configuration's runs it is given when it
measures, so that one lucky run does not stand for all.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeAlias

import msgspec

from app.experiments.experiment import Cell, Experiment, Figures, State, Subject
from app.experiments.measuring import changed_values
from app.experiments.port import ConfigRefusedError
from app.experiments.reporter import Reporter
from app.experiments.tune_bench import TuneBench
from app.experiments.tune_goal import LEAST_MEASUREMENTS, Purpose, TuneGoal
from app.experiments.tune_result import best_cell, config_of
from app.experiments.tuner import tune
from app.experiments.workload import Workload
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem
from tests.bench.tuner_table import WITHIN, Table

SEEDS = 20
TARGET_MEASUREMENTS = 0.25
TARGET_SEEDS = 0.9
_OUTSIDE = "is not in the recorded table."

Tuner: TypeAlias = Callable[[TuneBench, EngineConfig, TuneGoal, Reporter], Experiment]


class TableBench:
    """A ``TuneBench`` that measures nothing: each run is one that was recorded.

    Runs of a configuration come in an order of the seed's, each once before one comes again, and
    the order does not depend on what was measured before.

    Attributes:
        given: How many runs were handed out, by configuration.
    """

    model: ModelFacts | None = None
    has_board = False

    def __init__(self, table: Table, seed: int) -> None:
        """Hand out the runs of ``table`` in an order that ``seed`` draws."""
        self.given: Counter[EngineConfig] = Counter()
        self._table = table
        self._seed = seed
        self._disturbed = ""

    @property
    def runs(self) -> int:
        """How many runs were handed out."""
        return self.given.total()

    def subject(self) -> Subject:
        """What the table was recorded on."""
        return self._table.experiment.subject

    def fits(self, config: EngineConfig) -> str:
        """Empty for what was measured; else why it was not, or that it is not in the table."""
        cell = self._table.cells.get(config)
        return f"{self._words(config)} {_OUTSIDE}" if cell is None else cell.skipped

    def measure(self, config: EngineConfig, variant: int = 0) -> Figures:
        """One of the recorded runs of ``config``.

        Raises:
            ConfigRefusedError: If there are none.
        """
        if sentence := self.fits(config):
            raise ConfigRefusedError(Problem(tuple(self._table.domain), sentence))
        cell = self._table.cells[config]
        again, number = divmod(self.given[config], len(cell.runs))
        self.given[config] += 1
        places = list(range(len(cell.runs)))
        random.Random(f"{self._seed}/{again}/{self._words(config)}").shuffle(places)
        self._disturbed = cell.disturbed[places[number]]
        return cell.runs[places[number]]

    def disturbed(self) -> str:
        """What was said of that run as it was recorded."""
        return self._disturbed

    def cell(self, config: EngineConfig) -> Cell:
        """``config`` as a cell without runs, with what the engine had made of it."""
        cell = self._table.cells.get(config)
        if cell is None:
            return Cell(self._words(config), config=changed_values(config))
        return msgspec.structs.replace(cell, runs=(), disturbed=(), notes=(), skipped="")

    def _words(self, config: EngineConfig) -> str:
        return self._table.name_of(config)


@dataclass(frozen=True)
class Replay:
    """One tuning of the table.

    Attributes:
        seed: What drew its start and its runs.
        start: Where it began.
        found: What it ended with; None where it gave up.
        start_share_of_best: Median of the start / the best median of the table.
        share_of_best: Median of what it found / the best median; 0 where it found nothing.
        measurements: Runs it took.
        share_of_measurements: Of the runs of the table.
        configurations: Configurations it measured.
        share_of_configurations: Of those of the table.
    """

    seed: int
    start: str
    found: str | None
    start_share_of_best: float
    share_of_best: float
    measurements: int
    share_of_measurements: float
    configurations: int
    share_of_configurations: float

    @property
    def is_met(self) -> bool:
        """Whether it found what is as good as the best, with few enough runs."""
        is_found = self.share_of_best >= WITHIN
        return is_found and self.share_of_measurements <= TARGET_MEASUREMENTS


class Unheard:
    """A reporter that nobody listens to."""

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        """Nothing."""

    def kept(self, experiment: Experiment) -> None:
        """Nothing."""


def goal_of(table: Table) -> TuneGoal:
    """Most tokens an hour from the settings of the table, with a quarter of what it took.

    A quarter of the runs, and of the configurations: neither is to be had for more of the other.
    """
    workload = msgspec.json.decode(table.experiment.workload, type=Workload)
    return TuneGoal(
        Purpose.BATCH,
        workload,
        users=workload.users,
        measurements=max(LEAST_MEASUREMENTS, math.floor(TARGET_MEASUREMENTS * table.runs)),
        configurations=max(2, math.floor(TARGET_MEASUREMENTS * len(table.ranked))),
        domain=table.domain,
    )


def replay(table: Table, seed: int, tuner: Tuner = tune) -> Replay:
    """Tune ``table`` once."""
    bench, start = TableBench(table, seed), table.start(seed)
    experiment = tuner(bench, start, goal_of(table), Unheard())
    found = found_config(experiment) if experiment.state is State.DONE else None
    return Replay(
        seed=seed,
        start=table.name_of(start),
        found=None if found is None else table.name_of(found),
        start_share_of_best=table.share_of_best(start),
        share_of_best=0.0 if found is None else table.share_of_best(found),
        measurements=bench.runs,
        share_of_measurements=bench.runs / table.runs,
        configurations=len(bench.given),
        share_of_configurations=len(bench.given) / len(table.ranked),
    )


def found_config(experiment: Experiment) -> EngineConfig | None:
    """The settings that a tuner ended with; None where it kept none."""
    cell = best_cell(experiment)
    return None if cell is None else config_of(cell, experiment.subject.model_path)


# --- What comes out -------------------------------------------------------------------------


def summary(replays: Sequence[Replay]) -> dict[str, Any]:
    """All seeds in figures."""
    met, needed = sum(each.is_met for each in replays), math.ceil(TARGET_SEEDS * len(replays))
    return {
        "seeds": len(replays),
        "met_seeds": met,
        "needed_seeds": needed,
        "is_met": met >= needed,
        "median_share_of_best": median(each.share_of_best for each in replays),
        "least_share_of_best": min(each.share_of_best for each in replays),
        "median_start_share_of_best": median(each.start_share_of_best for each in replays),
        "starts_as_good_as_best": sum(each.start_share_of_best >= WITHIN for each in replays),
        "largest_share_of_measurements": max(each.share_of_measurements for each in replays),
        "largest_share_of_configurations": max(each.share_of_configurations for each in replays),
    }


def as_json(replays: Sequence[Replay]) -> list[dict[str, Any]]:
    """Each seed."""
    return [msgspec.to_builtins(each) | {"is_met": each.is_met} for each in replays]


def lines(replays: Sequence[Replay], figures: Mapping[str, Any]) -> list[str]:
    """A line for each seed, and the verdict."""
    found = [f"{'seed':>4} {'start':>7} {'found':>7} {'runs':>11} {'configurations':>15}  found"]
    for each in replays:
        runs = f"{each.measurements} {100 * each.share_of_measurements:.0f} %"
        cells = f"{each.configurations} {100 * each.share_of_configurations:.0f} %"
        found.append(
            f"{each.seed:>4} {100 * each.start_share_of_best:5.1f} % "
            f"{100 * each.share_of_best:5.1f} % {runs:>11} {cells:>15}  "
            f"{each.found or 'nothing'}{'' if each.is_met else '  missed'}"
        )
    return [
        *found,
        f"{figures['starts_as_good_as_best']} of {figures['seeds']} began within 3 % of the best",
        f"target: within 3 % of the best with at most {100 * TARGET_MEASUREMENTS:.0f} % of the "
        f"runs for {figures['needed_seeds']} of {figures['seeds']} seeds: {figures['met_seeds']}: "
        f"{'met' if figures['is_met'] else 'MISSED'}",
    ]
