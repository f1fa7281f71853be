"""A sequence's part of the memory as bytes: taken out, kept in host memory, put back.

Knows llama.cpp's state calls (``include/llama.h``); what is worth keeping is decided elsewhere.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import LIB, Context

# Only what cannot be cut back: a recurrent state, the cells of a sliding window.
_PARTIAL, _WHOLE = LIB.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY, 0


def state_bytes(context: Context, seq: int, *, is_partial: bool = False) -> int:
    """Bytes that ``taken_state`` would take now.

    Args:
        context: Whose memory.
        seq: The sequence.
        is_partial: Only the recurrent state or the sliding window, without the full-length cache.
    """
    flags = _PARTIAL if is_partial else _WHOLE
    return int(LIB.llama_state_seq_get_size_ext(context.handle, seq, flags))


def taken_state(
    context: Context,
    seq: int,
    *,
    is_partial: bool = False,
    into: NDArray[np.uint8] | None = None,
) -> NDArray[np.uint8]:
    """A copy of what the memory holds for ``seq``; of length 0 where it could not be had.

    Args:
        context: Whose memory.
        seq: The sequence.
        is_partial: Only the recurrent state or the sliding window, without the full-length cache.
        into: (bytes,) uint8, contiguous: where to put it if there is room, so that pages of memory
            are not asked for again and again. The copy is then a view of it.
    """
    needed = state_bytes(context, seq, is_partial=is_partial)
    fits = into is not None and into.size >= needed
    data = into[:needed] if into is not None and fits else np.empty(needed, np.uint8)
    flags = _PARTIAL if is_partial else _WHOLE
    pointer = data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
    size = LIB.llama_state_seq_get_data_ext(context.handle, pointer, data.size, seq, flags)
    return data[: int(size)]


def put_back_state(
    context: Context, seq: int, data: NDArray[np.uint8], *, is_partial: bool = False
) -> bool:
    """Make ``seq`` hold what ``data`` holds, taken with the same ``is_partial``.

    Returns:
        False where it does not fit into this context (another cache type, no free cells); what the
        sequence held before is then gone, and the caller has to clear it.
    """
    flags = _PARTIAL if is_partial else _WHOLE
    pointer = np.ascontiguousarray(data).ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
    read = LIB.llama_state_seq_set_data_ext(context.handle, pointer, data.size, seq, flags)
    return bool(data.size) and int(read) == data.size
