"""Checkpoints: states of a sequence at earlier tokens, for memories that cannot be cut.

A recurrent state holds no past, and a sliding window forgets it. So copies are taken while a prompt
is read; where a later prompt differs, the copy before that place is put back instead of reading
all again. Source: ``create_checkpoint`` and its caller in tools/server/server-context.cpp, which
stops at messages of the user and a micro-batch and 4 tokens before the end of every prompt; here
only where that saves more than the stop costs, and at its beginning for nothing. Must not know
requests.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine_bridge.child.host_room import HostRoom
from engine_bridge.child.llama import Context
from engine_bridge.child.sequence_state import state_bytes, taken_state
from engine_bridge.child.slot import FEW_TOK, NO_STOP, Checkpoint, Slot, keeps_state
from engine_bridge.settings.config import EngineConfig

# A template's words before an answer, which may differ when the answer is history (llama-server's).
_BEFORE_ANSWER_TOK = 4
# Reading so few tokens again costs hardly more than the step that a stop adds.
_WORTH_A_STOP_TOK = FEW_TOK
# What a template writes behind an answer; the copy where the turn begins serves the next message.
_BEHIND_ANSWER_TOK = 8
# Before so few tokens there is nothing worth going back to.
_LEAST_TOK = FEW_TOK


class Checkpoints:
    """Decides where checkpoints are taken, and which stay. For one context.

    Attributes:
        is_on: Whether any are taken.

    Args:
        context: Whose sequences.
        config: What it was built from.
        room: Host memory.
    """

    def __init__(self, context: Context, config: EngineConfig, room: HostRoom) -> None:
        """Take none yet."""
        self._context = context
        self._room = room
        self._is_needed = needs_checkpoints(context, config)
        self._use = 0
        self.set_live(config)

    def set_live(self, config: EngineConfig) -> None:
        """Take what needs no new context; what is too many goes with the next one taken."""
        self._most = config.ctx_checkpoints
        self._step_tok = config.checkpoint_min_step_tok
        self.is_on = self._is_needed and self._most > 0 and config.cache_prompt

    def begin(self, slot: Slot) -> None:
        """A prompt is about to be read in ``slot``: keep what precedes it, and plan the stops."""
        slot.stop_tok = NO_STOP
        if self.is_on:
            self._use += 1
            slot.use = self._use
            if slot.pending >= _BEFORE_ANSWER_TOK:
                self._take(slot)
            slot.stop_tok = self._next_stop(slot)

    def resume(self, slot: Slot) -> None:
        """The reading of a prompt goes on in another context: plan its stops anew."""
        slot.stop_tok = self._next_stop(slot) if self.is_on else NO_STOP

    def take_due(self, slots: Iterable[Slot]) -> None:
        """Take the checkpoints of prompts whose reading has come to a stop."""
        for slot in slots:
            if slot.cached == slot.stop_tok:
                self._take(slot)
                slot.stop_tok = self._next_stop(slot)

    def _next_stop(self, slot: Slot) -> int:
        """The next place behind what is cached; ``NO_STOP`` if there is none."""
        end, last = slot.known, _last_tok(slot)
        stops = [end - _BEFORE_ANSWER_TOK - self._context.ubatch_tok, end - _BEFORE_ANSWER_TOK]
        if self._step_tok:
            stops.append(last + self._step_tok)
        worth_it = [stop for stop in stops if stop - last >= _WORTH_A_STOP_TOK]
        return min(
            (stop for stop in (*worth_it, *self._message_stops(slot)) if slot.cached < stop < end),
            default=NO_STOP,
        )

    def _message_stops(self, slot: Slot) -> list[int]:
        """The last message of the user, and of those before it the first and distant ones."""
        starts, last = slot.message_starts, _last_tok(slot)
        distant = last + self._step_tok if slot.checkpoints else 0
        wanted = [start for start in starts[:-1] if start > distant]
        if starts and starts[-1] - last > _BEHIND_ANSWER_TOK:
            wanted.append(starts[-1])
        return [start for start in wanted if start >= _LEAST_TOK]

    def _take(self, slot: Slot) -> None:
        tokens = slot.cached
        if tokens < _LEAST_TOK or (slot.checkpoints and slot.checkpoints[-1].tokens == tokens):
            return
        size = state_bytes(self._context, slot.index, is_partial=True)
        if not size or not self._room.has(size):
            return
        self._thin_out(slot)
        state = taken_state(self._context, slot.index, is_partial=True)
        if state.size:
            slot.checkpoints.append(Checkpoint(tokens, state, slot.use))

    def _thin_out(self, slot: Slot) -> None:
        """Make room for one more: first those close behind an earlier one, then the oldest."""
        points = slot.checkpoints
        if len(points) + 1 > self._most:
            spread: list[Checkpoint] = []
            for point in points:
                is_close = spread and point.tokens <= spread[-1].tokens + self._step_tok
                if point.use == slot.use or not is_close:
                    spread.append(point)
            points[:] = spread
        del points[: max(0, len(points) + 1 - self._most)]


def _last_tok(slot: Slot) -> int:
    return slot.checkpoints[-1].tokens if slot.checkpoints else 0


def needs_checkpoints(context: Context, config: EngineConfig) -> bool:
    """Whether the memory of ``context`` cannot be cut at any token."""
    model = context.model
    return keeps_state(model) or (model.window_tok > 0 and not config.swa_full)
