"""What the values of the caches' settings mean here."""

from __future__ import annotations

from collections.abc import Callable

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig

Words = Callable[[EngineConfig, ModelFacts | None], str]
_MIB = 1 << 20
# Counts of tokens are said to so many digits.
_DIGITS = 2


def _prompt_caching(config: EngineConfig, _: ModelFacts | None) -> str:
    return "" if config.cache_prompt else "off: each prompt is read from its first token"


def _kept_in_ram(config: EngineConfig, model: ModelFacts | None) -> str:
    if config.cache_ram_mib == 0:
        return "none: a chat without its slot is read again"
    if config.cache_ram_mib < 0:
        return "no limit but what the machine has to spare"
    if model is None or not model.bytes_per_token_f16:
        return ""
    types = CACHE_TYPES[config.cache_type_k], CACHE_TYPES[config.cache_type_v]
    share = sum(each.bits_per_value for each in types) / 2 / 16
    tokens = int(config.cache_ram_mib * _MIB / (model.bytes_per_token_f16 * share))
    # Of a sliding window less is kept, so that there is room for more.
    more = " or more" if model.window_tok else ""
    return f"room for about {_rounded(tokens):,} tokens{more}"


def _rounded(count: int) -> int:
    step = int("1" + "0" * max(0, len(str(count)) - _DIGITS))
    return count // step * step


def takes_checkpoints(config: EngineConfig, model: ModelFacts | None) -> bool:
    """Whether the memory of ``model`` cannot simply be cut; True where it is not known."""
    if model is None or model.is_recurrent or model.is_hybrid:
        return True
    return model.window_tok > 0 and not config.swa_full


def _checkpoints(config: EngineConfig, model: ModelFacts | None) -> str:
    if not takes_checkpoints(config, model):
        return "none needed: this model's cache can be cut anywhere"
    return "" if config.ctx_checkpoints else "none: an edit is read from the beginning"


def _distance(config: EngineConfig, model: ModelFacts | None) -> str:
    if not takes_checkpoints(config, model):
        return "no checkpoints needed with this model"
    if not config.ctx_checkpoints:
        return "takes effect once there are checkpoints"
    return "" if config.checkpoint_min_step_tok else "none is taken inside a prompt"


def _reuse(config: EngineConfig, _: ModelFacts | None) -> str:
    return "" if config.cache_reuse_tok else "off: only what begins alike is reused"


def _full_window(config: EngineConfig, model: ModelFacts | None) -> str:
    if model is None:
        return ""
    if not model.window_tok:
        return "this model has no sliding window"
    if config.swa_full:
        return "every token is kept, not only the window's"
    return f"off: windowed layers keep about {model.window_tok:,} tokens"


def _kept_by_shift(config: EngineConfig, _: ModelFacts | None) -> str:
    if not config.context_shift:
        return "takes effect with the context shift"
    if config.keep_tok < 0:
        return "the whole prompt stays"
    if not config.keep_tok:
        return "none: a system prompt is dropped as well"
    return f"the first {config.keep_tok:,} tokens stay"


CACHE_WORDS: dict[str, Words] = {
    "cache_prompt": _prompt_caching,
    "cache_ram_mib": _kept_in_ram,
    "ctx_checkpoints": _checkpoints,
    "checkpoint_min_step_tok": _distance,
    "cache_reuse_tok": _reuse,
    "swa_full": _full_window,
    "keep_tok": _kept_by_shift,
}

# Settings of caches that say nothing while another one is off.
CACHE_DEPENDENT: dict[str, Callable[[EngineConfig], bool]] = {
    "keep_tok": lambda config: config.context_shift,
    "checkpoint_min_step_tok": lambda config: config.ctx_checkpoints > 0,
}
