"""What a tuner needs to measure with: an engine, or a table that was recorded before."""

from __future__ import annotations

from typing import Protocol

from app.experiments.experiment import Cell, Figures, Subject
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig


class TuneBench(Protocol):
    """Measures configurations of one model with one workload."""

    @property
    def model(self) -> ModelFacts | None:
        """The model's facts, for the rules; None if they are not known."""

    @property
    def has_board(self) -> bool:
        """Whether the engine can put layers onto a GPU; a table that was recorded says no."""

    def subject(self) -> Subject:
        """What is measured, and where.

        Raises:
            StoppedError: If the user stopped meanwhile.
        """

    def fits(self, config: EngineConfig) -> str:
        """Why ``config`` cannot run, in a sentence of the planner; empty where it can.

        Raises:
            StoppedError: If the user stopped meanwhile.
        """

    def measure(self, config: EngineConfig, variant: int = 0) -> Figures:
        """Run the workload once on ``config``, after a warm-up that is thrown away.

        Args:
            config: What to measure.
            variant: Runs of the same number do the same work; others have other texts of the same
                kind, since drafts learn from texts they have seen. A recorded table, where each
                run of a configuration stands by itself, may leave it alone.

        Raises:
            ConfigRefusedError: If the engine refuses it.
            StoppedError: If the user stopped meanwhile.
            PortError: If nothing could be measured.
        """

    def disturbed(self) -> str:
        """What disturbed the run measured last, in sentences; empty for a quiet one."""

    def cell(self, config: EngineConfig) -> Cell:
        """``config`` as a cell without runs; once it has run, with what the engine made of it."""
