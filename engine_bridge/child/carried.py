"""What the slots hold, carried in host memory from one context into the next.

A change of context length, slots or batches leaves what was computed valid: only its place is new.
Knows slots and states; must not know requests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import psutil

from engine_bridge.child.llama import Context
from engine_bridge.child.sequence_state import put_back_state, state_bytes
from engine_bridge.child.slot import Slot
from engine_bridge.child.state_outline import (
    WholeState,
    kind_of_cells,
    partial_for_streams,
    streams_of,
)
from engine_bridge.settings.config import EngineConfig

# The copies live beside the new context, which is not built yet when they are taken.
_SHARE_OF_FREE_MEMORY = 0.25


@dataclass
class Carried:
    """Copies of sequences, and how the cells were made that they came from."""

    _copies: dict[int, WholeState] = field(default_factory=dict)
    _kind: tuple[object, ...] = ()

    @classmethod
    def of(cls, context: Context, config: EngineConfig, slots: Sequence[Slot]) -> Carried:
        """Copy what ``slots`` hold, in the order of ``by_use``, as far as host memory goes."""
        carried = cls(_kind=kind_of_cells(context, config))
        room = psutil.virtual_memory().available * _SHARE_OF_FREE_MEMORY
        for slot in by_use(slots):
            if slot.cached and (room := room - state_bytes(context, slot.index)) >= 0:
                carried._copies[slot.index] = WholeState.of(context, slot.index)
        return carried

    def take_over(self, old: Slot, new: Slot, context: Context, config: EngineConfig) -> bool:
        """Give ``new``, an empty slot, the text of ``old``, computed as far as it came along.

        A slot at rest is worth no more than its cache.

        Returns:
            Whether what was computed is there.
        """
        is_there = 0 < old.cached < new.cap_tok and self._put_into(old, new, context, config)
        if is_there or not old.is_free:
            new.tokens[: old.known] = old.tokens[: old.known]
            new.cached = new.known = old.cached if is_there else 0
            new.conversation_id, new.used_at = old.conversation_id, old.used_at
            new.message_starts, new.use = old.message_starts, old.use
        return is_there

    def left(self, old: Slot, context: Context, config: EngineConfig) -> WholeState | None:
        """Take what ``old`` held and no slot took over; None where it is of no use any more."""
        copy = self._copies.pop(old.index, None)
        return copy if self._kind == kind_of_cells(context, config) else None

    def _put_into(self, old: Slot, new: Slot, context: Context, config: EngineConfig) -> bool:
        """Fill the empty sequence of ``new`` with what that of ``old`` held, if cells are alike."""
        copy = self._copies.get(old.index)
        if copy is None or self._kind != kind_of_cells(context, config):
            return False
        streams, model = streams_of(config), context.model
        if not put_back_state(context, new.index, copy.for_streams(streams, model)):
            context.seq_rm(new.index, -1, -1)
            return False
        del self._copies[old.index]
        new.checkpoints[:] = [
            point._replace(state=partial_for_streams(point.state, streams, model))
            for point in old.checkpoints
        ]
        return True


def by_use(slots: Sequence[Slot]) -> list[Slot]:
    """``slots`` as they matter: those that answer, who began first; then the latest used.

    Of those that answer one whose conversation was closed, and is used no more, comes last.
    """

    def rank(slot: Slot) -> tuple[bool, float]:
        return slot.is_free, -slot.used_at if slot.is_free else slot.used_at or math.inf

    return sorted(slots, key=rank)


def places(old: Sequence[Slot], new: Sequence[Slot]) -> dict[Slot, Slot]:
    """Which of ``new``, all empty, goes on with which of ``old``, in the order of ``by_use``.

    A text keeps its number where there is one. Where there are fewer slots now, the last of that
    order have none.
    """
    cap_tok = new[0].cap_tok
    fitting = [s for s in by_use(old) if not s.is_free or 0 < s.cached < cap_tok]
    worth_it = fitting[: len(new)]
    kept = {slot: new[slot.index] for slot in worth_it if slot.index < len(new)}
    others = iter([slot for slot in new if slot not in kept.values()])
    return {slot: kept.get(slot) or next(others) for slot in worth_it}
