"""A made-up table of the tuner's bench: speeds by a formula, runs that scatter around it."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

from app.experiments.experiment import Cell, Experiment, Figures, Kind, State
from app.experiments.measuring import changed_values
from app.experiments.workload_file import kept_json
from engine_bridge.settings.config import EngineConfig
from tests.bench import tuner_table
from tests.bench.tuner_table import Domain, Table
from tests.unit.experiments.made_up import SMALL, SUBJECT

BASE = EngineConfig(model_path="/m.gguf")
NARROW: Domain = {"slots": (1, 2), "threads": (1, 2)}
WIDE: Domain = {
    "slots": (1, 2, 4, 8),
    "threads": (1, 2),
    "ubatch_tok": (32, 512),
    "flash_attn": ("off", "on"),
    "cache_type_k": ("f16", "q8_0"),
}


def speed(config: EngineConfig) -> float:
    """Threads help, slots help with two threads only, a quantised cache costs."""
    slots = {1: 1.0, 2: 1.2, 4: 1.5, 8: 1.4}[config.slots] if config.threads == 2 else 1.0
    ubatch = 1.1 if config.ubatch_tok == 512 and config.slots >= 4 else 1.0
    cache = 0.94 if config.cache_type_k == "q8_0" else 1.0
    flash = 1.04 if config.flash_attn == "on" else 1.0
    return 20.0 * int(config.threads) * slots * ubatch * cache * flash


def made_table(
    domain: Domain = NARROW,
    speed_of: Callable[[EngineConfig], float] = speed,
    *,
    runs: int = 4,
    noise: float = 0.0,
) -> Table:
    """A table whose runs scatter around ``speed_of``."""
    chance = random.Random(1)
    cells = []
    for values in product(*domain.values()):
        config = BASE.with_values(dict(zip(domain, values, strict=True)))
        figures = tuple(
            Figures(total_tok_s=speed_of(config) * chance.gauss(1.0, noise), requests=8)
            for _ in range(runs)
        )
        name = tuner_table.name_in(domain, config)
        cells.append(
            Cell(name, config=changed_values(config), runs=figures, disturbed=("",) * runs)
        )
    experiment = Experiment(
        key="k", kind=Kind.SWEEP, begun_at="2026-11-30", state=State.DONE, title="t",
        subject=SUBJECT, workload=kept_json(SMALL), cells=tuple(cells),
    )  # fmt: skip
    return Table(domain, experiment)
