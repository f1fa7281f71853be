"""What people read when an answer is cut short.

Each says what happened, why and what to do.
"""

from __future__ import annotations


def slot_full(cap_tok: int) -> str:
    """A slot holds ``cap_tok`` tokens and no more."""
    return (
        f"The slot's {cap_tok:,} tokens are full, so the answer stops here. Give each slot more "
        "context, or start a new conversation."
    )


def slot_cannot_shift(cap_tok: int) -> str:
    """A slot of ``cap_tok`` tokens is full, and what it holds cannot be moved up."""
    return (
        f"The slot's {cap_tok:,} tokens are full, and this model's memory cannot shift: its older "
        "tokens cannot be dropped, so the answer stops here. Give each slot more context, or "
        "start a new conversation."
    )


def pool_full(pool_tok: int, running: int) -> str:
    """The pool ran out while ``running`` answers were running."""
    return (
        f"The shared pool of {pool_tok:,} tokens ran out with {running} answers running, and this "
        "one had started last. Ask again when the others are done, enlarge the pool, or use fewer "
        "slots."
    )


def slots_gone(slots: int) -> str:
    """Only ``slots`` slots are left."""
    return f"The number of slots was reduced to {slots} while this answer was running. Ask again."


def step_failed(code: int) -> str:
    """``llama_decode`` returned ``code``."""
    return (
        f"llama.cpp could not compute this step (code {code}); it may have run out of memory. Its "
        "slot was cleared. Ask again; if it happens again, choose a smaller context or micro-batch."
    )
