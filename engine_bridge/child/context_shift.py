"""Context shift: a full slot forgets the middle of its text and goes on.

The numbers are llama-server's (``pre_decode`` in tools/server/server-context.cpp): of what stands
behind the kept beginning the older half goes, and what follows moves up. Knows slots and the calls
that move cells; must not know steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from engine_bridge.child import sentences
from engine_bridge.child.llama import LIB, Context, Model
from engine_bridge.child.metadata import told_of_architecture
from engine_bridge.child.sequence_moves import move_chunk
from engine_bridge.child.slot import Slot
from engine_bridge.child.stream import Stream
from engine_bridge.protocol import ContextShifted, Event
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.shift_rules import TURNABLE_TYPES, has_rotation

# llama-server keeps this many tokens of a slot free of the beginning that is kept.
_LEAST_BEHIND_TOK = 4


@dataclass(frozen=True)
class Shift:
    """What a shift does to a text.

    Attributes:
        kept_tok: Tokens at the beginning that stay where they are.
        dropped_tok: Tokens behind them that go.
    """

    kept_tok: int
    dropped_tok: int


def shift_of(
    cached_tok: int, cap_tok: int, keep_tok: int, prompt_tok: int, *, adds_bos: bool
) -> Shift:
    """What llama-server would drop of a full slot.

    Args:
        cached_tok: Tokens in its cache.
        cap_tok: Tokens it may hold.
        keep_tok: Tokens of the prompt to keep, -1 for all of it.
        prompt_tok: Tokens of the prompt.
        adds_bos: The model's texts begin with a token of their own, which is kept as well.
    """
    kept = (prompt_tok if keep_tok < 0 else keep_tok) + adds_bos
    kept = max(0, min(cap_tok - _LEAST_BEHIND_TOK, kept))
    behind = cached_tok - kept
    return Shift(kept, min(max(behind // 2, 0), max(behind - 1, 0)))


def can_shift(context: Context) -> bool:
    """Whether cells of ``context`` can be moved to other positions.

    llama.cpp says so of a state as well, of which nothing could be dropped: llama-server then
    counts tokens as forgotten that the state still holds. Not here.
    """
    model = context.model
    if model.is_recurrent or model.is_hybrid or not _can_turn(context):
        return False
    return bool(LIB.llama_memory_can_shift(LIB.llama_get_memory(context.handle)))


def _can_turn(context: Context) -> bool:
    """Whether keys of this type can be turned: where not, llama.cpp ends the process (measured).

    RoPE knows F32 and F16 alone. Quantised keys are turned by way of F32, and back through a
    rotation that ``build_rope_shift`` (src/llama-kv-cache.cpp) takes for granted; it is there for
    heads of a multiple of 64 values.
    """
    cache_type = context.cache_type_k
    if cache_type in TURNABLE_TYPES:
        return True
    is_rotated = os.environ.get("LLAMA_ATTN_ROT_DISABLE", "0") in ("", "0")
    return cache_type != "bf16" and is_rotated and has_rotation((_head_dim(context.model),))


def _head_dim(model: Model) -> int:
    """Values of a key head; 1 where it is not the same in all layers."""
    told = told_of_architecture(model, "attention.key_length")
    if told:
        return int(told) if told.isdecimal() else 1
    heads = int(LIB.llama_model_n_head(model.handle))
    return int(LIB.llama_model_n_embd(model.handle)) // max(1, heads)


def shift(slot: Slot, what: Shift, context: Context) -> None:
    """Drop the middle of a slot's text and move up what follows, in the books and in the cache.

    Cells that were moved have yet to be turned to their new positions: see ``turn_moved``.
    """
    kept, dropped = what.kept_tok, what.dropped_tok
    move_chunk(context, slot.index, kept + dropped, slot.cached, kept)
    slot.checkpoints.clear()  # they stand at places of the old text
    slot.tokens[kept : slot.known - dropped] = slot.tokens[kept + dropped : slot.known]
    slot.known -= dropped
    slot.cached -= dropped
    slot.checkpoints[:] = [point for point in slot.checkpoints if point.tokens <= kept]


def turn_moved(context: Context, seq: int, place: int, token: int, *, width: int = 0) -> None:
    """Have moved cells turned to their new positions now (llama.cpp does it within a decode).

    Until then a copy of the sequence's state would be wrong, and a decode that is ended early could
    turn some of them twice; this one cannot be. It overwrites the output rows.

    Args:
        context: Whose cells.
        seq: A sequence.
        place: Its first free position.
        token: Any token; it leaves nothing behind.
        width: Values that ``context`` reads beside each token.
    """
    context.request_abort(False)
    batch = context.new_batch(1, width)
    batch.token[0], batch.pos[0], batch.seq[0] = token, place, seq
    context.decode(batch, 1)
    context.seq_rm(seq, place, -1)


class FullSlots:
    """Meets streams whose slot is full: they end, or forget and go on.

    Args:
        context: Whose slots.
        emit: Takes events.
        on_shift: Told of every shift: the slot's index and what was done to its text.
    """

    def __init__(
        self,
        context: Context,
        emit: Callable[[Event], None],
        on_shift: Callable[[int, Shift], None],
    ) -> None:
        """Let every stream end until ``set_live``."""
        self._context = context
        self._emit = emit
        self._on_shift = on_shift
        self._can_shift = can_shift(context)
        self._is_wanted = False
        self._keep_tok = 0
        self._due: list[Stream] = []

    def set_live(self, config: EngineConfig) -> None:
        """Take what needs no new context."""
        self._is_wanted, self._keep_tok = config.context_shift, config.keep_tok

    def meet(self, stream: Stream) -> None:
        """End ``stream``, or let it go on with the next step.

        A prompt that is still being read (its slot was made smaller) is never shortened.
        """
        if self._is_wanted and self._can_shift and stream.new_tok:
            self._due.append(stream)
            return
        cap_tok = stream.slot.cap_tok
        cannot_shift = self._is_wanted and not self._can_shift
        say = sentences.slot_cannot_shift if cannot_shift else sentences.slot_full
        stream.finish = ("context_full", say(cap_tok))

    def go_on(self) -> None:
        """Before a step: drop a part of the text of those that are to go on, and say which."""
        due, self._due = self._due, []
        for stream in due:
            if stream.finish is None:
                self._shift(stream)

    def fits(self, stream: Stream, cap_tok: int) -> bool:
        """Whether the text of ``stream`` fits into a slot of ``cap_tok``, shortened if that helps.

        For a text that holds no cells: what is left of a shortened one is computed again, and
        ``on_shift`` is not told. A prompt that is still being read is never shortened.
        """
        slot, known = stream.slot, stream.slot.known
        if known < cap_tok:
            return True
        if not (self._is_wanted and self._can_shift and stream.new_tok):
            return False
        while known >= cap_tok:
            what = self._shift_of(stream, known - 1, cap_tok)
            known -= what.dropped_tok
        what = Shift(what.kept_tok, slot.known - known)
        slot.tokens[what.kept_tok : known] = slot.tokens[
            what.kept_tok + what.dropped_tok : slot.known
        ]
        slot.known, slot.cached = known, 0
        slot.checkpoints.clear()
        self._tell(stream, what)
        return True

    def _shift(self, stream: Stream) -> None:
        slot = stream.slot
        if slot.pending > 1:  # what it held was dropped meanwhile: there is only text to shorten
            slot.clear(self._context)
            self.fits(stream, slot.cap_tok)
            return
        what = self._shift_of(stream, slot.cached, slot.cap_tok)
        shift(slot, what, self._context)
        turn_moved(self._context, slot.index, slot.cached, int(slot.tokens[slot.cached]))
        self._on_shift(slot.index, what)
        self._tell(stream, what)

    def _shift_of(self, stream: Stream, cached_tok: int, cap_tok: int) -> Shift:
        adds_bos = self._context.model.adds_bos
        return shift_of(cached_tok, cap_tok, self._keep_tok, stream.prompt_tok, adds_bos=adds_bos)

    def _tell(self, stream: Stream, what: Shift) -> None:
        slot = stream.slot
        stream.dropped_tok += what.dropped_tok
        self._emit(
            ContextShifted(
                request_id=stream.request_id,
                conversation_id=slot.conversation_id,
                dropped_tok=what.dropped_tok,
                kept_tok=what.kept_tok,
                used_tok=slot.known - 1,
            )
        )
