"""What the slots hold, carried in host memory from one context into the next.

A change of context length, slots or batches leaves what was computed valid: only its place is new.
Knows the outline of llama.cpp's sequence states; must not know requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import psutil
from numpy.typing import NDArray

from engine_bridge.child.llama import Context
from engine_bridge.child.sequence_state import put_back_state, state_bytes, taken_state
from engine_bridge.child.slot import Slot
from engine_bridge.settings.config import EngineConfig

# The copies live beside the new context, which is not built yet when they are taken.
_SHARE_OF_FREE_MEMORY = 0.25
# A state begins with a mark and the sequence's number (llama_context::state_seq_get_data).
_HEAD_BYTES = 8
_COUNT = np.dtype(np.uint32)

_State = NDArray[np.uint8]


@dataclass(frozen=True)
class StateParts:
    """A state in its parts: those with a count for each stream of the pool, and the rest.

    Attributes:
        head: Its mark and the number of its sequence.
        caches: Cells of the full cache and of a window's, as far as there are any.
        rest: A recurrent state.
    """

    head: _State
    caches: tuple[_State, ...]
    rest: _State


@dataclass
class Carried:
    """Copies of sequences, and how the cells were made that they came from."""

    _copies: dict[int, StateParts] = field(default_factory=dict)
    _streams: int = 1
    _kind: tuple[object, ...] = ()

    @classmethod
    def of(cls, context: Context, config: EngineConfig, slots: Sequence[Slot]) -> Carried:
        """Copy what ``slots`` hold, the latest used first, as far as host memory goes."""
        carried = cls(_streams=streams_of(config), _kind=_kind_of_cells(context, config))
        room = psutil.virtual_memory().available * _SHARE_OF_FREE_MEMORY
        for slot in sorted(slots, key=lambda slot: (slot.is_free, -slot.used_at)):
            if slot.cached and (room := room - state_bytes(context, slot.index)) >= 0:
                carried._copies[slot.index] = parts_of(context, slot.index)
        return carried

    def take_over(self, old: Slot, new: Slot, context: Context, config: EngineConfig) -> None:
        """Give ``new``, the empty slot of the same number, the text of ``old``.

        It is computed already where it came along. A slot at rest is worth no more than its cache.
        """
        is_there = old.cached < new.cap_tok and self.put_into(context, config, new)
        if not is_there and old.is_free:
            return
        new.tokens[: old.known] = old.tokens[: old.known]
        new.cached = new.known = old.cached if is_there else 0
        new.conversation_id, new.used_at = old.conversation_id, old.used_at

    def put_into(self, context: Context, config: EngineConfig, slot: Slot) -> bool:
        """Fill the sequence of ``slot``, which is empty, with what the old one held.

        Returns:
            False where there is nothing for it, or the new cells are of another kind.
        """
        copy = self._copies.pop(slot.index, None)
        if copy is None or self._kind != _kind_of_cells(context, config):
            return False
        streams = streams_of(config)
        caches = [restreamed(c, slot.index, self._streams, streams) for c in copy.caches]
        if put_back_state(context, slot.index, np.concatenate([copy.head, *caches, copy.rest])):
            return True
        context.seq_rm(slot.index, -1, -1)
        return False


def _kind_of_cells(context: Context, config: EngineConfig) -> tuple[object, ...]:
    """What must be equal for llama.cpp to read a state back (llama_kv_cache::state_read_data)."""
    types = (config.cache_type_k, config.cache_type_v)
    return (*types, context.flash_attn, config.swa_full, config.lora)


def streams_of(config: EngineConfig) -> int:
    """Streams of the pool: one for all slots, or one for each."""
    return 1 if config.kv_unified else config.slots


def parts_of(context: Context, seq: int) -> StateParts:
    """A copy of what the memory holds for ``seq``, in its parts."""
    model, state = context.model, taken_state(context, seq)
    head, body = state[:_HEAD_BYTES], state[_HEAD_BYTES:]
    if model.is_recurrent:
        return StateParts(head, (), body)
    if not model.is_hybrid and not model.window_tok:
        return StateParts(head, (body,), body[:0])
    # Such a memory has two parts, and the second alone can be asked for.
    second = state_bytes(context, seq, is_partial=True) - _HEAD_BYTES
    border = body.size - second
    if model.is_hybrid:
        return StateParts(head, (body[:border],), body[border:])
    return StateParts(head, (body[:border], body[border:]), body[:0])


def restreamed(cache: NDArray[np.uint8], seq: int, before: int, streams: int) -> NDArray[np.uint8]:
    """A cache's part for a pool of another number of streams (llama_kv_cache::state_write).

    It holds the number of streams and then, for each, the number of its cells with the cells
    behind it. One sequence has cells in one stream alone: all other counts are 0.
    """
    if before == streams:
        return cache
    size = _COUNT.itemsize
    number = seq if before > 1 else 0
    cells = cache[size * (1 + number) : cache.size - size * (before - 1 - number)]
    place = seq if streams > 1 else 0
    ahead = np.zeros(1 + place, _COUNT)
    ahead[0] = streams
    behind = np.zeros(streams - 1 - place, _COUNT)
    return np.concatenate([ahead.view(np.uint8), cells, behind.view(np.uint8)])
