"""The cells that the slots share, where they share them.

Counts cells and says who has to give some back; must not know messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine_bridge.child.llama import Context
from engine_bridge.child.slot import Slot
from engine_bridge.child.stream import Stream

# Room where there is no common pool: more than any batch asks for.
PLENTY_TOK = 1 << 40


class Pool:
    """Free cells of a unified pool; a split pool always has room inside a slot.

    Attributes:
        is_shared: Whether the slots share one pool.
        before_evict: Told of a slot whose cache is about to be dropped.

    Args:
        context: Whose cells.
        slots: All slots.
        is_shared: Whether they share one pool.
    """

    def __init__(self, context: Context, slots: Sequence[Slot], is_shared: bool) -> None:
        """Watch the slots."""
        self._context = context
        self._slots = slots
        self.is_shared = is_shared
        self.before_evict: Callable[[Slot], None] | None = None

    def make_room(self, wanted_tok: int, keep: Slot | None = None) -> int:
        """Drop caches of free slots, least recently used first, until ``wanted_tok`` fit.

        Args:
            wanted_tok: Cells.
            keep: A slot whose cache stays.

        Returns:
            Free cells, less than wanted where nothing was left to drop.
        """
        if not self.is_shared:
            return PLENTY_TOK
        while (room := self._free_tok()) < wanted_tok:
            if not self.evict_one(keep):
                break
        return room

    def room_for(self, streams: Sequence[Stream], end_last: Callable[[], None]) -> int:
        """Free cells of a common pool, at least one for every generating stream; else plenty.

        Where they run out, a prompt that is still being read gives its cells back and waits; if
        there is none, the stream that started last ends.

        Args:
            streams: All that run.
            end_last: Ends the last of them.
        """
        while self.is_shared:
            generating = sum(s.slot.pending for s in streams if s.is_generating)
            reading = [stream for stream in streams if not stream.is_generating]
            needed = generating or 1
            wanted = needed + (reading[0].slot.pending if reading else 0)
            room = self.make_room(wanted)
            if room >= needed or not streams:
                return room
            # The first prompt keeps its cells if nobody else could go on without them.
            partly_read = [s for s in reading[0 if generating else 1 :] if s.slot.cached]
            if partly_read:
                partly_read[-1].slot.clear(self._context)
            else:
                end_last()
        return PLENTY_TOK

    def evict_one(self, keep: Slot | None = None) -> bool:
        """Drop the least recently used cache that no request holds; False if there is none."""
        idle = [slot for slot in self._slots if slot.is_free and slot.cached and slot is not keep]
        if not idle:
            return False
        slot = min(idle, key=lambda idle_slot: idle_slot.used_at)
        if self.before_evict is not None:
            self.before_evict(slot)
        slot.clear(self._context)
        slot.known = 0
        return True

    def _free_tok(self) -> int:
        # Cells that a slot before this one holds as well are counted there.
        held = sum([slot.cached - slot.common_tok for slot in self._slots])
        return self._context.ctx_tok - held
