"""draft-mtp: layers trained for the model guess from what it thought of the words so far.

Drafts what llama.cpp's ``common_speculative_impl_draft_mtp`` (common/speculative.cpp) drafts. Such
a layer pairs a token with the thought of the token before it, and keeps a cache of its own: so it
computes every batch after the model (``saw``), and then guesses one token after the other, each
from its own thought of the last (``draft``). Where a model has several such layers, each makes one
token of a draft. Must not know requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.batch import Batch
from engine_bridge.child.context_shift import Shift, can_shift, turn_moved
from engine_bridge.child.llama import Context
from engine_bridge.child.nextn import choose_layer, guessing_layers, thought_width, thoughts
from engine_bridge.child.sequence_moves import move_chunk
from engine_bridge.child.speculation.confidence import confidence
from engine_bridge.child.speculation.draft_steps import DraftSteps
from engine_bridge.child.speculation.drafter import NOTHING, Forgetful, Wanted
from engine_bridge.settings.config import EngineConfig


@dataclass(frozen=True, slots=True)
class Seen:
    """A slot's part of a batch that the model computed.

    Attributes:
        seq: Number of the slot.
        first: Position of its first token.
        tokens: How many there are.
    """

    seq: int
    first: int
    tokens: int


class _Mind:
    """What the model thought in its last step over one slot.

    Attributes:
        first: Position of the first of ``rows``.
        rows: (tokens, width) float32.
        before: (width,) float32: the thought of the token before them; zeros where it is unknown.
    """

    __slots__ = ("before", "first", "rows")

    def __init__(self, width: int) -> None:
        self.first = 0
        self.rows = np.zeros((0, width), np.float32)
        self.before = np.zeros(width, np.float32)

    def holds(self, position: int) -> bool:
        """Whether the thought of the token at ``position`` is known."""
        return self.first <= position < self.first + len(self.rows)

    def at(self, position: int) -> NDArray[np.float32]:
        """The thought of the token at ``position``; zeros where it is unknown."""
        if self.holds(position):
            row: NDArray[np.float32] = self.rows[position - self.first]
            return row
        if position == self.first - 1:
            return self.before
        return np.zeros_like(self.before)

    def note(self, first: int, rows: NDArray[np.float32]) -> None:
        """Take the thoughts of the tokens from ``first`` on."""
        self.before = self.at(first - 1).copy()
        self.first, self.rows = first, rows.copy()

    def move(self, what: Shift) -> None:
        """Follow a text of which the middle was dropped: its last tokens moved up."""
        behind = what.kept_tok + what.dropped_tok
        dropped = max(0, behind - self.first)
        self.first += dropped - what.dropped_tok
        self.rows = self.rows[dropped:]
        if dropped:
            self.before = np.zeros_like(self.before)


@dataclass(slots=True)
class _Part:
    """One text on its way to a draft.

    Attributes:
        seq: Number of its slot.
        place: Position of its newest token, which the model has not computed yet.
        most_tok: Most tokens to draft.
        tokens: That token and the drafted ones.
        minds: A thought for each of them: of the token before it.
    """

    seq: int
    place: int
    most_tok: int
    tokens: list[int]
    minds: list[NDArray[np.float32]] = field(default_factory=list)


class DraftMtp(Forgetful):
    """The guessing layers of one context, in step with its slots.

    Attributes:
        steps: Runs their context.

    Args:
        context: The model's context; its ``mtp`` is the one used.
        config: What runs.
        steps: Runs that.
    """

    def __init__(self, context: Context, config: EngineConfig, steps: DraftSteps) -> None:
        """Have seen nothing yet."""
        assert context.mtp is not None
        self._target, self._context = context, context.mtp
        self.steps = steps
        self._width = thought_width(context)
        self._layers = guessing_layers(self._context)
        self._batch = self._context.new_batch(self._context.batch_tok, self._width)
        self._minds = [_Mind(self._width) for _ in range(self._context.sequences)]
        self.set_live(config)

    def set_live(self, config: EngineConfig) -> None:
        """Take what needs no new context."""
        self._n_max, self._n_min = config.draft_n_max, config.draft_n_min
        if self._layers > 1:
            self._n_max = min(self._n_max, self._layers)
        self._p_min = config.draft_p_min

    def saw(self, batch: Batch, parts: Sequence[Seen]) -> None:
        """Compute what the model has just computed.

        Args:
            batch: The model's batch.
            parts: What lies in it, in its order.
        """
        count = sum(part.tokens for part in parts)
        rows = thoughts(self._target, count)
        own = self._batch
        own.token[:count], own.pos[:count] = batch.token[:count], batch.pos[:count]
        own.seq[:count], own.wants_logits[:count] = batch.seq[:count], 0
        own.thought[1:count] = rows[: count - 1]
        at = prompt_tok = 0
        for part in parts:
            mind = self._minds[part.seq]
            own.thought[at] = mind.at(part.first - 1)
            mind.note(part.first, rows[at : at + part.tokens])
            prompt_tok += part.tokens if part.tokens > 1 + self._n_max else 0
            at += part.tokens
        for layer in range(self._layers):
            self._cut({part.seq: part.first for part in parts})
            if not self._computed(layer, count, [part.first for part in parts], prompt_tok):
                return

    def shifted(self, seq: int, what: Shift) -> None:
        """Follow the model: the middle of a text was dropped, and the cells behind it moved up.

        Rejected guesses that lie there still are moved along; the next step cuts them off. Where
        cells cannot be moved, ``_cut`` empties the cache.
        """
        self._minds[seq].move(what)
        context, behind = self._context, what.kept_tok + what.dropped_tok
        end = context.seq_pos_max(seq) + 1
        if end > behind and can_shift(context):
            move_chunk(context, seq, behind, end, what.kept_tok)
            turn_moved(context, seq, end - what.dropped_tok, 0, width=self._width)

    def drop(self, seq: int) -> None:
        """Hold nothing of a slot's text any more."""
        self._context.seq_rm(seq, -1, -1)
        self._minds[seq] = _Mind(self._width)

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """Guess what follows each text, all of them together."""
        parts = [self._part_of(one) for one in wanted]
        going = [part for part in parts if part is not None]
        made = 0
        while going and self._guessed(going, made):
            going = self._extended(going)
            made += 1
        return [
            np.array(part.tokens[1:], np.int32)
            if part is not None and len(part.tokens) - 1 >= max(1, self._n_min)
            else NOTHING
            for part in parts
        ]

    def _part_of(self, one: Wanted) -> _Part | None:
        """Take a text up; None where the model's last thought of it is not known."""
        place = len(one.history) - 1
        mind = self._minds[one.seq]
        if not mind.holds(place - 1):
            return None
        part = _Part(one.seq, place, min(one.most_tok, self._n_max), [int(one.history[-1])])
        part.minds.append(mind.at(place - 1))
        return part

    def _guessed(self, parts: list[_Part], made: int) -> bool:
        """Run the next token of every part; with several layers, all tokens through the next."""
        is_chain = self._layers > 1
        if is_chain or made == 0:
            self._cut({part.seq: part.place for part in parts})
        own, at = self._batch, 0
        for part in parts:
            behind = 0 if is_chain else made
            count = len(part.tokens) - behind
            end = at + count
            own.token[at:end] = part.tokens[behind:]
            own.pos[at:end] = range(part.place + behind, part.place + len(part.tokens))
            own.seq[at:end] = part.seq
            own.thought[at:end] = part.minds[behind:]
            own.wants_logits[at:end] = 0
            own.wants_logits[end - 1] = 1
            at = end
        depths = [part.place for part in parts]
        return self._computed(made if is_chain else 0, at, depths, 0)

    def _extended(self, parts: list[_Part]) -> list[_Part]:
        """Append the likeliest token to each draft; those that go on."""
        logits = self._context.logits()[: len(parts)]
        minds = thoughts(self._context, len(parts))
        best: list[int] = logits.argmax(axis=1).tolist()
        sure = confidence(logits) if self._p_min > 0 else None
        going = []
        for row, part in enumerate(parts):
            if sure is not None and sure[row] < self._p_min:
                continue
            part.tokens.append(best[row])
            part.minds.append(minds[row].copy())
            if len(part.tokens) - 1 < part.most_tok:
                going.append(part)
        return going

    def _cut(self, places: dict[int, int]) -> None:
        """Let the cache of each slot end before its place; it is emptied where it ends earlier.

        It does where the model's own cache was filled from elsewhere: guesses are then made from
        what is seen from here on.
        """
        context = self._context
        for seq, place in places.items():
            context.seq_rm(seq, place, -1)
            if context.seq_pos_max(seq) != place - 1:
                context.seq_rm(seq, -1, -1)

    def _computed(self, layer: int, count: int, depths: Sequence[int], prompt_tok: int) -> bool:
        """Run the batch through a layer; False where that came to nothing."""
        context = self._context
        if self._layers > 1:
            choose_layer(context, layer)
        code = self.steps.run(self._batch, count, depths, prompt_tok)
        if code:
            self.steps.failed(code, "a guess of the model's own")
        return code == 0
