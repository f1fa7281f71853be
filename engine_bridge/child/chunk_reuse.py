"""Chunk reuse: what a text has in common with the prompt behind the place where they differ.

Such chunks of the cache are moved to where the prompt has them (``--cache-reuse`` of llama-server,
in ``update_slots`` of tools/server/server-context.cpp). What they were computed after is another
text then, so the model reads them as it read them there: fast, and not the same as computing them.
Knows slots and the calls that move cells; must not know requests.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import Context
from engine_bridge.child.sequence_moves import move_chunk
from engine_bridge.child.slot import Slot, common_prefix


def chunks_in_common(
    text: NDArray[np.int32], prompt: NDArray[np.int32], least_tok: int
) -> list[tuple[int, int]]:
    """Where ``prompt`` goes on with pieces of ``text``, in the order of both.

    Args:
        text: (tokens,) int32, what is cached.
        prompt: (tokens,) int32.
        least_tok: Tokens a piece must have, at least 1.

    Returns:
        First token in the text, and how many, of each piece behind the common prefix.
    """
    found = []
    at_text = at_prompt = common_prefix(text, prompt)
    while at_text < len(text) and at_prompt < len(prompt):
        # Only where the next tokens agree can a piece begin.
        starts = np.flatnonzero(text[at_text:] == prompt[at_prompt])
        for start in (starts + at_text).tolist():
            count = common_prefix(text[start:], prompt[at_prompt:])
            if count >= least_tok:
                found.append((start, count))
                at_text, at_prompt = start + count, at_prompt + count
                break
        else:
            break
    return found


def reuse_chunks(
    slot: Slot, prompt: NDArray[np.int32], least_tok: int, context: Context
) -> tuple[int, int]:
    """Move what can be reused to where ``prompt`` has it; the rest is cut by ``Slot.begin``.

    For memories whose cells can be moved, and slots that share none.

    Returns:
        Tokens of the common prefix, and tokens moved.
    """
    prefix = place = slot.match(prompt)
    for begin, count in chunks_in_common(slot.tokens[: slot.cached], prompt, least_tok):
        if begin > place:
            move_chunk(context, slot.index, begin, begin + count, place)
        slot.tokens[place : place + count] = prompt[place : place + count]
        place += count
    if place > prefix:
        context.seq_rm(slot.index, place, -1)
        slot.cached = slot.known = place
    return prefix, place - prefix
