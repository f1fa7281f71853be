"""Rejected drafts leave the target's memory again, whatever kind of memory that is.

A cache is cut. A state (recurrent and hybrid models) is not: as llama-server does it, a copy of the
state is taken before a step with drafts and put back where one is rejected (``spec_ckpt`` in
tools/server/server-context.cpp); what was confirmed is then computed again in the next step. Where
the context keeps the last states itself (``n_rs_seq``), it goes back by as many tokens alone, but
for those that others in the step may have moved. Must not know drafters or requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import Context
from engine_bridge.child.micro_batches import Cutting, moved_later
from engine_bridge.child.sequence_state import put_back_state, taken_state
from engine_bridge.child.slot import Slot


@dataclass
class _Copy:
    """The state of a sequence behind its first ``cached`` tokens."""

    cached: int
    state: NDArray[np.uint8]


class TakeBack:
    """Copies of states, one a slot, and how they are put back. For one context.

    Attributes:
        copies_states: Whether the memory holds states that cannot be cut.

    Args:
        context: Whose memory.
    """

    def __init__(self, context: Context) -> None:
        """Hold no copy."""
        self.copies_states = context.model.is_recurrent or context.model.is_hybrid
        self._context = context
        self._copies: dict[int, _Copy] = {}
        self._buffers: dict[int, NDArray[np.uint8]] = {}
        self._cutting = Cutting(
            context.ubatch_tok, context.rollback_tok + 1, context.ctx_seq_tok != context.ctx_tok
        )

    def before_step(self, parts: Sequence[tuple[Slot, int, int]]) -> None:
        """Make sure that the drafts of a step, computed next, can be taken back.

        Args:
            parts: Slot, tokens and drafts among them, in the order of the batch.
        """
        moved: frozenset[int] = frozenset()
        if self._context.rollback_tok and len(parts) > 1:
            tokens = [(slot.index, tokens) for slot, tokens, _ in parts]
            moved = moved_later(self._cutting.micro_batches(tokens))
        for slot, _, draft_tok in parts:
            if draft_tok:
                self.before(slot, draft_tok, goes_back=slot.index not in moved)

    def before(self, slot: Slot, draft_tok: int, *, goes_back: bool = True) -> None:
        """Make sure that a draft of ``draft_tok``, computed next, can be taken back.

        Args:
            slot: Whose.
            draft_tok: Its length.
            goes_back: Whether the states that the context keeps itself will be of use.
        """
        self._copies.pop(slot.index, None)
        is_kept = goes_back and draft_tok <= self._context.rollback_tok
        if not self.copies_states or is_kept:
            return
        state = taken_state(
            self._context, slot.index, is_partial=True, into=self._buffers.get(slot.index)
        )
        if state.size:
            self._buffers[slot.index] = state if state.base is None else state.base
            self._copies[slot.index] = _Copy(slot.cached, state)

    def reject(self, slot: Slot, kept: int, *, is_torn: bool = False) -> None:
        """Forget what lies behind the first ``kept`` tokens, or behind fewer.

        Afterwards ``slot.cached`` says what is held: less than ``kept`` where a state was put back,
        nothing where that was not possible either. The text stays known.

        Args:
            slot: Whose.
            kept: Tokens.
            is_torn: The step ended halfway: the states it left are of no use.
        """
        copy = self._copies.pop(slot.index, None)
        if copy is None:
            if is_torn and self.copies_states:
                slot.go_back(self._context)
            else:
                slot.forget_beyond(kept, self._context)
            return
        is_back = put_back_state(self._context, slot.index, copy.state, is_partial=True)
        # The state stands at its place now; the cache of the layers that have one is cut there.
        if is_back and self._context.seq_rm(slot.index, copy.cached, -1):
            slot.cached = copy.cached
        else:
            slot.clear(self._context)
