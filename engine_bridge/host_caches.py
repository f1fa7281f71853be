"""Host memory beside the buffers of a context: of prompt caches and of drafting. Pure arithmetic.

Prompt caches have a limit, and take it as conversations come and only while there is room: no plan
fails for it. What drafting takes it needs.
"""

from __future__ import annotations

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig

_MIB = 1 << 20
# A cell of a state beside its values: position, count of sequences, sequence and place on a grid.
_CELL_BYTES = 20
# Tables of the drafters that look n-grams up (child/speculation): one for all slots, one a slot.
_NGRAM_MOD_BYTES = 4 * 4 * _MIB
_NGRAM_MAP_BYTES = 4 * (1 << 18)
_NGRAM_MAPS = ("ngram-map-k", "ngram-map-k4v")


def host_caches_bytes(
    facts: ModelFacts, config: EngineConfig, recurrent_bytes: int, most_bytes: int
) -> int:
    """Bytes that kept prompts and checkpoints may take together.

    Args:
        facts: The model.
        config: What runs.
        recurrent_bytes: State of all slots in a context.
        most_bytes: What the machine could give them at all.
    """
    if not config.cache_prompt:
        return 0
    budget = most_bytes if config.cache_ram_mib < 0 else config.cache_ram_mib * _MIB
    points = config.slots * config.ctx_checkpoints
    return min(most_bytes, budget + points * checkpoint_bytes(facts, config, recurrent_bytes))


def checkpoint_bytes(facts: ModelFacts, config: EngineConfig, recurrent_bytes: int) -> int:
    """Most bytes of one checkpoint; 0 where the memory needs none.

    Args:
        facts: The model.
        config: What runs.
        recurrent_bytes: State of all slots in a context.
    """
    if facts.is_recurrent or facts.is_hybrid:
        return recurrent_bytes // config.slots
    if config.swa_full:
        return 0
    token = CACHE_TYPES[config.cache_type_k].row_bytes(facts.window_k_values)
    token += CACHE_TYPES[config.cache_type_v].row_bytes(facts.window_v_values)
    cells = min(facts.window_tok, config.slot_cap_tok)
    return cells * (token + _CELL_BYTES) if token else 0


def drafting_bytes(config: EngineConfig, recurrent_bytes: int) -> int:
    """Bytes of tables that drafts are looked up in, and of copies of states to take drafts back.

    Args:
        config: What runs.
        recurrent_bytes: State of all slots in a context, with those it keeps itself.
    """
    tables = _NGRAM_MOD_BYTES if "ngram-mod" in config.spec_types else 0
    for kind in _NGRAM_MAPS:
        tables += config.slots * _NGRAM_MAP_BYTES if kind in config.spec_types else 0
    # States that a context keeps itself serve drafts no longer than that, where no other stream
    # moves them on (child/speculation/take_back.py).
    drafted, kept = config.drafted_max_tok, config.rollback_tok
    copies = drafted > 0 and (drafted > kept or config.slots > 1)
    return tables + (recurrent_bytes // (1 + kept) if copies else 0)
