"""The drafts of a step: who may draft how much, and with what.

Knows streams and drafters; verifying what was drafted is ``batcher``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine_bridge.child.batch import Batch
from engine_bridge.child.context_shift import Shift
from engine_bridge.child.llama import Context
from engine_bridge.child.measure import StepMeter
from engine_bridge.child.scheduler import Limits, Share, drafts_allowed
from engine_bridge.child.speculation.choice import drafters_of
from engine_bridge.child.speculation.draft_mtp import DraftMtp, Seen
from engine_bridge.child.speculation.draft_simple import DraftSimple
from engine_bridge.child.speculation.draft_steps import DraftSteps
from engine_bridge.child.speculation.drafter import Drafter, Wanted
from engine_bridge.child.speculation.in_turn import InTurn
from engine_bridge.child.speculation.lookup_counts import (
    LookupCounts,
    LookupFileError,
    no_counts,
)
from engine_bridge.child.speculation.lookup_files import LOOKUP_FILES
from engine_bridge.child.speculation.take_back import TakeBack
from engine_bridge.child.step_guard import StepGuard
from engine_bridge.child.stream import Stream
from engine_bridge.protocol import Event, Logged
from engine_bridge.settings.config import EngineConfig


class Drafting:
    """Drafts for the streams of one context at a time.

    Attributes:
        drafters: What drafts, by its kind, the one to ask first in front.

    Args:
        guard: Stands around the draft model's steps.
        meter: Counts them.
        emit: Takes events.
    """

    def __init__(self, guard: StepGuard, meter: StepMeter, emit: Callable[[Event], None]) -> None:
        """Draft nothing yet."""
        self.drafters: dict[str, Drafter] = {}
        self._in_turn = InTurn(())
        self._conversations: dict[int, str] = {}  # slot: whose text the drafters saw there
        self._guard = guard
        self._meter = meter
        self._emit = emit
        self._draft_simple: DraftSimple | None = None
        self._mtp: DraftMtp | None = None
        self._take_back: TakeBack | None = None
        self._vocab = 0

    def adopt(self, context: Context, draft_context: Context | None, config: EngineConfig) -> None:
        """Draft for ``context``, with ``draft_context`` where there is one."""
        self._take_back = TakeBack(context)
        self._vocab = context.model.vocab
        for seq in [seq for seq in self._conversations if seq >= context.sequences]:
            self._forget(seq)
        self._draft_simple = None
        if draft_context is not None:
            steps = self._steps_of(draft_context)
            self._draft_simple = DraftSimple(draft_context, context.model.vocab, config, steps)
        self._mtp = None
        if context.mtp is not None:
            self._mtp = DraftMtp(context, config, self._steps_of(context.mtp))
        self.set_live(config)

    def _steps_of(self, context: Context) -> DraftSteps:
        return DraftSteps(context, self._guard, self._meter.drafted, self._say)

    def set_live(self, config: EngineConfig) -> None:
        """Take what needs no new context."""
        by_model: dict[str, Drafter] = {}
        if self._draft_simple is not None:
            by_model["draft-simple"] = self._draft_simple
        if self._mtp is not None:
            by_model["draft-mtp"] = self._mtp
        self.drafters = drafters_of(config, self.drafters, by_model, self._read)
        for drafter in self.drafters.values():
            drafter.set_live(config)
        self._in_turn = InTurn(tuple(self.drafters.values()))

    @property
    def is_on(self) -> bool:
        """Whether anything drafts."""
        return bool(self.drafters)

    def begin(self, stream: Stream) -> None:
        """Take note that a prompt was read: the next token is the first of its answer.

        What was seen in the slot is remembered for the conversation that it belongs to, and for
        nobody else: a draft may not say what stands in another conversation.
        """
        slot = stream.slot
        if not slot.conversation_id or slot.conversation_id != self._conversations.get(slot.index):
            self._forget(slot.index)
        self._conversations[slot.index] = slot.conversation_id
        self._in_turn.begin(slot.index, slot.tokens[: slot.known])

    def accept(self, stream: Stream, accepted_tok: int) -> None:
        """Tell the drafters how much of the draft of ``stream`` was confirmed."""
        self._in_turn.accept(stream.slot.index, accepted_tok)

    def shifted(self, seq: int, what: Shift) -> None:
        """Take note that a full slot dropped the middle of its text.

        The drafters that look a text up in itself know it by its places: they read it again.
        """
        self._in_turn.forget(seq)
        if self._draft_simple is not None:
            self._draft_simple.shifted(seq, what)
        if self._mtp is not None:
            self._mtp.shifted(seq, what)

    def drop(self, seq: int) -> None:
        """The conversation of a slot is closed: no drafter holds anything of it any more."""
        self._forget(seq)
        if self._draft_simple is not None:
            self._draft_simple.drop(seq)
        if self._mtp is not None:
            self._mtp.drop(seq)

    def _forget(self, seq: int) -> None:
        self._conversations.pop(seq, None)
        self._in_turn.forget(seq)

    def draft(self, generating: Sequence[Stream], limits: Limits, others: int) -> bool:
        """Put a draft behind the text of each stream that may have one.

        Args:
            generating: Streams that want their next token.
            limits: What a step may hold.
            others: Streams that read their prompts in the same step.

        Returns:
            False where the step should not go on: a cancel ended it early, or all streams wait for
            the draft model, which has read a part of their texts.
        """
        if not self.drafters:
            return True
        simple = self._draft_simple
        if simple is not None:
            simple.is_reading = False
        asking, wanted = [], []
        for stream in generating:
            stream.draft_tok = 0
            slot = stream.slot
            most_tok = drafts_allowed(stream, limits, len(generating))
            if most_tok > 0:
                asking.append(stream)
                text = slot.tokens[: slot.known]
                wanted.append(Wanted(slot.index, text, most_tok, len(generating) + others))
        if not wanted:
            return True
        self._guard.is_interrupted = False
        for stream, draft in zip(asking, self._in_turn.draft(wanted), strict=True):
            slot = stream.slot
            stream.draft_tok = len(draft)
            slot.tokens[slot.known : slot.known + len(draft)] = draft
        return not self._guard.is_interrupted and not (simple is not None and simple.is_reading)

    @property
    def watches(self) -> bool:
        """Whether something must see what the model computes."""
        return self._mtp is not None

    def saw(self, batch: Batch, shares: Sequence[Share]) -> None:
        """After a step, before its tokens are booked: ``batch`` with ``shares`` was computed."""
        assert self._mtp is not None
        parts = [Seen(s.stream.slot.index, s.stream.slot.cached, s.tokens) for s in shares]
        self._mtp.saw(batch, parts)

    def prepare(self, shares: Sequence[Share]) -> None:
        """Before a step: see to it that its drafts can be taken back."""
        assert self._take_back is not None
        if self._take_back.copies_states:
            parts = [(share.stream.slot, share.tokens, share.draft_tok) for share in shares]
            self._take_back.before_step(parts)

    def reject(self, stream: Stream, kept: int, *, is_torn: bool = False) -> None:
        """Take a draft back: the memory holds the first ``kept`` tokens of the text, or fewer.

        Args:
            stream: Whose.
            kept: Tokens.
            is_torn: The step ended halfway; see ``TakeBack.reject``.
        """
        assert self._take_back is not None
        slot = stream.slot
        self._take_back.reject(slot, kept, is_torn=is_torn)
        stream.again_tok = kept - slot.cached if slot.cached else 0

    def _read(self, path: str) -> LookupCounts:
        """The counts of a file: those that were read when it was checked.

        Whoever wants a batcher without a check waits for the file here.
        """
        try:
            return LOOKUP_FILES.newest(path, self._vocab) or LOOKUP_FILES.counts(path, self._vocab)
        except LookupFileError as error:
            self._say(f"{error} Drafts go on without its counts.")
            return no_counts()

    def _say(self, sentence: str) -> None:
        self._emit(Logged("warning", sentence))
