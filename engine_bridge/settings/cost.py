"""What changing from one configuration to another costs.

Source: which struct of llama.h a value stands in (model params: reload; context params: new
context; neither: live).
"""

from __future__ import annotations

from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_items import lora_file
from engine_bridge.settings.row import Applies
from engine_bridge.settings.table import BY_KEY, SETTINGS

# Settings whose effect on the context goes through its pool alone.
_POOL_KEYS = frozenset({"ctx_per_slot_tok", "ctx_total_tok"})
# Settings that decide which draft model is loaded, and where.
_DRAFT_LOAD_KEYS = frozenset({"spec_types", "draft_model_path", "draft_n_gpu_layers"})
_DRAFT_KEYS = frozenset(s.key for s in SETTINGS if s.key.startswith("draft_"))
# Of these the context of guessing layers is made, together with the model's own.
_MTP_KEYS = frozenset({"draft_cache_type_k", "draft_cache_type_v"})


def cost_of_change(applied: EngineConfig, wanted: EngineConfig) -> Applies | None:
    """The dearest step that turns ``applied`` into ``wanted``; None where nothing differs."""
    costs = [cost_of_key(key, applied, wanted) for key in wanted.changed_from(applied)]
    return max(costs, key=lambda cost: cost.rank) if costs else None


def keeps_model(applied: EngineConfig, wanted: EngineConfig) -> bool:
    """Whether the model stays loaded in that change: at most its draft model is a load."""
    return applied.loads_mtp == wanted.loads_mtp and all(
        key in _DRAFT_LOAD_KEYS or cost_of_key(key, applied, wanted) is not Applies.RELOAD
        for key in wanted.changed_from(applied)
    )


def keeps_context(applied: EngineConfig, wanted: EngineConfig) -> bool:
    """Whether the model's context stays in that change: at most its draft model's is another."""
    if (applied.uses_mtp or wanted.uses_mtp) and _draft_file(applied) != _draft_file(wanted):
        return False  # it owns the context of guessing layers
    return all(
        (key in _DRAFT_KEYS and not (wanted.uses_mtp and key in _MTP_KEYS))
        or _makes_the_same(key, applied, wanted)
        or BY_KEY[key].applies is Applies.LIVE
        for key in wanted.changed_from(applied)
    ) and _makes_the_same("draft_n_max", applied, wanted)


def cost_of_key(key: str, applied: EngineConfig, wanted: EngineConfig) -> Applies:
    """What the change of ``key`` alone costs between two configurations.

    Cheaper than its row says where the engine's context would come out the same: a draft that
    needs the output rows already built, a cap that leaves the pool as it is.
    """
    if key in ("spec_types", "draft_model_path") and applied.loads_mtp != wanted.loads_mtp:
        return Applies.RELOAD
    if key in _DRAFT_LOAD_KEYS and _draft_file(applied) != _draft_file(wanted):
        return Applies.CONTEXT if wanted.draft is None else Applies.RELOAD
    if _makes_the_same(key, applied, wanted):
        return Applies.LIVE
    return BY_KEY[key].applies


def _makes_the_same(key: str, applied: EngineConfig, wanted: EngineConfig) -> bool:
    """Whether neither a load nor a new context would change anything."""
    if key in ("draft_n_max", "ngram_size_m", "ngram_mod_n_max"):
        # The rows are there; those not needed go with the next context.
        return all(new <= old for new, old in zip(_rows(wanted), _rows(applied), strict=True))
    if key == "spec_types":
        return _rows(wanted) == _rows(applied)
    if key in _DRAFT_KEYS:
        is_unused = applied.draft is None and wanted.draft is None
        return is_unused and not (wanted.uses_mtp and key in _MTP_KEYS)
    if key == "lora":  # their strengths alone
        return _lora_paths(wanted) == _lora_paths(applied)
    return key in _POOL_KEYS and _pool(wanted) == _pool(applied)


def _lora_paths(config: EngineConfig) -> tuple[str, ...]:
    return tuple(lora_file(text).path for text in config.lora)


def _rows(config: EngineConfig) -> tuple[int, int, int]:
    return config.outputs_max, config.outputs_per_slot, config.rollback_tok


def _pool(config: EngineConfig) -> tuple[bool, int, int]:
    return config.kv_unified, config.pool_tok, config.slots


def _draft_file(config: EngineConfig) -> tuple[str, int | str, bool] | None:
    if config.draft is None:
        return None
    return config.draft_model_path, config.draft_n_gpu_layers, config.uses_mtp
