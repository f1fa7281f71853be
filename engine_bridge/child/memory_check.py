"""Whether a configuration fits into memory, asked before anything is allocated.

A context that is too large gets the process killed by the system, not refused, so the question
comes first. Knows when a rough answer will do; the exact one is the planner's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine_bridge.child.auto_placement import Placed, placed_in
from engine_bridge.child.llama import GGML, can_measure_memory
from engine_bridge.child.load_faults import CannotLoadError
from engine_bridge.child.planner import OutdatedError, Planner, PlanRefusedError
from engine_bridge.hardware.memory_limit import host_memory
from engine_bridge.memory_plan import MemoryPlan, moves_weights
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem, Severity

# Rough answer: weights once more as repacked copies, and this much for everything else.
_REPACK_SHARE = 1.0
_REST_BYTES = 2 << 30
_F16_BITS = 16


@dataclass(frozen=True)
class Checked:
    """What the check says.

    Attributes:
        problem: Why the configuration does not fit, or None.
        placed: What became of the layers that were left to ``auto``.
        moves_weights: It fits only with the weights placed otherwise than those that run.
    """

    problem: Problem | None = None
    placed: Placed = field(default_factory=Placed)
    moves_weights: bool = False


def check_memory(
    facts: ModelFacts,
    config: EngineConfig,
    running: MemoryPlan | None,
    draft: ModelFacts | None = None,
    *,
    keeps_model: bool = False,
    is_draft: bool = False,
    is_outdated: Callable[[], bool] = lambda: False,
) -> Checked:
    """Ask whether ``config`` fits, and where its layers go.

    Args:
        facts: The model.
        config: What is to run, its rules checked.
        running: What the engine occupies now and would give back.
        draft: Its draft model, None without one.
        keeps_model: The weights that run are to stay.
        is_draft: ``facts`` and ``config`` are a draft model's own.
        is_outdated: Whether nobody waits for the answer any more.

    Raises:
        OutdatedError: If nobody does.
    """
    models = [(facts, config)]
    if draft is not None and config.draft is not None:
        models.append((draft, config.draft))
    if _fit_easily(models) or not can_measure_memory():
        return Checked()
    planner = Planner(is_outdated=is_outdated)
    try:
        plan = planner.plan(config, running, keeps_model=keeps_model, is_draft=is_draft)
    except PlanRefusedError as error:
        return Checked(error.problem)
    finally:
        planner.close()
    errors = [p for p in plan.problems if p.severity is Severity.ERROR]
    placed = Placed() if plan.effective is None else placed_in(plan.effective)
    was = None if running is None else running.effective
    moves = keeps_model and was is not None and moves_weights(was, plan.effective)
    return Checked(errors[0] if errors else None, placed, moves)


def with_way_out(
    failure: CannotLoadError,
    config: EngineConfig,
    running: MemoryPlan | None,
    is_outdated: Callable[[], bool] = lambda: False,
) -> CannotLoadError:
    """``failure`` of ``config`` with what would fit, where an allocation was its reason.

    Args:
        failure: Why it could not be had.
        config: What was to run; nothing of it is allocated any more.
        running: What the engine occupies now and would give back.
        is_outdated: Whether nobody waits for the answer any more.
    """
    if failure.fault is None or not can_measure_memory():
        return failure
    planner = Planner(is_outdated=is_outdated)
    try:
        plan = planner.plan(config, running, failed=failure.fault)
    except (PlanRefusedError, OutdatedError):
        return failure
    finally:
        planner.close()
    return CannotLoadError(plan.problems[0], fault=failure.fault)


def _fit_easily(models: Sequence[tuple[ModelFacts, EngineConfig]]) -> bool:
    """Whether main memory suffices even by an estimate that is far too high.

    Never on recurrent models, whose state no header tells, nor where a board may take a share.
    """
    need = 0.0
    for facts, config in models:
        if facts.is_recurrent or facts.is_hybrid or not facts.bytes_per_token_f16:
            return False
        if config.n_gpu_layers != 0 and _has_boards():
            return False
        need += _roughly_needed_bytes(facts, config)
    return need < host_memory().free


def _roughly_needed_bytes(facts: ModelFacts, config: EngineConfig) -> float:
    bits = CACHE_TYPES[config.cache_type_k].bits_per_value
    bits = max(bits, CACHE_TYPES[config.cache_type_v].bits_per_value)
    cache = facts.bytes_per_token_f16 * bits / _F16_BITS * config.pool_tok
    logits = 4 * facts.vocab * (config.outputs_max + config.ubatch_tok)
    return facts.tensor_bytes * (1 + _REPACK_SHARE) + cache + logits + _REST_BYTES


def _has_boards() -> bool:
    return any(device.kind in ("gpu", "igpu") for device in GGML.devices())
