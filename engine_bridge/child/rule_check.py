"""What must be so before anything is tried: the rules, and what this machine can be asked for."""

from __future__ import annotations

from engine_bridge.child.threads import threads_problem
from engine_bridge.lora_facts import lora_problem
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem, errors_of


def rule_problem(config: EngineConfig, facts: ModelFacts) -> Problem | None:
    """The first rule that ``config`` breaks on this model and this machine, or None.

    Counts of other texts are no part of it: reading them takes longer than a step may wait.
    """
    problem = next(iter(errors_of(config, facts)), None) or threads_problem(config)
    return problem or lora_problem(config, facts)
