"""Rejected drafts leave the target's memory again, whatever kind of memory that is.

A cache is cut. A state (recurrent and hybrid models) is not: as llama-server does it, a copy of the
state is taken before a step with drafts and put back where one is rejected (``spec_ckpt`` in
tools/server/server-context.cpp); what was confirmed is then computed again in the next step. Where
the context keeps the last states itself (``n_rs_seq``), it goes back by as many tokens alone.
Must not know drafters or requests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import Context
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

    def before(self, slot: Slot, draft_tok: int) -> None:
        """Make sure that a draft of ``draft_tok``, computed next, can be taken back."""
        self._copies.pop(slot.index, None)
        if not self.copies_states or draft_tok <= self._context.rollback_tok:
            return
        state = taken_state(
            self._context, slot.index, is_partial=True, into=self._buffers.get(slot.index)
        )
        if state.size:
            self._buffers[slot.index] = state if state.base is None else state.base
            self._copies[slot.index] = _Copy(slot.cached, state)

    def reject(self, slot: Slot, kept: int) -> None:
        """Forget what lies behind the first ``kept`` tokens, or behind fewer.

        Afterwards ``slot.cached`` says what is held: less than ``kept`` where a state was put back,
        nothing where that was not possible either. The text stays known.
        """
        copy = self._copies.pop(slot.index, None)
        if copy is None:
            slot.forget_beyond(kept, self._context)
            return
        is_back = put_back_state(self._context, slot.index, copy.state, is_partial=True)
        # The state stands at its place now; the cache of the layers that have one is cut there.
        if is_back and self._context.seq_rm(slot.index, copy.cached, -1):
            slot.cached = copy.cached
        else:
            slot.clear(self._context)
