"""Rules between samplers: what one of them takes from another.

Sources: ``common_sampler_init`` (common/sampling.cpp) and the samplers' own conditions
(src/llama-sampler.cpp).
"""

from __future__ import annotations

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem, Rule, Severity
from engine_bridge.settings.table import BY_KEY

# Where Mirostat draws, llama.cpp builds none of these; the rows of what belongs to them are off.
REPLACED_BY_MIROSTAT = (
    "top_k", "top_p", "min_p", "repeat_penalty", "presence_penalty", "frequency_penalty",
    "dry_multiplier", "top_n_sigma", "typical_p", "xtc_probability", "dynatemp_range",
    "adaptive_target",
)  # fmt: skip
# Above it there is never a second token for XTC to leave.
XTC_MOST = 0.5


def _one_form_at_a_time(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if not (config.grammar and config.json_schema):
        return None
    return Problem(
        ("json_schema", "grammar"),
        "An answer cannot follow a grammar and a JSON schema at once; llama-server refuses both "
        "together. Clear one of them.",
        {"json_schema": ""},
    )


def _mirostat_stands_alone(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if not config.mirostat:
        return None
    idle = [k for k in REPLACED_BY_MIROSTAT if getattr(config, k) != BY_KEY[k].default]
    if not idle:
        return None
    labels = [BY_KEY[key].label for key in idle]
    names = ", ".join(labels[:-1]) + " and " + labels[-1] if len(labels) > 1 else labels[0]
    verb = "have" if len(labels) > 1 else "has"
    return Problem(
        ("mirostat", *idle),
        f"Mirostat takes the place of all other samplers but the temperature, so {names} {verb} no "
        "effect.",
        {"mirostat": 0},
        Severity.WARNING,
    )


def _xtc_leaves_something(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if config.xtc_probability <= 0.0 or config.xtc_threshold <= XTC_MOST or config.mirostat:
        return None
    return Problem(
        ("xtc_threshold", "xtc_probability"),
        f"No two tokens can both be likelier than {config.xtc_threshold:g}, so XTC has nothing to "
        "leave out.",
        {"xtc_threshold": BY_KEY["xtc_threshold"].default},
        Severity.WARNING,
    )


def _temperature_lets_draw(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if config.temperature > 0.0:
        return None
    key = "mirostat" if config.mirostat else "adaptive_target"
    if not config.mirostat and (config.adaptive_target < 0.0 or config.dynatemp_range > 0.0):
        return None
    name = "Mirostat" if config.mirostat else "adaptive-p"
    return Problem(
        (key, "temperature"),
        f"At temperature 0 only the likeliest token is left, and {name} has nothing to choose "
        "from.",
        {"temperature": BY_KEY["temperature"].default},
        Severity.WARNING,
    )


SAMPLING_RULES: tuple[Rule, ...] = (
    _one_form_at_a_time,
    _mirostat_stands_alone,
    _xtc_leaves_something,
    _temperature_lets_draw,
)
