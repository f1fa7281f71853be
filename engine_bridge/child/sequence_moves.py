"""Cells of a sequence given to another one, or moved to another place of the text.

Knows llama.cpp's memory calls (``include/llama.h``); when they are right is decided elsewhere.
"""

from __future__ import annotations

from engine_bridge.child.llama import LIB, Context


def share_prefix(context: Context, source: int, target: int, tokens: int) -> None:
    """Let the empty sequence ``target`` hold the first ``tokens`` cells of ``source`` as well.

    For one pool of all sequences, where it costs no cells and no copy. What is done to positions of
    shared cells is done to both.
    """
    LIB.llama_memory_seq_cp(LIB.llama_get_memory(context.handle), source, target, 0, tokens)


def move_chunk(context: Context, seq: int, begin: int, end: int, to: int) -> None:
    """Move the cells of ``begin`` to ``end`` (exclusive) down to ``to``, dropping those between.

    They are turned to their new positions by the next step.
    """
    memory = LIB.llama_get_memory(context.handle)
    LIB.llama_memory_seq_rm(memory, seq, to, begin)
    LIB.llama_memory_seq_add(memory, seq, begin, end, to - begin)
