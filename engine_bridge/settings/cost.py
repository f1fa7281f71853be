"""What changing from one configuration to another costs.

Source: which struct of llama.h a value stands in (model params: reload; context params: new
context; neither: live).
"""

from __future__ import annotations

from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.row import Applies
from engine_bridge.settings.table import BY_KEY

# Settings whose effect on the context goes through its pool or its output rows alone.
_POOL_KEYS = frozenset({"ctx_per_slot_tok", "ctx_total_tok"})
_DRAFT_KEYS = frozenset({"spec_types", "ngram_size_m"})


def cost_of_change(applied: EngineConfig, wanted: EngineConfig) -> Applies | None:
    """The dearest step that turns ``applied`` into ``wanted``; None where nothing differs."""
    costs = [cost_of_key(key, applied, wanted) for key in wanted.changed_from(applied)]
    return max(costs, key=lambda cost: cost.rank) if costs else None


def cost_of_key(key: str, applied: EngineConfig, wanted: EngineConfig) -> Applies:
    """What the change of ``key`` alone costs between two configurations.

    Cheaper than its row says where the engine's context would come out the same: a draft that
    needs the output rows already built, a cap that leaves the pool as it is.
    """
    row_cost = BY_KEY[key].applies
    if key in _DRAFT_KEYS and _rows(wanted) == _rows(applied):
        return Applies.LIVE
    if key in _POOL_KEYS and _pool(wanted) == _pool(applied):
        return Applies.LIVE
    return row_cost


def _rows(config: EngineConfig) -> tuple[int, int]:
    return config.outputs_max, config.outputs_per_slot


def _pool(config: EngineConfig) -> tuple[bool, int, int]:
    return config.kv_unified, config.pool_tok, config.slots
