"""Where a prompt's beginning is taken from: its slot, another slot, or the prompt cache.

Knows slots, the pool, checkpoints and the prompt cache, and what becomes of a text that has to
leave its slot; must not know steps. Sources: ``get_available_slot`` and ``update_slots`` in
tools/server/server-context.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child import recompute
from engine_bridge.child.carried import Carried, by_use
from engine_bridge.child.checkpoints import Checkpoints
from engine_bridge.child.chunk_reuse import reuse_chunks
from engine_bridge.child.context_shift import can_shift, turn_moved
from engine_bridge.child.host_room import HostRoom
from engine_bridge.child.llama import Context
from engine_bridge.child.pool import Pool
from engine_bridge.child.prompt_cache import KeptPrompt, PromptCache
from engine_bridge.child.recompute import Recompute
from engine_bridge.child.sequence_moves import share_prefix
from engine_bridge.child.sequence_state import put_back_state, taken_state
from engine_bridge.child.slot import (
    FEW_TOK,
    Slot,
    choose_slot,
    keeps_state,
    reaches_back,
    share,
    usable_tok,
)
from engine_bridge.child.state_outline import WholeState, kind_of_cells, streams_of
from engine_bridge.settings.config import EngineConfig

# A copy takes a whole text: one of which less than this is wanted is not worth it (llama-server).
_LEAST_SHARE = 0.25
# A text that loses so much of itself is kept, even where its own conversation goes on (f_keep).
_LARGE_SHARE = 0.5


class Started(NamedTuple):
    """A prompt in its slot.

    Attributes:
        slot: The slot, no longer free.
        reused_tok: Tokens of the prompt that need not be computed.
        reason: Why others are computed again, or empty.
    """

    slot: Slot
    reused_tok: int
    reason: str


@dataclass(frozen=True)
class _Found:
    """Something that holds the beginning of a prompt."""

    held: Slot | KeptPrompt
    usable_tok: int


class PromptReuse:
    """Gives prompts what was computed before. Lives as long as the engine; ``adopt`` a context.

    Attributes:
        checkpoints: Of the context's slots.
        cache: Texts kept in host memory.
        recompute: Says why something was computed again.
    """

    checkpoints: Checkpoints

    def __init__(self) -> None:
        """Have no context yet."""
        self._uses = 0
        self.cache = PromptCache()
        self.recompute = Recompute()

    @property
    def bytes(self) -> int:
        """Host memory that kept texts and checkpoints take now."""
        return self.cache.bytes + sum(slot.checkpoint_bytes for slot in self._slots)

    def adopt(
        self, context: Context, config: EngineConfig, slots: Sequence[Slot], pool: Pool
    ) -> None:
        """Serve the slots of another context."""
        room = HostRoom(context.model)
        self._context, self._slots, self._pool = context, slots, pool
        self.checkpoints = Checkpoints(context, config, room)
        if not self.cache.adopt(kind_of_cells(context, config), streams_of(config), room):
            self.recompute.lost_all(recompute.SETTING_CHANGED)
        is_cut_anywhere = not keeps_state(context.model) and (
            not context.model.window_tok or config.swa_full
        )
        # A window has cells of the end alone, even where it is as large as the rest.
        self._can_move = can_shift(context) and is_cut_anywhere
        # Shared cells of a window would never be free for the tokens that move it on.
        self._can_share = pool.is_shared and is_cut_anywhere
        pool.before_evict = self._evicted

    def set_live(self, config: EngineConfig) -> None:
        """Take what needs no new context."""
        self._is_on = config.cache_prompt
        self._least_chunk_tok = config.cache_reuse_tok if self._can_move else 0
        self.checkpoints.set_live(config)
        self.cache.set_budget(config.cache_ram_mib if config.cache_prompt else 0)
        # Positions of cells must be one slot's own where they may be changed.
        self._shares = self._can_share and not (self._least_chunk_tok or config.context_shift)
        if not self._shares:
            for slot in self._slots:
                if slot.shared:
                    self._separate(slot)

    def start(
        self,
        prompt: NDArray[np.int32],
        conversation_id: str,
        message_starts: tuple[int, ...] = (),
    ) -> Started | None:
        """Give a prompt a slot, with as little to compute as possible.

        Args:
            prompt: (tokens,) int32.
            conversation_id: Whose.
            message_starts: Tokens in front of each message of the user, as far as they are known.

        Returns:
            None if no slot is free.
        """
        # A copy of a window holds what the end of a text needs, and no more.
        can_copy = self._shares or not self._context.model.window_tok
        slot = choose_slot(self._slots, prompt, conversation_id, can_copy=can_copy)
        if slot is None:
            return None
        slot.message_starts = message_starts
        reused, reason = self._begin(slot, prompt, conversation_id)
        slot.is_free, slot.conversation_id = False, conversation_id
        self._note_use(slot)
        return Started(slot, reused, reason)

    def _note_use(self, slot: Slot) -> None:
        self._uses += 1
        slot.used_at = self._uses

    def _begin(
        self, slot: Slot, prompt: NDArray[np.int32], conversation_id: str
    ) -> tuple[int, str]:
        if not self._is_on:
            return self._begin_anew(slot, prompt, conversation_id)
        wanted = min(slot.match(prompt), len(prompt) - 1)
        own_tok = self._usable(slot, wanted)
        better = self._better(slot, prompt, own_tok)
        self._rescue(slot, 0 if better else own_tok, conversation_id)
        if better is not None:
            self._fetch(slot, better)
        moved = 0
        if self._least_chunk_tok and self._context.seq_pos_min(slot.index) == 0:
            _, moved = reuse_chunks(slot, prompt, self._least_chunk_tok, self._context)
            if moved:  # a step that is cancelled halfway would turn some of the cells twice
                turn_moved(self._context, slot.index, slot.cached, int(prompt[-1]))
        reused, cut = slot.begin(prompt, self._context)
        self.checkpoints.begin(slot)
        reason = self.recompute.reason(conversation_id, prompt, reused, cut)
        return reused, reason if not moved or cut else _moved_words(moved)

    def forget(self, conversation_id: str) -> list[Slot]:
        """A conversation is closed: nothing that was computed for it stays.

        Returns:
            Slots that held it and are empty now; one whose request still runs only loses its name.
        """
        self.recompute.forget(conversation_id)
        self.cache.forget(conversation_id)
        held = [slot for slot in self._slots if slot.conversation_id == conversation_id]
        for slot in held:
            slot.conversation_id, slot.used_at = "", 0
        free = [slot for slot in held if slot.is_free]
        for slot in free:
            slot.drop(self._context)
        return free

    def _begin_anew(
        self, slot: Slot, prompt: NDArray[np.int32], conversation_id: str
    ) -> tuple[int, str]:
        self._note_taken(slot, conversation_id)
        self.recompute.lost(conversation_id, recompute.CACHING_OFF)
        slot.clear(self._context)
        reused, _ = slot.begin(prompt, self._context)
        return reused, self.recompute.reason(conversation_id, prompt, reused, "")

    def fill(self, slot: Slot, tokens: NDArray[np.int32], state: NDArray[np.uint8]) -> bool:
        """Let ``slot``, a free one, hold a text that was computed elsewhere.

        Args:
            slot: What it holds is rescued first.
            tokens: (tokens,) int32, the text.
            state: (bytes,) uint8, a whole state of as many tokens.

        Returns:
            False where there is no room for it; the slot is empty then.
        """
        self._note_use(slot)
        self._rescue(slot, 0, "")
        slot.clear(self._context)
        slot.known = 0
        has_room = self._pool.make_room(len(tokens), slot) >= len(tokens)
        is_there = has_room and put_back_state(self._context, slot.index, state)
        if not is_there or self._context.seq_pos_max(slot.index) != len(tokens) - 1:
            slot.clear(self._context)
            return False
        slot.tokens[: len(tokens)] = tokens
        slot.cached = slot.known = len(tokens)
        return True

    # --- What could serve -------------------------------------------------------------------

    def _better(self, slot: Slot, prompt: NDArray[np.int32], own_tok: int) -> _Found | None:
        """What spares more than the slot itself does, enough to be worth a copy."""
        best: _Found | None = None
        most_tok = own_tok + FEW_TOK
        holders: list[Slot | KeptPrompt] = [*self._slots, *self.cache.kept]
        for held in holders:
            wanted = 0 if held is slot else min(held.match(prompt), len(prompt) - 1)
            if wanted < most_tok:
                continue
            if self._shares and isinstance(held, Slot):
                usable = self._usable_shared(held, wanted)
            else:
                usable = self._usable_copy(held, wanted, slot.cap_tok)
            if usable >= most_tok:
                best, most_tok = _Found(held, usable), usable + 1
        return best

    def _usable(self, slot: Slot, wanted: int) -> int:
        """Tokens that ``slot`` can give of its first ``wanted``."""
        model = self._context.model
        lowest = self._context.seq_pos_min(slot.index) if model.window_tok and slot.cached else 0
        return usable_tok(slot, wanted, model, lowest)

    def _usable_shared(self, held: Slot, wanted: int) -> int:
        """Tokens whose cells ``held`` can share, 0 where its window no longer has those needed.

        A full window cache holds all that was computed in it; of a text that was put back, or whose
        cells others needed, it holds the end.
        """
        window = self._context.model.window_tok
        lowest = self._context.seq_pos_min(held.index)
        return wanted if not window or reaches_back(lowest, wanted, window) else 0

    def _usable_copy(self, held: Slot | KeptPrompt, wanted: int, cap_tok: int) -> int:
        """Tokens that a copy of ``held`` can give, 0 where it is not worth it or has no room.

        Of a window a copy holds what the end of the text needs.
        """
        model = self._context.model
        usable = usable_tok(held, wanted, model, max(0, held.cached - model.window_tok))
        is_worth_it = held.cached < cap_tok and usable >= _LEAST_SHARE * held.cached
        return usable if is_worth_it else 0

    # --- Copies -----------------------------------------------------------------------------

    def _fetch(self, slot: Slot, found: _Found) -> None:
        """Fill ``slot`` with what was found; where that fails, it is empty."""
        slot.clear(self._context)
        slot.known = 0
        held = found.held
        if isinstance(held, Slot) and self._shares:
            share_prefix(self._context, held.index, slot.index, found.usable_tok)
            _note_shared(held, slot, found.usable_tok)
            slot.tokens[: found.usable_tok] = held.tokens[: found.usable_tok]
            slot.cached = slot.known = found.usable_tok
            return
        keep = held if isinstance(held, Slot) else None
        if self._pool.make_room(held.cached, keep) < held.cached:
            return
        if isinstance(held, KeptPrompt):
            self.cache.put_into(slot, held, self._context)
        elif put_back_state(self._context, slot.index, taken_state(self._context, held.index)):
            slot.tokens[: held.cached] = held.tokens[: held.cached]
            slot.cached = slot.known = held.cached
            slot.checkpoints[:] = held.checkpoints
        else:
            slot.clear(self._context)

    def _separate(self, slot: Slot) -> None:
        """Give ``slot`` cells of its own for those that it shares."""
        cached, state = slot.cached, taken_state(self._context, slot.index)
        slot.clear(self._context)
        if put_back_state(self._context, slot.index, state):
            slot.cached = cached
        else:
            slot.clear(self._context)

    # --- What has to leave ------------------------------------------------------------------

    def _rescue(self, slot: Slot, kept_tok: int, conversation_id: str) -> None:
        """Keep what ``slot`` holds in host memory if too much of it is about to be lost."""
        lost = slot.cached - kept_tok
        is_own = slot.conversation_id == conversation_id
        is_large = lost > (1 - _LARGE_SHARE) * slot.cached
        if lost >= FEW_TOK and slot.conversation_id and (is_large or not is_own):
            self.cache.keep(slot, self._context)
        self._note_taken(slot, conversation_id)

    def _note_taken(self, slot: Slot, conversation_id: str) -> None:
        if slot.conversation_id != conversation_id:
            self.recompute.lost(slot.conversation_id, recompute.OTHER_TOOK_SLOT)

    def outgrown(self, slot: Slot) -> None:
        """A free slot holds more than it may from now on: keep that, and empty it."""
        if self._is_on and slot.conversation_id:
            self.cache.keep(slot, self._context)
        self.recompute.lost(slot.conversation_id, recompute.SETTING_CHANGED)
        slot.drop(self._context)

    def take_over(
        self,
        old: Sequence[Slot],
        seats: Mapping[Slot, Slot],
        carried: Carried,
        config: EngineConfig,
    ) -> None:
        """Go on with what the slots of the context before held; what finds no slot is kept.

        Args:
            old: Those slots.
            seats: Which of this one's goes on with which of them, as ``carried.places`` says.
            carried: Copies of what they held.
            config: What runs now.
        """
        for slot in by_use(old):
            new = seats.get(slot)
            is_there = new is not None and carried.take_over(slot, new, self._context, config)
            if new is not None and not slot.is_free:
                new.known, new.is_free = slot.known, False
                self.checkpoints.resume(new)
            if slot.cached and not is_there:
                self._left_behind(slot, carried.left(slot, self._context, config))

    def inherit(self, other: PromptReuse) -> None:
        """Keep what ``other``, of an engine with the same model that is gone, kept and knew."""
        self.recompute.inherit(other.recompute)
        if not self.cache.inherit(other.cache):
            self.recompute.lost_all(recompute.SETTING_CHANGED)

    def _left_behind(self, slot: Slot, state: WholeState | None) -> None:
        if state is not None and self._is_on and slot.conversation_id:
            self.cache.keep_copy(slot, state)
        self.recompute.lost(slot.conversation_id, recompute.SETTING_CHANGED)

    def _evicted(self, slot: Slot) -> None:
        """The pool is about to drop what an idle slot holds."""
        if self._is_on and slot.conversation_id and slot.cached >= FEW_TOK:
            self.cache.keep(slot, self._context)
        self.recompute.lost(slot.conversation_id, recompute.POOL_WAS_SHORT)


def _note_shared(source: Slot, target: Slot, tokens: int) -> None:
    for other, common in list(source.shared.items()):
        if other is not target:
            share(target, other, min(common, tokens))
    share(source, target, tokens)


def _moved_words(moved_tok: int) -> str:
    return f"{moved_tok:,} tokens behind a change were moved in the cache, not computed again."
