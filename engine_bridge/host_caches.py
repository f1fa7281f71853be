"""Host memory that prompt caches may take, at most. Pure arithmetic.

It is taken as conversations come and go, and only while there is room: no plan fails for it.
"""

from __future__ import annotations

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig

_MIB = 1 << 20
# A cell of a state beside its values: position, count of sequences, sequence and place on a grid.
_CELL_BYTES = 20


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
