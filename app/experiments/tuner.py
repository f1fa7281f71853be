"""A tuner: settings changed one after the other in the practitioners' order, each step measured."""

from __future__ import annotations

from app.experiments.experiment import Experiment
from app.experiments.reporter import Reporter
from app.experiments.tune_bench import TuneBench
from app.experiments.tune_goal import TuneGoal
from engine_bridge.settings.config import EngineConfig


def tune(
    bench: TuneBench, start: EngineConfig, goal: TuneGoal, reporter: Reporter
) -> Experiment:
    """Find settings for ``goal``, beginning with ``start``.

    Args:
        bench: Measures, and knows what fits in memory.
        start: The settings to begin with, with the model.
        goal: What the settings are for, and what must hold.
        reporter: Told how far it is, and handed the experiment after every run.

    Returns:
        The experiment, kind ``TUNE``: done, or stopped with what was best so far. The best is the
        last cell whose notes begin with a sentence of ``KEPT``.
    """
    raise NotImplementedError
