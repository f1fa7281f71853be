"""draft-simple: a smaller model guesses what the large one will say.

Drafts what llama.cpp's ``common_speculative_impl_draft_simple`` (common/speculative.cpp) drafts:
the likeliest token each time, until one is less sure than wanted. All slots draft in one batch a
token. Where llama.cpp computes every batch of the target once more with the draft model, its
cache here catches up with the text when a draft is wanted: a prompt keeps no first token waiting,
and of an accepted draft nothing is computed twice. Before its second token a text waits for the
draft model where nobody else would have to, so that as much is drafted as llama.cpp drafts. A draft
model that keeps a state goes back to the end of the text after each draft, and computes again what
was accepted. Must not know requests.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.context_shift import Shift, can_shift, shift, turn_moved
from engine_bridge.child.llama import Context
from engine_bridge.child.slot import Slot
from engine_bridge.child.speculation.confidence import confidence
from engine_bridge.child.speculation.draft_steps import ABORTED, NO_ROOM, DraftSteps
from engine_bridge.child.speculation.drafter import NOTHING, Forgetful, Wanted
from engine_bridge.child.speculation.take_back import TakeBack
from engine_bridge.settings.config import EngineConfig

# After a draft one or two tokens are new to the draft model; nobody in step waits for more.
_IN_STEP_TOK = 4


class _Part:
    """One text on its way to a draft."""

    __slots__ = ("drafted", "most_tok", "slot", "take", "text_tok")

    def __init__(self, slot: Slot, most_tok: int) -> None:
        self.slot = slot
        self.text_tok = slot.known
        self.most_tok = most_tok
        self.take = 0
        self.drafted: list[int] = []


class DraftSimple(Forgetful):
    """A draft model's context, in step with the target's slots.

    Attributes:
        steps: Runs the context.
        is_reading: Whether the last ``draft`` read a part of texts that all wait for the rest: it
            is to be called again before the next step.

    Args:
        context: The draft model's own context: as many sequences and cells as the target's.
        target_vocab: Tokens that the target knows.
        config: What the target runs with.
        steps: Runs ``context``.
    """

    def __init__(
        self,
        context: Context,
        target_vocab: int,
        config: EngineConfig,
        steps: DraftSteps,
    ) -> None:
        """Hold no text yet."""
        self._context = context
        self.steps = steps
        self._batch = context.new_batch(context.batch_tok)
        self._positions = np.arange(context.ctx_tok + 1, dtype=np.int32)
        self._vocab = min(target_vocab, context.model.vocab)
        self._has_foreign_tokens = target_vocab > context.model.vocab
        self._take_back = TakeBack(context)
        # As in the target: behind a window, llama.cpp is right for one micro-batch at a time.
        is_windowed = context.model.window_tok > 0
        self._most_tok = context.ubatch_tok if is_windowed else context.batch_tok
        self.is_reading = False
        self._waiting: frozenset[int] = frozenset()  # sequences whose texts wait for the rest
        self._may_wait = True
        self.slots = [Slot(n, 0, 0) for n in range(context.sequences)]
        self.set_live(config)

    def set_live(self, config: EngineConfig) -> None:
        """Take what needs no new context."""
        self._n_max, self._n_min = config.draft_n_max, config.draft_n_min
        self._p_min = config.draft_p_min

    def shifted(self, seq: int, what: Shift) -> None:
        """Follow the target: the middle of a text was dropped, and its cells need not be lost."""
        slot, context = self.slots[seq], self._context
        if slot.cached > what.kept_tok + what.dropped_tok and can_shift(context):
            shift(slot, what, context)
            turn_moved(context, seq, slot.cached, int(slot.tokens[0]))

    def drop(self, seq: int) -> None:
        """Hold nothing of a slot's text any more."""
        self.slots[seq].drop(self._context)

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """Guess what follows each text, all of them together."""
        parts = [self._part_of(one) for one in wanted]
        able = [part for part in parts if part is not None]
        ready = self._caught_up(able, wanted[0].texts)
        for part in ready:
            self._take_back.before(part.slot, part.most_tok)
        while ready:
            ready = self._extended(ready)
            if not ready or not self._computed(ready):
                break
        if self._take_back.copies_states:
            for part in able:
                if part.slot.cached > part.text_tok:
                    self._take_back.reject(part.slot, part.text_tok)
        return [
            np.array(part.drafted, np.int32)
            if part is not None and len(part.drafted) >= max(1, self._n_min)
            else NOTHING
            for part in parts
        ]

    def _part_of(self, one: Wanted) -> _Part | None:
        """Take a text up; None where it holds tokens that the draft model does not know."""
        slot = self.slots[one.seq]
        if len(one.history) + self._n_max > len(slot.tokens):
            slot.reshape(2 * (len(one.history) + self._n_max), 0)
        slot.begin(one.history, self._context)
        new = slot.tokens[slot.cached : slot.known]
        if self._has_foreign_tokens and new.max() >= self._context.model.vocab:
            return None
        return _Part(slot, min(one.most_tok, self._n_max))

    def _caught_up(self, parts: list[_Part], texts: int) -> list[_Part]:
        """Compute what is new in the texts; those that are in step then, in batch order.

        A long prompt is read in pieces. Those of a text beside others keep nobody waiting: until it
        is read, it goes on without drafts. Where all texts of the step are long behind, they wait
        for the rest, which is read in as many calls as it takes: commands are heard in between.
        """
        all_wait = self._all_wait(parts, texts)
        budget = self._budget_tok(parts, all_wait=all_wait)
        self.is_reading = all_wait and sum(part.slot.pending for part in parts) > budget
        reading = []
        for part in sorted(parts, key=lambda part: part.slot.pending):
            # The last token is for the call that reads the last of all texts: it gives the logits.
            part.take = min(part.slot.pending - self.is_reading, budget)
            budget -= part.take
            if part.take:
                reading.append(part)
        is_computed = bool(reading) and self._computed(reading)
        self.is_reading &= is_computed
        self._waiting = frozenset(part.slot.index for part in parts if self.is_reading)
        return [part for part in reading if part.slot.pending == 0] if is_computed else []

    def _all_wait(self, parts: list[_Part], texts: int) -> bool:
        """Whether every text of the step has long to go, or waits already."""
        return (
            self._may_wait
            and len(parts) == texts
            and all(
                part.slot.pending > _IN_STEP_TOK or part.slot.index in self._waiting
                for part in parts
            )
        )

    def _budget_tok(self, parts: list[_Part], *, all_wait: bool) -> int:
        """Tokens of the next batch."""
        budget = self.steps.pace.chunk_tok(
            others_decode=not all_wait,
            batch_tok=self._most_tok,
            ubatch_tok=self._context.ubatch_tok,
        )
        return min(self._most_tok, max(budget, _IN_STEP_TOK * len(parts)))

    def _extended(self, ready: list[_Part]) -> list[_Part]:
        """Append the likeliest token to each draft; those that go on, their token pending."""
        logits = self._context.logits()[: len(ready), : self._vocab]
        best: list[int] = logits.argmax(axis=1).tolist()
        sure = confidence(logits) if self._p_min > 0 else None
        going_on = []
        for row, part in enumerate(ready):
            if sure is not None and sure[row] < self._p_min:
                continue
            part.drafted.append(best[row])
            if len(part.drafted) < part.most_tok:
                slot = part.slot
                slot.tokens[slot.known] = best[row]
                slot.known += 1
                part.take = 1
                going_on.append(part)
        return going_on

    def _computed(self, parts: list[_Part]) -> bool:
        """Run the next ``take`` tokens of every part; False where that came to nothing."""
        code = self._decode(parts)
        if code == NO_ROOM:
            # Texts that wait for their next request hold cells; drafting is worth more.
            held = {part.slot.index for part in parts}
            for slot in self.slots:
                if slot.index not in held:
                    slot.clear(self._context)
            code = self._decode(parts)
        if code == 0:
            return True
        for part in parts:
            if code == ABORTED:
                part.slot.forget_beyond(part.slot.cached, self._context)
            else:
                part.slot.clear(self._context)
        if code != ABORTED:
            self._may_wait = False  # nobody waits again for what may come to nothing again
        self.steps.failed(code, "a draft")
        return False

    def _decode(self, parts: list[_Part]) -> int:
        batch, at, prompt_tok = self._batch, 0, 0
        for part in parts:
            slot, count = part.slot, part.take
            first, end = slot.cached, at + count
            batch.token[at:end] = slot.tokens[first : first + count]
            batch.pos[at:end] = self._positions[first : first + count]
            batch.seq[at:end] = slot.index
            batch.wants_logits[at:end] = 0
            batch.wants_logits[end - 1] = count == slot.pending
            prompt_tok += count if count > _IN_STEP_TOK else 0
            at = end
        code = self.steps.run(batch, at, [part.slot.cached for part in parts], prompt_tok)
        if code == 0:
            for part in parts:
                part.slot.cached += part.take
        return code
