"""Whether a configuration fits into memory, asked before anything is allocated.

A context that is too large gets the process killed by the system, not refused, so the question
comes first. Knows when a rough answer will do; the exact one is the planner's.
"""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from engine_bridge.child.llama import GGML, can_measure_memory
from engine_bridge.child.planner import Planner, PlanRefusedError
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem, Severity

# Rough answer: weights once more as repacked copies, and this much for everything else.
_REPACK_SHARE = 1.0
_REST_BYTES = 2 << 30
_F16_BITS = 16


def memory_problem(
    facts: ModelFacts,
    config: EngineConfig,
    running: MemoryPlan | None,
    draft: ModelFacts | None = None,
) -> Problem | None:
    """Why ``config`` does not fit, or None.

    Args:
        facts: The model.
        config: What is to run, its rules checked.
        running: What the engine occupies now and would give back.
        draft: Its draft model, None without one.
    """
    models = [(facts, config)]
    if draft is not None and config.draft is not None:
        models.append((draft, config.draft))
    if _fit_easily(models) or not can_measure_memory():
        return None
    planner = Planner()
    try:
        plan = planner.plan(config, running)
    except PlanRefusedError as error:
        return error.problem
    finally:
        planner.close()
    errors = [p for p in plan.problems if p.severity is Severity.ERROR]
    return errors[0] if errors else None


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
    return need < psutil.virtual_memory().available


def _roughly_needed_bytes(facts: ModelFacts, config: EngineConfig) -> float:
    bits = CACHE_TYPES[config.cache_type_k].bits_per_value
    bits = max(bits, CACHE_TYPES[config.cache_type_v].bits_per_value)
    cache = facts.bytes_per_token_f16 * bits / _F16_BITS * config.pool_tok
    logits = 4 * facts.vocab * (config.outputs_max + config.ubatch_tok)
    return facts.tensor_bytes * (1 + _REPACK_SHARE) + cache + logits + _REST_BYTES


def _has_boards() -> bool:
    return any(device.kind in ("gpu", "igpu") for device in GGML.devices())
