"""Whether a configuration fits into memory, asked before anything is allocated.

A context that is too large gets the process killed by the system, not refused, so the question
comes first. Knows when a rough answer will do; the exact one is the planner's.
"""

from __future__ import annotations

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
    facts: ModelFacts, config: EngineConfig, running: MemoryPlan | None
) -> Problem | None:
    """Why ``config`` does not fit, or None.

    Args:
        facts: The model.
        config: What is to run, its rules checked.
        running: What the engine occupies now and would give back.
    """
    if _fits_easily(facts, config) or not can_measure_memory():
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


def _fits_easily(facts: ModelFacts, config: EngineConfig) -> bool:
    """Whether main memory suffices even by an estimate that is far too high.

    Never on recurrent models, whose state no header tells, nor where a board may take a share.
    """
    if facts.is_recurrent or facts.is_hybrid or (config.n_gpu_layers != 0 and _has_boards()):
        return False
    bits = CACHE_TYPES[config.cache_type_k].bits_per_value
    bits = max(bits, CACHE_TYPES[config.cache_type_v].bits_per_value)
    cache = facts.bytes_per_token_f16 * bits / _F16_BITS * config.pool_tok
    logits = 4 * facts.vocab * (config.outputs_max + config.ubatch_tok)
    need = facts.tensor_bytes * (1 + _REPACK_SHARE) + cache + logits + _REST_BYTES
    return bool(facts.bytes_per_token_f16) and need < psutil.virtual_memory().available


def _has_boards() -> bool:
    return any(device.kind in ("gpu", "igpu") for device in GGML.devices())
