"""Rules of drafts by a model: a second one, or layers of the model's own.

Sources: common/speculative.cpp, the architectures' files in src/models, and for what the memory of
states needs ``split_equal`` in src/llama-batch.cpp.
"""

from __future__ import annotations

from engine_bridge.draft_kind import MTP_ARCHITECTURES, guessing_problem
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.problem import Problem, Rule, Severity
from engine_bridge.settings.spec_kinds import EXPORT_ONLY_KINDS, MODEL_KINDS, WHY_EXPORT_ONLY


def _draft_simple_needs_a_model(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if "draft-simple" not in config.spec_types or config.draft_model_path:
        return None
    return Problem(
        ("spec_types", "draft_model_path"),
        "draft-simple asks a second, smaller model, and none is chosen. Choose a draft model with "
        "the vocabulary of this one, or draft without.",
        _without(config, "draft-simple"),
    )


def _one_model_drafts(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    chosen = [kind for kind in MODEL_KINDS if kind in config.spec_types]
    if len(chosen) < 2:
        return None
    kinds = tuple(kind for kind in config.spec_types if kind not in chosen[1:])
    return Problem(
        ("spec_types",),
        f"{' and '.join(chosen)} each want a draft model, and llama.cpp runs one. Keep one of "
        "them; kinds that need no model go with it.",
        {"spec_types": kinds},
    )


def _mtp_needs_its_layers(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if model is None or not config.uses_mtp:
        return None
    if model.architecture in MTP_ARCHITECTURES and config.draft_model_path:
        return None  # a file of such layers is looked at where it is read
    why = guessing_problem(model.architecture, model.nextn_layers)
    if not why:
        return None
    end = "Draft with another kind."
    if model.architecture in MTP_ARCHITECTURES and not model.nextn_layers:
        why = f"the file of {model.name} holds none"
        end = "Choose a file of such layers made for it as the draft model, or draft otherwise."
    return Problem(
        ("spec_types",),
        f"draft-mtp asks layers that were trained to guess ahead, and {why}. {end}",
        _without(config, "draft-mtp"),
    )


def _kept_states_fit_in_ubatch(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    """The library aborts where a micro-batch cannot hold what must stay together."""
    needed = config.rollback_tok + 2
    if not config.uses_mtp or min(config.ubatch_tok, config.batch_tok) >= needed:
        return None
    if model is not None and not model.is_recurrent and not model.is_hybrid:
        return None
    size = 1 << (needed - 1).bit_length()
    fix: dict[str, Value] = {"ubatch_tok": size}
    if config.batch_tok < needed:
        fix["batch_tok"] = size
    return Problem(
        ("ubatch_tok", "draft_n_max"),
        f"To take drafts of {config.draft_n_max} tokens back from a state, llama.cpp needs "
        f"micro-batches of at least {needed} tokens.",
        fix,
    )


def _kind_is_export_only(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    kinds = [kind for kind in EXPORT_ONLY_KINDS if kind in config.spec_types]
    if not kinds:
        return None
    return Problem(
        ("spec_types",),
        f"{kinds[0]} stands in the command line but does not run here: {WHY_EXPORT_ONLY}. Answers "
        "here go on without it.",
        _without(config, *kinds),
        Severity.WARNING,
    )


def _draft_v_needs_flash_attention(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    is_quantised = CACHE_TYPES[config.draft_cache_type_v].is_quantised
    if not config.drafts_by_model or config.flash_attn != "off" or not is_quantised:
        return None
    return Problem(
        ("draft_cache_type_v", "flash_attn"),
        f"A {config.draft_cache_type_v} V cache of the draft model needs flash attention; without "
        "it llama.cpp makes no context. Set the draft V cache to f16, or flash attention to auto.",
        {"draft_cache_type_v": "f16"},
    )


def _shortest_draft_can_be_made(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if not config.drafts_by_model or config.draft_n_min <= config.draft_n_max:
        return None
    return Problem(
        ("draft_n_min", "draft_n_max"),
        f"Drafts of fewer than {config.draft_n_min} tokens are thrown away, and the draft model "
        f"makes {config.draft_n_max} at most: nothing is ever drafted.",
        {"draft_n_min": config.draft_n_max},
        Severity.WARNING,
    )


def _without(config: EngineConfig, *kinds: str) -> dict[str, Value]:
    return {"spec_types": tuple(kind for kind in config.spec_types if kind not in kinds)}


DRAFT_RULES: tuple[Rule, ...] = (
    _draft_simple_needs_a_model,
    _one_model_drafts,
    _mtp_needs_its_layers,
    _kept_states_fit_in_ubatch,
    _draft_v_needs_flash_attention,
    _kind_is_export_only,
    _shortest_draft_can_be_made,
)
