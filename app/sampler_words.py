"""What the value of a sampler means, and which samplers say nothing while another is off."""

from __future__ import annotations

from collections.abc import Callable

from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.sampling_rules import REPLACED_BY_MIROSTAT, XTC_MOST

_MIROSTAT = "Mirostat takes its place"
Words = Callable[[EngineConfig], str]
Condition = Callable[[EngineConfig], bool]


def _off_at(key: str, off: float, words: str = "off") -> Words:
    """Words for the one value of ``key`` that means something else than its size says."""
    is_replaced = key in REPLACED_BY_MIROSTAT

    def write(config: EngineConfig) -> str:
        if is_replaced and config.mirostat:
            return _MIROSTAT
        return words if getattr(config, key) == off else ""

    return write


def _sigma(config: EngineConfig) -> str:
    if config.mirostat:
        return _MIROSTAT
    return "off" if config.top_n_sigma <= 0 else ""


def _temperature(config: EngineConfig) -> str:
    if config.dynatemp_range and not config.mirostat:
        return f"moves {_temperatures(config)}, as its range says"
    return "" if config.temperature else "greedy: always the likeliest token"


def _xtc_threshold(config: EngineConfig) -> str:
    if config.mirostat:
        return _MIROSTAT
    if not config.xtc_probability:
        return "takes effect once XTC has a probability"
    return "off: two tokens are never both this likely" if config.xtc_threshold > XTC_MOST else ""


def _temperatures(config: EngineConfig) -> str:
    if config.mirostat:
        return _MIROSTAT
    if not config.dynatemp_range:
        return "off"
    low = max(0.0, config.temperature - config.dynatemp_range)
    return f"from {low:g} to {config.temperature + config.dynatemp_range:g}"


def _adaptive(config: EngineConfig) -> str:
    if config.mirostat:
        return _MIROSTAT
    return "off" if config.adaptive_target < 0 else f"tokens near {config.adaptive_target:.0%}"


def _adaptive_memory(config: EngineConfig) -> str:
    if config.mirostat:
        return _MIROSTAT
    if config.adaptive_target < 0:
        return "takes effect once adaptive-p has a target"
    return f"remembers about {1 / (1 - config.adaptive_decay):.0f} tokens"


def _lines(key: str) -> Words:
    def write(config: EngineConfig) -> str:
        count = len(getattr(config, key).splitlines())
        return "" if not count else f"{count} line{'s' if count != 1 else ''}: answers follow it"

    return write


def _waits_for(switch: Condition, name: str, *, is_replaced: bool = False) -> Words:
    def write(config: EngineConfig) -> str:
        if is_replaced and config.mirostat:
            return _MIROSTAT
        return "" if switch(config) else f"takes effect once {name} is on"

    return write


def has_dry(config: EngineConfig) -> bool:
    """Whether DRY punishes anything."""
    return config.dry_multiplier > 0 and not config.mirostat


def _has_mirostat(config: EngineConfig) -> bool:
    return config.mirostat != 0


def _has_range(config: EngineConfig) -> bool:
    return config.dynatemp_range > 0 and not config.mirostat


_DRY_ROWS = ("dry_base", "dry_allowed_tok", "dry_last_n_tok", "dry_sequence_breakers")
_MIROSTAT_WORDS = {0: "off", 1: "version 1", 2: "version 2.0"}

SAMPLER_WORDS: dict[str, Words] = {
    "temperature": _temperature,
    "top_k": _off_at("top_k", 0, "off: all tokens are considered"),
    "top_p": _off_at("top_p", 1.0),
    "min_p": _off_at("min_p", 0.0),
    "repeat_penalty": _off_at("repeat_penalty", 1.0),
    "repeat_last_n_tok": _off_at("repeat_last_n_tok", 0, "off: no penalty looks back"),
    "presence_penalty": _off_at("presence_penalty", 0.0),
    "frequency_penalty": _off_at("frequency_penalty", 0.0),
    "dry_multiplier": _off_at("dry_multiplier", 0.0),
    **{key: _waits_for(has_dry, "DRY", is_replaced=True) for key in _DRY_ROWS},
    "top_n_sigma": _sigma,
    "typical_p": _off_at("typical_p", 1.0),
    "xtc_probability": _off_at("xtc_probability", 0.0),
    "xtc_threshold": _xtc_threshold,
    "dynatemp_range": _temperatures,
    "dynatemp_exponent": _waits_for(_has_range, "the range", is_replaced=True),
    "adaptive_target": _adaptive,
    "adaptive_decay": _adaptive_memory,
    "mirostat": lambda config: _MIROSTAT_WORDS[config.mirostat],
    "mirostat_lr": _waits_for(_has_mirostat, "Mirostat"),
    "mirostat_ent": _waits_for(_has_mirostat, "Mirostat"),
    "ignore_eos": lambda config: "answers end at their limit only" if config.ignore_eos else "",
    "grammar": _lines("grammar"),
    "json_schema": _lines("json_schema"),
}

# A sampler that is off leaves its other rows nothing to say. What Mirostat replaces stays open:
# its warning names it, and there it can be set back.
SAMPLER_DEPENDENT: dict[str, Condition] = {
    **dict.fromkeys(_DRY_ROWS, has_dry),
    "xtc_threshold": lambda config: config.xtc_probability > 0 and not config.mirostat,
    "dynatemp_exponent": _has_range,
    "adaptive_decay": lambda config: config.adaptive_target >= 0 and not config.mirostat,
    "mirostat_lr": _has_mirostat,
    "mirostat_ent": _has_mirostat,
}
