"""The prompt cache in host memory: texts that had to leave their slot, as whole states.

Source: ``server_prompt_cache`` in tools/server/server-task.cpp. Other than there, a text that is
put back stays here as well until a longer one takes its place, and nothing is kept that host memory
has no room for. Knows slots and states; which text serves a prompt is ``prompt_reuse``'s to say.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.host_room import HostRoom
from engine_bridge.child.llama import Context
from engine_bridge.child.sequence_state import put_back_state, state_bytes
from engine_bridge.child.slot import Checkpoint, Slot, common_prefix
from engine_bridge.child.state_outline import WholeState, partial_for_streams

_MIB = 1 << 20


class KeptPrompt:
    """A text and what the memory held for it.

    Attributes:
        tokens: (tokens,) int32.
        state: A whole state, for the pool that it comes from.
        checkpoints: Of the slot it comes from.
        conversation_id: Whose text it is.
        used_at: Counts up with each use of the cache.
    """

    def __init__(self, slot: Slot, state: WholeState, used_at: int) -> None:
        """Keep what ``slot`` holds, its cells as ``state``."""
        self.tokens = slot.tokens[: slot.cached].copy()
        self.state = state
        self.checkpoints: Sequence[Checkpoint] = tuple(slot.checkpoints)
        self.conversation_id = slot.conversation_id
        self.used_at = used_at

    @property
    def cached(self) -> int:
        """Tokens computed: all of them."""
        return len(self.tokens)

    @property
    def bytes(self) -> int:
        """What it takes in host memory; its checkpoints may stand in a slot as well."""
        return self.state.data.nbytes + self.tokens.nbytes + _checkpoint_bytes(self.checkpoints)

    def match(self, prompt: NDArray[np.int32]) -> int:
        """Tokens at the beginning in common with ``prompt``."""
        return common_prefix(self.tokens, prompt)


class PromptCache:
    """Kept texts, the least recently used dropped first.

    Attributes:
        kept: What is there.
    """

    def __init__(self) -> None:
        """Keep nothing until ``adopt`` and ``set_budget``."""
        self.kept: list[KeptPrompt] = []
        self._budget_bytes: int | None = 0
        self._uses = 0
        self._kind: tuple[object, ...] = ()
        self._streams = 1

    @property
    def bytes(self) -> int:
        """What all of it takes."""
        return sum(entry.bytes for entry in self.kept)

    @property
    def is_on(self) -> bool:
        """Whether anything may be kept."""
        return self._budget_bytes != 0

    def adopt(self, kind: tuple[object, ...], streams: int, room: HostRoom) -> bool:
        """Serve another context.

        Args:
            kind: What must be equal for what is kept to be of use there; else it is dropped.
            streams: Of its pool; states are put into this form when they are needed.
            room: Host memory.

        Returns:
            Whether it was equal.
        """
        self._room, self._streams = room, streams
        is_same, self._kind = kind == self._kind, kind
        if not is_same:
            self.kept.clear()
        return is_same

    def inherit(self, other: PromptCache) -> bool:
        """Take what ``other`` keeps if it is of the same kind, as far as the budget goes.

        Returns:
            Whether it is.
        """
        is_same = self._kind == other._kind
        if is_same and self.is_on:
            self.kept, self._uses = other.kept, other._uses
            self._make_room(0)
        return is_same

    def set_budget(self, budget_mib: int) -> None:
        """Keep at most ``budget_mib``, −1 for no limit but host memory; drop what is too much."""
        self._budget_bytes = None if budget_mib < 0 else budget_mib * _MIB
        self._make_room(0)

    def drop_all(self) -> None:
        """Give all memory back."""
        self.kept.clear()

    def keep(self, slot: Slot, context: Context) -> bool:
        """Copy what ``slot`` holds.

        Returns:
            False where it is larger than the budget, or than the room in host memory.
        """
        if not self._wants(slot):
            return False
        if self._has(slot):
            return True
        if not self._make_room(_bytes_of(slot, state_bytes(context, slot.index))):
            return False
        try:
            state = WholeState.of(context, slot.index)
        except MemoryError:
            return False
        return self._add(slot, state)

    def keep_copy(self, slot: Slot, state: WholeState) -> bool:
        """Keep what ``slot`` held in a context that is gone, as ``keep`` does."""
        if not self._wants(slot):
            return False
        return self._has(slot) or (
            self._make_room(_bytes_of(slot, state.data.nbytes)) and self._add(slot, state)
        )

    def _wants(self, slot: Slot) -> bool:
        return self.is_on and slot.cached > 0

    def _has(self, slot: Slot) -> bool:
        """Whether the text of ``slot`` is there, maybe with more; drops what it has more of."""
        self._uses += 1
        text = slot.tokens[: slot.cached]
        for entry in self.kept:
            if entry.match(text) == slot.cached:
                entry.used_at = self._uses
                return True
        self.kept = [entry for entry in self.kept if entry.match(text) < entry.cached]
        return False

    def _add(self, slot: Slot, state: WholeState) -> bool:
        if state.data.size:
            self.kept.append(KeptPrompt(slot, state, self._uses))
        return bool(state.data.size)

    def forget(self, conversation_id: str) -> None:
        """A conversation is closed."""
        self.kept = [entry for entry in self.kept if entry.conversation_id != conversation_id]

    def put_into(self, slot: Slot, entry: KeptPrompt, context: Context) -> bool:
        """Make ``slot`` hold ``entry``; False where its cells do not fit, which drops it."""
        slot.clear(context)
        slot.known = 0
        self._uses += 1
        entry.used_at = self._uses
        model, streams = context.model, self._streams
        if not put_back_state(context, slot.index, entry.state.for_streams(streams, model)):
            slot.clear(context)
            self.kept = [other for other in self.kept if other is not entry]
            return False
        slot.tokens[: entry.cached] = entry.tokens
        slot.cached = slot.known = entry.cached
        slot.checkpoints[:] = [
            point._replace(state=partial_for_streams(point.state, streams, model))
            for point in entry.checkpoints
        ]
        return True

    def _make_room(self, needed: int) -> bool:
        """Drop texts until ``needed`` bytes fit into the budget and into host memory."""
        budget = self._budget_bytes
        if budget is not None and needed > budget:
            return False
        while budget is not None and self.kept and self.bytes + needed > budget:
            self._drop_oldest()
        while needed and not self._room.has(needed):
            if not self.kept:
                return False
            self._drop_oldest()
        return True

    def _drop_oldest(self) -> None:
        self.kept.remove(min(self.kept, key=lambda entry: entry.used_at))


def _bytes_of(slot: Slot, state_size: int) -> int:
    return state_size + 4 * slot.cached + _checkpoint_bytes(slot.checkpoints)


def _checkpoint_bytes(checkpoints: Sequence[Checkpoint]) -> int:
    return sum(point.state.nbytes for point in checkpoints)
