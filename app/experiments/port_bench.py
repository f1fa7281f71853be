"""The bench of a tuner on a running engine: plans, warms up, measures.

What fits is asked of a process that may die of it, with what the engine would give back; nothing is
found out by running out of memory.
"""

from __future__ import annotations

import contextlib
from typing import Protocol

import msgspec

from app.experiments.experiment import Cell, Figures, Subject
from app.experiments.grid import Judge
from app.experiments.measuring import (
    Measured,
    changed_values,
    configured_cell,
    name_of,
    request_note,
)
from app.experiments.model_hash import ModelHashes
from app.experiments.port import ConfigRefusedError, EngineGoneError, EnginePort
from app.experiments.reporter import Reporter
from app.experiments.runner import Runner, WorkloadRunner
from app.experiments.scripting import sample_text
from app.experiments.subject import facts_of, hashed_subject
from app.experiments.sweep_start import too_long_of
from app.experiments.tune_goal import VARIANTS, TuneGoal
from app.planning import PlanAnswer, plan_in_throwaway_process
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem

_BOARDS = ("gpu", "igpu")


class PlanBeside(Protocol):
    """Plans a configuration."""

    def __call__(self, config: EngineConfig, running: MemoryPlan | None = None) -> PlanAnswer:
        """Plan ``config``, counting what ``running`` would give back.

        Raises:
            PlanningError: If no plan can be had, in a sentence.
        """


class PortBench:
    """A ``TuneBench`` on a port; see there for what is not said here."""

    def __init__(
        self,
        port: EnginePort,
        goal: TuneGoal,
        model_path: str,
        reporter: Reporter,
        *,
        plan: PlanBeside = plan_in_throwaway_process,
        hashes: ModelHashes | None = None,
        runner: Runner | None = None,
        running: MemoryPlan | None = None,
    ) -> None:
        """Look at the model's file and the workload's text.

        Args:
            port: The engine.
            goal: With the workload and the memory margin.
            model_path: The model's file.
            reporter: Told of what takes its time before the first run.
            plan: Plans a configuration.
            hashes: Hashes of model files; those kept for this user by default.
            runner: Runs the workload; one that watches this machine by default.
            running: What the engine occupies already; None if it has no model.

        Raises:
            DomainError: If the file is no model, in a sentence.
            WorkloadError: If the workload, or its text, cannot be used.
        """
        self._port = port
        self._goal = goal
        self._model_path = model_path
        self._reporter = reporter
        self._plan = plan
        self._hashes = hashes or ModelHashes()
        self._model = facts_of(model_path)
        workload = goal.run_workload
        sample_text(workload)
        self._runner = runner or WorkloadRunner(workload)
        self._running = running
        self._applied: Applied | None = None
        self._made: dict[EngineConfig, Cell] = {}
        self._disturbed = ""
        self._judge = Judge(
            too_long_of(workload, VARIANTS),
            self._planned,
            self._model,
            margin_bytes=goal.margin_bytes,
        )

    @property
    def model(self) -> ModelFacts | None:
        """The facts of its header."""
        return self._model

    @property
    def has_board(self) -> bool:
        """Whether the engine sees a GPU."""
        return any(device.kind in _BOARDS for device in self._port.hello.devices)

    def subject(self) -> Subject:
        """The model on this machine; hashes its file if that is not known."""
        return hashed_subject(
            self._port, self._model_path, self._model, self._hashes, self._reporter
        )

    def fits(self, config: EngineConfig) -> str:
        """Asks the planner, with the margin, and whether the workload fits into a slot."""
        # Raises where the user wants to stop; a dead engine harms no plan of another process.
        with contextlib.suppress(EngineGoneError):
            self._port.next_event(0.0)
        return self._judge.reason(config)

    def measure(self, config: EngineConfig, variant: int = 0) -> Figures:
        """Applies ``config``, warms up and runs the workload."""
        applied = self._put_in_force(config)
        try:
            self._runner.warm_up(self._port)
            measured = self._runner.run(self._port, applied, variant=variant)
        except EngineGoneError:
            self._applied = self._running = None
            raise
        self._disturbed = measured.disturbed
        if not measured.figures.requests:
            raise ConfigRefusedError(Problem((), _nothing(measured)))
        return measured.figures

    def disturbed(self) -> str:
        """By the conditions watched during the last run."""
        return self._disturbed

    def cell(self, config: EngineConfig) -> Cell:
        """With what the engine made of it, once it has run."""
        if config in self._made:
            return self._made[config]
        return Cell(name=name_of(config), config=changed_values(config))

    # --- Inside -------------------------------------------------------------------------

    def _put_in_force(self, config: EngineConfig) -> Applied:
        if self._applied is None or self._applied.config != config:
            before, self._applied = self._applied, None
            try:
                self._applied = self._port.apply(config)
            except ConfigRefusedError:
                self._applied = before  # it goes on with what it had
                raise
            except EngineGoneError:
                self._running = None
                raise
            self._running = self._applied.memory
            made = configured_cell(self._port, config, self._applied)
            self._made[config] = msgspec.structs.replace(made, notes=())
        return self._applied

    def _planned(self, config: EngineConfig) -> PlanAnswer:
        return self._plan(config, self._running)


def _nothing(measured: Measured) -> str:
    return request_note([measured]) or "None of its requests was answered."
