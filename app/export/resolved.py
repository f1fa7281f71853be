"""What ``auto`` came to, for engines that are told numbers.

Must not know any engine's words.
"""

from __future__ import annotations

from app.export.llama_flag import Situation
from engine_bridge.settings.cache_type import CACHE_TYPES

# Engines of llama.cpp's family take more than there are for all of them.
ALL_LAYERS = 999


def gpu_layers(situation: Situation) -> int | None:
    """Layers on the GPU, the output as one more; None where the engine is to decide."""
    config, effective, facts = situation.config, situation.effective, situation.facts
    wanted, made = config.n_gpu_layers, effective.n_gpu_layers if effective is not None else None
    if made == 0 or config.devices == ("none",):
        return 0
    if isinstance(wanted, int):
        return wanted
    most = facts.gpu_layers_max if facts is not None else None
    if made is not None and (most is None or made < most):
        return made
    if wanted == "all" or made is not None:
        return most if most is not None else ALL_LAYERS
    return None


def has_every_layer(situation: Situation) -> bool:
    """Whether every layer is on the GPU, as far as is known."""
    layers, facts = gpu_layers(situation), situation.facts
    if layers is None:
        return False
    return layers >= (facts.gpu_layers_max if facts is not None else ALL_LAYERS)


def thread_counts(situation: Situation) -> tuple[int | None, int | None]:
    """Threads that generate and threads that read prompts; None where the engine is to decide."""
    effective = situation.effective
    found: list[int | None] = []
    for key in ("threads", "threads_batch"):
        value = getattr(situation.config, key)
        if value == "auto":
            value = getattr(effective, key) if effective is not None else None
        found.append(value)
    return found[0], found[1]


def flash_attention(situation: Situation, *, keeps_values: bool = True) -> bool | None:
    """Whether attention is computed in tiles; None where the engine is to decide.

    Args:
        situation: What is written.
        keeps_values: Whether the V cache has the type there that it has here: a quantised one
            needs such attention.
    """
    config, effective = situation.config, situation.effective
    if config.flash_attn != "auto":
        return config.flash_attn == "on"
    if keeps_values and CACHE_TYPES[config.cache_type_v].is_quantised:
        return True
    if effective is None or effective.flash_attn == "auto":
        return None
    return effective.flash_attn == "on"
