"""The outline of llama.cpp's sequence states: what they are for, and their form for another pool.

A state says how many streams its pool has, and counts the cells of each. One sequence has cells in
one stream alone, and is read back into its own whatever stream they are counted for, so the counts
can be written anew (``state_write`` and ``state_read_sinfo`` in src/llama-kv-cache.cpp). Must not
know slots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import Context, Model
from engine_bridge.child.metadata import told_of_architecture
from engine_bridge.child.sequence_state import state_bytes, taken_state
from engine_bridge.settings.config import EngineConfig

# A state begins with a mark and the sequence's number (llama_context::state_seq_get_data).
_HEAD_BYTES = 8
_COUNT = np.dtype(np.uint32)

_Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class StateParts:
    """A state in its parts: those with a count for each stream of the pool, and the rest.

    Attributes:
        head: Its mark and the number of its sequence.
        caches: Cells of the full cache and of a window's, as far as there are any.
        rest: A recurrent state.
    """

    head: _Bytes
    caches: tuple[_Bytes, ...]
    rest: _Bytes


@dataclass(frozen=True)
class WholeState:
    """A whole state of a sequence.

    Attributes:
        data: (bytes,) uint8.
        second_bytes: Its part at the end that cannot be cut: a window, a state; 0 where that is all
            of it or none.
    """

    data: _Bytes
    second_bytes: int

    @classmethod
    def of(cls, context: Context, seq: int) -> WholeState:
        """A copy of what the memory holds for ``seq``; empty where it could not be had."""
        return cls(taken_state(context, seq), second_bytes_of(context, seq))

    def parts(self, model: Model) -> StateParts:
        """Its parts, views of it."""
        head, body = self.data[:_HEAD_BYTES], self.data[_HEAD_BYTES:]
        if model.is_recurrent:
            return StateParts(head, (), body)
        border = body.size - self.second_bytes
        if model.is_hybrid:
            return StateParts(head, (body[:border],), body[border:])
        caches = (body[:border], body[border:]) if self.second_bytes else (body,)
        return StateParts(head, caches, body[:0])

    def for_streams(self, streams: int, model: Model) -> _Bytes:
        """Its data for a pool of ``streams``."""
        parts = self.parts(model)
        if all(streams_in(cache) == streams for cache in parts.caches):
            return self.data
        caches = [restreamed(cache, streams) for cache in parts.caches]
        return np.concatenate([parts.head, *caches, parts.rest])


def second_bytes_of(context: Context, seq: int) -> int:
    """See ``WholeState.second_bytes``; such a memory has two parts, and says the second alone."""
    model = context.model
    if model.is_recurrent or not (model.is_hybrid or model.window_tok):
        return 0
    return state_bytes(context, seq, is_partial=True) - _HEAD_BYTES


def partial_for_streams(data: _Bytes, streams: int, model: Model) -> _Bytes:
    """A partial state, as checkpoints hold it, for a pool of ``streams``."""
    if model.is_recurrent or model.is_hybrid or streams_in(data[_HEAD_BYTES:]) == streams:
        return data
    return np.concatenate([data[:_HEAD_BYTES], restreamed(data[_HEAD_BYTES:], streams)])


def streams_of(config: EngineConfig) -> int:
    """Streams of the pool: one for all slots, or one for each."""
    return 1 if config.kv_unified else config.slots


def streams_in(cache: _Bytes) -> int:
    """Streams of the pool that a cache's part of a state comes from; 0 where it is none."""
    return int(cache[: _COUNT.itemsize].view(_COUNT)[0]) if cache.size >= _COUNT.itemsize else 0


def kind_of_cells(context: Context, config: EngineConfig) -> tuple[object, ...]:
    """What must be equal for a state to be read back, and to mean the same.

    See ``llama_kv_cache::state_read_data``; adapters change what is computed. Of a window a state
    holds what the next token sees, whether its cache is a full one or not.
    """
    turned = has_long_rope_factors(context)
    return (config.cache_type_k, config.cache_type_v, context.flash_attn, config.lora, turned)


def has_long_rope_factors(context: Context) -> bool:
    """Whether keys are turned as in texts longer than the model was first trained for.

    LongRoPE models have two sets of factors, and the length of a slot decides between them: keys
    of one are wrong numbers to the other (``get_rope_factors`` in src/llama-model.cpp).
    """
    first_tok = told_of_architecture(context.model, "rope.scaling.original_context_length")
    if not first_tok.isdecimal():
        return False
    if told_of_architecture(context.model, "rope.scaling.type") in ("yarn", "linear", "none"):
        return False
    return context.ctx_seq_tok > int(first_tok)


def restreamed(cache: _Bytes, streams: int) -> _Bytes:
    """A cache's part of a state for a pool of another number of streams.

    It holds the number of streams and then, for each, the number of its cells with the cells
    behind it.
    """
    size, before = _COUNT.itemsize, streams_in(cache)
    counts = cache[size : size * (1 + before)].view(_COUNT)
    if before == streams or len(counts) < before:
        return cache  # as it should be, or damaged, which llama.cpp says
    # Up to the first that is not 0 these are counts; behind its cells stand those of the others.
    ahead = int(np.flatnonzero(counts)[0]) if counts.any() else before
    cells = cache[size * (1 + ahead) : cache.size - size * max(0, before - 1 - ahead)]
    others = np.zeros(streams if ahead == before else streams - 1, _COUNT)
    return np.concatenate(
        [np.array([streams], _COUNT).view(np.uint8), cells, others.view(np.uint8)]
    )
