"""Files that a configuration names beside its models: whether they can be used."""

from __future__ import annotations

from engine_bridge.child.speculation.lookup_files import checked_counts
from engine_bridge.lora_facts import lora_problem
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem


def files_problems(config: EngineConfig, model: ModelFacts) -> tuple[Problem, ...]:
    """What is wrong with the adapters and the counts that ``config`` names, for ``model``.

    Reads the counts: not for the thread that computes tokens.
    """
    found = lora_problem(config, model), checked_counts(config, model).problem
    return tuple(problem for problem in found if problem is not None)
