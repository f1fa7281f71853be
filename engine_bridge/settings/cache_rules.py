"""Rules of prompt caches: what has no effect together."""

from __future__ import annotations

import msgspec

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem, Rule, Severity
from engine_bridge.settings.shift_rules import SHIFT_RULES


def _chunks_need_a_memory_that_moves(
    config: EngineConfig, model: ModelFacts | None
) -> Problem | None:
    """Chunks are moved as a context shift moves them, so it is possible where that is."""
    if not config.cache_reuse_tok or model is None:
        return None
    shifting = msgspec.structs.replace(config, context_shift=True)
    if all(rule(shifting, model) is None for rule in SHIFT_RULES):
        return None
    return Problem(
        ("cache_reuse_tok",),
        f"The memory of {model.name} cannot be moved to other positions, so chunk reuse has no "
        "effect: what stands behind a change is computed again.",
        {"cache_reuse_tok": 0},
        Severity.WARNING,
    )


def _chunks_need_prompt_caching(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if not config.cache_reuse_tok or config.cache_prompt:
        return None
    return Problem(
        ("cache_reuse_tok", "cache_prompt"),
        "Chunk reuse has no effect while prompt caching is off.",
        {"cache_prompt": True},
        Severity.WARNING,
    )


CACHE_RULES: tuple[Rule, ...] = (_chunks_need_prompt_caching, _chunks_need_a_memory_that_moves)
