"""Recorded tables for tuners that nobody recorded: made of effects, interactions and noise.

A table has a few runs of every combination of its domain. A bench hands them out in an order drawn
by its seed, each once before any comes again, as a replay of a real table would.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from statistics import median

from app.experiments.experiment import Cell, Figures, Subject
from app.experiments.measuring import changed_values, name_of
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.rules import errors_of
from tests.unit.experiments.made_up import SUBJECT

Speed = Callable[[EngineConfig], float]
"""True speed of a configuration, 1 or so for a usual one."""

START = EngineConfig(model_path="/m.gguf", slots=1, threads=1, flash_attn="off", ubatch_tok=512)
DOMAIN: dict[str, tuple[Value, ...]] = {
    "slots": (1, 2, 4, 8),
    "cache_type_k": ("f16", "q8_0"),
    "cache_type_v": ("f16", "q8_0"),
    "threads": (1, 2),
    "ubatch_tok": (128, 256, 512, 1024),
    "flash_attn": ("on", "off"),
}


@dataclass(frozen=True)
class Table:
    """Runs of every combination that keeps the rules.

    Attributes:
        speeds: Speeds of the runs by configuration.
    """

    speeds: Mapping[EngineConfig, tuple[float, ...]]

    @property
    def runs(self) -> int:
        """All of them."""
        return sum(len(runs) for runs in self.speeds.values())

    def share_of_best(self, config: EngineConfig) -> float:
        """Its median / the best median."""
        return median(self.speeds[config]) / max(median(runs) for runs in self.speeds.values())


def table_of(
    speed: Speed,
    *,
    noise: float,
    seed: int,
    start: EngineConfig = START,
    domain: Mapping[str, tuple[Value, ...]] = DOMAIN,
    runs: int = 5,
) -> Table:
    """Record a table.

    Args:
        speed: True speeds.
        noise: Sigma of the logarithm of a run.
        seed: Of the noise.
        start: What does not vary.
        domain: What does; KV types go together.
        runs: Of each configuration.
    """
    chance = random.Random(seed)
    speeds = {}
    for config in configs_of(start, domain):
        true = speed(config)
        speeds[config] = tuple(true * math.exp(chance.gauss(0, noise)) for _ in range(runs))
    return Table(speeds)


def configs_of(start: EngineConfig, domain: Mapping[str, tuple[Value, ...]]) -> list[EngineConfig]:
    """Every combination that keeps the rules, K and V caches alike."""
    found = []
    for values in product(*domain.values()):
        config = start.with_values(dict(zip(domain, values, strict=True)))
        if config.cache_type_k == config.cache_type_v and not errors_of(config):
            found.append(config)
    return found


def random_speed(seed: int) -> Speed:
    """Effects as on a laptop, with sizes drawn by the seed: some large, some none, some opposed."""
    chance = random.Random(f"speed {seed}")
    # Each doubling brings less than the one before.
    gains = [chance.choice((0.35, 0.2, 0.06, -0.04)) * chance.uniform(0.6, 1.2) for _ in range(3)]
    slots = [0.0]
    for gain in sorted(gains, reverse=True):
        slots.append(slots[-1] + gain)
    peak = chance.choice((128, 256, 512, 1024))
    slope = chance.uniform(0.01, 0.06)
    flash, quantised = chance.uniform(-0.08, 0.12), chance.uniform(-0.12, 0.03)
    threads = chance.choice((0.5, 0.25, -0.1))
    crossing = chance.uniform(-0.04, 0.04)

    def speed(config: EngineConfig) -> float:
        doubled = int(math.log2(config.slots))
        is_flash, is_quantised = config.flash_attn == "on", config.cache_type_k != "f16"
        log = slots[doubled] + (threads if config.threads == 2 else 0.0)
        log += flash * is_flash + quantised * is_quantised
        # More slots read more at once: the best micro-batch moves with them.
        log -= slope * abs(math.log2(config.ubatch_tok / peak) - crossing * 10 * doubled)
        log += crossing * doubled * is_flash
        return 40 * math.exp(log)

    return speed


@dataclass
class TableBench:
    """A ``TuneBench`` that replays a table.

    Attributes:
        table: What was recorded.
        seed: Of the order in which runs are handed out.
        measured: Configurations, one for each run that was handed out.
        model: None.
        has_board: None here.
    """

    table: Table
    seed: int = 0
    measured: list[EngineConfig] = field(default_factory=list)
    model: ModelFacts | None = None
    has_board: bool = False

    def __post_init__(self) -> None:
        """Nothing is handed out yet."""
        self._left: dict[EngineConfig, list[float]] = {}

    def subject(self) -> Subject:
        """Some machine."""
        return SUBJECT

    def fits(self, config: EngineConfig) -> str:
        """Only what was recorded does."""
        return "" if config in self.table.speeds else "It is not in the table."

    def measure(self, config: EngineConfig, variant: int = 0) -> Figures:
        """The next run."""
        if not self._left.get(config):
            runs = list(self.table.speeds[config])
            # Without a setting that came later and that no table varies: the same luck as before.
            name = str(config).replace(", extra_flags=()", "")
            random.Random(f"{self.seed}/{name}/{len(self.measured)}").shuffle(runs)
            self._left[config] = runs
        self.measured.append(config)
        return figures(self._left[config].pop())

    def disturbed(self) -> str:
        """Never."""
        return ""

    def cell(self, config: EngineConfig) -> Cell:
        """Its settings."""
        return Cell(name=name_of(config), config=changed_values(config))


def figures(speed_tok_s: float) -> Figures:
    """A run of so much total throughput, alone or shared."""
    return Figures(
        ttft_s=4 / speed_tok_s,
        tpot_s=1 / speed_tok_s,
        user_tok_s=speed_tok_s,
        total_tok_s=speed_tok_s,
        requests=8,
        new_tok=100,
        duration_s=100 / speed_tok_s,
    )
