"""Changes with which a refused configuration would run: each of them tried, never only thought of.

Every problem offers a repair of its own; two of them may contradict each other, and what keeps the
rules may still be too large for the machine. So they are put together, and planned anew.
"""

from __future__ import annotations

from collections.abc import Callable

from app.planning import PlanAnswer, PlanningError
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.problem import Problem, Severity
from engine_bridge.settings.rules import errors_of, repaired

# Rules, adapters, workers and devices come to light one after another; each round is a dry run.
_MOST_ROUNDS = 4
_MOST_REPAIRS = 40


def ways_out(
    config: EngineConfig, answer: PlanAnswer, plan: Callable[[EngineConfig], PlanAnswer]
) -> tuple[dict[str, Value], ...]:
    """Values to change so that ``config`` fits, the nearest first; empty where none is known.

    Args:
        config: What was planned.
        answer: Its plan.
        plan: Plans another one; may raise ``PlanningError``.
    """
    if answer.plan.effective is not None:
        return answer.plan.ways
    tried = config
    for _ in range(_MOST_ROUNDS):
        changed = _repaired(tried, answer)
        if changed is None:
            return ()
        try:
            tried, answer = changed, plan(changed)
        except PlanningError:
            return ()
        if answer.plan.effective is not None:
            return _from(config, tried, answer)
    return ()


def _from(
    config: EngineConfig, tried: EngineConfig, answer: PlanAnswer
) -> tuple[dict[str, Value], ...]:
    """The changes from ``config`` to what fits: ``tried`` itself, or what it would still take."""
    ends = [tried] if answer.plan.fits else [tried.with_values(dict(w)) for w in answer.plan.ways]
    return tuple({key: getattr(end, key) for key in end.changed_from(config)} for end in ends)


def _repaired(config: EngineConfig, answer: PlanAnswer) -> EngineConfig | None:
    """``config`` with its errors mended, one at a time; None where one has no repair."""
    rule_words = {problem.message for problem in errors_of(config, answer.model)}
    for problem in answer.plan.problems:
        if problem.severity is Severity.ERROR and problem.message not in rule_words:
            if not problem.fix:
                return None
            config = repaired(config, problem)
    return _keeping_rules(config, answer.model)


def _keeping_rules(config: EngineConfig, model: ModelFacts | None) -> EngineConfig | None:
    for _ in range(_MOST_REPAIRS):
        errors: tuple[Problem, ...] = errors_of(config, model)
        if not errors:
            return config
        if not errors[0].fix:
            return None
        config = repaired(config, errors[0])
    return None
