"""Rules of context shift: which memory llama.cpp can move to other positions.

Sources: ``get_can_shift`` of the memories in src/llama-kv-cache*.cpp, and what llama-server makes
of it (``load_model`` in tools/server/server-context.cpp): it quietly turns the shift off.
"""

from __future__ import annotations

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.domain import Value
from engine_bridge.settings.problem import Problem, Rule, Severity

# Types of keys that RoPE can be applied to where they lie.
TURNABLE_TYPES = ("f32", "f16")
# Positions of several dimensions (M-RoPE), of layers that differ, or of compressed blocks.
_UNMOVABLE = frozenset(
    {"deepseek4", "paddleocr", "qwen2vl", "qwen3vl", "qwen3vlmoe", "qwen4exp", "step35"}
)


def _memory_cannot_shift(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if model is None or not config.context_shift:
        return None
    keys: tuple[str, ...] = ("context_shift",)
    fix: dict[str, Value] = {"context_shift": False}
    if model.is_recurrent or model.is_hybrid:
        why = f"{model.name} keeps a state instead of a cache, and nothing can be dropped from it"
    elif model.architecture in _UNMOVABLE:
        why = f"llama.cpp cannot move the positions of {model.architecture} models"
    elif _is_windowed(config, model):
        why = (
            f"{model.name} keeps no more than its sliding window of {model.window_tok:,} tokens in "
            "most layers, and only a full cache can be moved"
        )
        keys, fix = ("context_shift", "swa_full"), {"swa_full": True}
    else:
        return None
    return Problem(
        keys,
        f"This model's memory cannot shift: {why}. A full slot still ends its answer.",
        fix,
        Severity.WARNING,
    )


def _is_windowed(config: EngineConfig, model: ModelFacts) -> bool:
    """Whether the window's cells are fewer than the context's (llama_kv_cache_iswa)."""
    if not model.window_tok or config.swa_full:
        return False
    cells = config.pool_tok if config.kv_unified else pad_context_tok(config.ctx_per_slot_tok)
    sharing = config.slots if config.kv_unified else 1
    return pad_context_tok(model.window_tok * sharing + config.ubatch_tok) < cells


def has_rotation(head_dims_k: tuple[int, ...]) -> bool:
    """Whether llama.cpp rotates quantised keys of such heads (``attn_rot_k``)."""
    return len(head_dims_k) == 1 and head_dims_k[0] % 64 == 0


def _keys_cannot_turn(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    """Keys are turned to their new positions, which not every type can be."""
    name = config.cache_type_k
    if model is None or not config.context_shift or name in TURNABLE_TYPES:
        return None
    if name != "bf16" and has_rotation(model.head_dims_k):
        return None
    return Problem(
        ("cache_type_k", "context_shift"),
        f"A {name} K cache of {model.name} cannot shift: llama.cpp cannot turn such keys to other "
        "positions. A full slot still ends its answer. Set the K cache to f16.",
        {"cache_type_k": "f16"},
        Severity.WARNING,
    )


SHIFT_RULES: tuple[Rule, ...] = (_memory_cannot_shift, _keys_cannot_turn)
