"""What the window's form asks for, as a value: the same functions as on the command line. Pure.

``app.experiment_form`` makes one of what was typed; ``app.experiment_run`` carries it out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from app.experiments.bench import bench
from app.experiments.compare import Comparison
from app.experiments.experiment import Experiment, Kind
from app.experiments.measures import Measure
from app.experiments.model_hash import ModelHashes
from app.experiments.port import EnginePort
from app.experiments.port_bench import PortBench
from app.experiments.quality import Compares, QualityAsked, quality
from app.experiments.reporter import Reporter
from app.experiments.server_address import address_of, key_of
from app.experiments.subject import facts_of, subject_of
from app.experiments.sweep_start import compare_configs, sweep_of_words
from app.experiments.tune_goal import TuneGoal
from app.experiments.tuner import tune
from app.experiments.users import simulate_users
from app.experiments.users_plan import UsersPlan
from app.experiments.workload import Workload
from app.try_request import TryRequest
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import Hello
from engine_bridge.settings.config import EngineConfig

if TYPE_CHECKING:
    from app.experiments.probe_port import ServerPort


@dataclass(frozen=True)
class BenchRequest:
    """One configuration measured some times.

    Attributes:
        config: Settings with the model.
        workload: What is run.
        runs: How often.
    """

    config: EngineConfig
    workload: Workload
    runs: int
    kind = Kind.BENCH

    def do(self, port: EnginePort, reporter: Reporter) -> Experiment:
        """Carry it out; blocks, see ``bench``."""
        return bench(port, self.config, self.workload, reporter, self.runs)


@dataclass(frozen=True)
class SweepRequest:
    """Every combination of some values.

    Attributes:
        config: Settings that do not vary, with the model.
        words: What varies, as ``grid_of`` reads it.
        workload: What is run.
        measure: By what the best is chosen.
        rounds: How often each combination is measured.
        kept: A sweep of the same words to go on with.
    """

    config: EngineConfig
    words: tuple[str, ...]
    workload: Workload
    measure: Measure
    rounds: int
    kept: Experiment | None = None
    kind = Kind.SWEEP

    def do(self, port: EnginePort, reporter: Reporter) -> Experiment:
        """Carry it out; blocks, see ``sweep_of_words``."""
        return sweep_of_words(
            port,
            self.config,
            self.words,
            self.workload,
            reporter,
            measure=self.measure,
            rounds=self.rounds,
            kept=self.kept,
        )


@dataclass(frozen=True)
class CompareRequest:
    """A against B.

    Attributes:
        asked: Both, the figure that decides, and the budget.
        names: What tells A from B.
        workload: What is run.
    """

    asked: Comparison
    names: tuple[str, str]
    workload: Workload
    kind = Kind.COMPARE

    @property
    def config(self) -> EngineConfig:
        """A."""
        return self.asked.first

    def do(self, port: EnginePort, reporter: Reporter) -> Experiment:
        """Carry it out; blocks, see ``compare_configs``."""
        return compare_configs(port, self.asked, self.names, self.workload, reporter)


@dataclass(frozen=True)
class UsersRequest:
    """Simulated users.

    Attributes:
        config: Settings with the model.
        plan: How many of them, and what each does.
    """

    config: EngineConfig
    plan: UsersPlan
    kind = Kind.USERS

    @property
    def workload(self) -> Workload:
        """What each of them does."""
        return self.plan.workload

    def do(self, port: EnginePort, reporter: Reporter) -> Experiment:
        """Carry it out; blocks, see ``simulate_users``."""
        return simulate_users(port, self.config, self.plan, reporter)


@dataclass(frozen=True)
class TuneRequest:
    """Settings sought for a purpose.

    Attributes:
        config: The settings to begin with, with the model.
        goal: What they are for, and what must hold.
        running: What the engine occupies now; None where nobody knows.
    """

    config: EngineConfig
    goal: TuneGoal
    running: MemoryPlan | None = None
    kind = Kind.TUNE

    @property
    def workload(self) -> Workload:
        """What is run for each measurement."""
        return self.goal.run_workload

    def do(self, port: EnginePort, reporter: Reporter) -> Experiment:
        """Carry it out; blocks, see ``tune``."""
        bench = PortBench(port, self.goal, self.config.model_path, reporter, running=self.running)
        return tune(bench, self.config, self.goal, reporter)


@dataclass(frozen=True)
class QualityRequest:
    """A quantised KV cache beside f16; needs no port, for it has a process of its own.

    Attributes:
        asked: The model, the candidates and the text.
    """

    asked: QualityAsked
    kind = Kind.QUALITY

    @property
    def config(self) -> EngineConfig:
        """Settings with the model."""
        return self.asked.config

    def do(self, process: Compares, hello: Hello, reporter: Reporter) -> Experiment:
        """Carry it out; blocks, see ``quality``.

        Args:
            process: Makes the comparisons.
            hello: How the window's engine introduced itself, for what is measured where.
            reporter: Told how far it is.

        Raises:
            DomainError: If the model's file is none any more, in a sentence.
        """
        path = self.config.model_path
        reporter.progressed(0.0, "Looking at the model", None)
        facts = facts_of(path)
        subject = subject_of(hello, path, facts, ModelHashes().of(path))
        return quality(self.asked, process, reporter, subject, model=facts)


@dataclass(frozen=True)
class ProbeRequest:
    """A server measured with the same ruler, and the window's engine beside it if that is wanted.

    Attributes:
        url: Where it is.
        served: What it calls the model; empty takes the only one.
        key_env: Variable of the environment that holds its key; empty for the usual one.
        workload: What is run.
        runs: How often each is measured.
        config: What the engine beside it runs; None for the server alone.
    """

    url: str
    served: str
    key_env: str
    workload: Workload
    runs: int
    config: EngineConfig | None = None
    kind = Kind.PROBE

    def server(self) -> ServerPort:
        """The way to the server, to be entered; connects to nothing yet.

        Raises:
            DomainError: If the address or the key cannot be, in a sentence.
        """
        # Its client takes a second to be imported: not before somebody asks for it.
        from app.experiments.probe_port import ServerPort  # noqa: PLC0415

        address = address_of(self.url)
        return ServerPort(address, key_of(address, self.key_env or None, os.environ))

    def do(self, server: ServerPort, engine: EnginePort | None, reporter: Reporter) -> Experiment:
        """Carry it out; blocks, see ``probe``."""
        from app.experiments.probe import Beside, probe  # noqa: PLC0415

        beside = None
        if engine is not None and self.config is not None:
            beside = Beside(engine, self.config)
        return probe(server, self.served, self.workload, reporter, self.runs, beside=beside)


PortRequest: TypeAlias = BenchRequest | SweepRequest | CompareRequest | UsersRequest | TuneRequest
"""What is carried out on the window's engine."""

Request: TypeAlias = PortRequest | QualityRequest | ProbeRequest | TryRequest
