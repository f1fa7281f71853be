"""An engine that is as fast as a function says, and a tuner let loose on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from app.experiments.experiment import Cell, Experiment, Figures, Subject
from app.experiments.lengths import Fixed
from app.experiments.measuring import changed_values, name_of
from app.experiments.port import PortError, StoppedError
from app.experiments.tune_goal import Purpose, TuneGoal
from app.experiments.tune_result import best_cell, config_of
from app.experiments.tune_steps import Cores
from app.experiments.tuner import tune
from app.experiments.workload import Material, Workload
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from tests.unit.experiments.made_up import SUBJECT, Listener
from tests.unit.experiments.made_up_tables import figures

WORK = Workload(
    "work", Material.PROSE, Fixed(64), Fixed(100), requests=8, ttft_slo_s=1.0, tpot_slo_s=0.1
)
PLAIN = EngineConfig(model_path="/m.gguf")
CORES = Cores(2, 2)
Speed = Callable[[EngineConfig], float]


class Clock:
    """Moved on by what is measured.

    Attributes:
        now_s: Seconds.
    """

    def __init__(self, runs_s: Iterator[float]) -> None:
        self.now_s = 100.0
        self._runs_s = runs_s

    def __call__(self) -> float:
        return self.now_s

    def pass_run(self) -> None:
        self.now_s += next(self._runs_s)


@dataclass
class SpeedBench:
    """A ``TuneBench`` whose engine is as fast as a function says, exactly.

    Attributes:
        speed: Tokens per second of a configuration.
        misfit: Why a configuration does not fit; empty where it does.
        run: Makes a run of a speed and its configuration.
        fails: Raises for a configuration what its run raises.
        stop_after: Runs after which the user stops it; None never.
        measured: What was measured, run by run.
        variants: The texts of each run.
        clock: Moved on by each run; None where time stands still.
    """

    speed: Speed
    misfit: Callable[[EngineConfig], str] = lambda config: ""
    run: Callable[[float, EngineConfig], Figures] = lambda speed, config: figures(speed)
    fails: Callable[[EngineConfig], PortError | None] = lambda config: None
    stop_after: int | None = None
    has_board: bool = False
    model: ModelFacts | None = None
    measured: list[EngineConfig] = field(default_factory=list)
    variants: list[int] = field(default_factory=list)
    clock: Clock | None = None

    def subject(self) -> Subject:
        return SUBJECT

    def fits(self, config: EngineConfig) -> str:
        return self.misfit(config)

    def measure(self, config: EngineConfig, variant: int = 0) -> Figures:
        if self.stop_after is not None and len(self.measured) >= self.stop_after:
            raise StoppedError("Stopped.")
        self.measured.append(config)
        self.variants.append(variant)
        if self.clock is not None:
            self.clock.pass_run()
        if (error := self.fails(config)) is not None:
            raise error
        # Not all alike, or the spread of the runs would be none.
        return self.run(self.speed(config) * (1 + 0.002 * (len(self.measured) % 3)), config)

    def disturbed(self) -> str:
        return ""

    def cell(self, config: EngineConfig) -> Cell:
        return Cell(name=name_of(config), config=changed_values(config))


def tuned(
    bench: SpeedBench,
    purpose: Purpose = Purpose.CHAT,
    *,
    start: EngineConfig = PLAIN,
    listener: Listener | None = None,
    users: int = 8,
    **values: object,
) -> Experiment:
    goal = TuneGoal(
        purpose,
        WORK,
        users=1 if purpose is Purpose.CHAT else users,
        **values,  # type: ignore[arg-type]
    )
    clock = bench.clock or (lambda: 0.0)
    return tune(bench, start, goal, listener or Listener(), cores=CORES, clock=clock)


def best_of(experiment: Experiment) -> EngineConfig:
    best = best_cell(experiment)
    assert best is not None
    return config_of(best, PLAIN.model_path)


def said_of(experiment: Experiment) -> str:
    return "\n".join(note for cell in experiment.cells for note in cell.notes)


def by_threads(config: EngineConfig) -> float:
    """One thread is faster, for whatever reason."""
    return 15.0 if config.threads == 1 else 10.0
