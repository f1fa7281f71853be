"""What must be true of every request, whatever else happened: its tokens, its text, its events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.batcher import Batcher
from engine_bridge.child.llama import Context, Model
from engine_bridge.child.pieces import Pieces
from engine_bridge.child.stream import Stream
from engine_bridge.child.text import TextAssembler
from engine_bridge.protocol import (
    ContextShifted,
    Event,
    Generate,
    Refused,
    RequestFinished,
    RequestStarted,
    TokensDelivered,
)
from engine_bridge.thoughts import ThoughtCounter
from tests.engine.harness import tiny_config

# Scores of the tiny models lie whole units apart; sums in another order differ by less than this.
_SAME_SCORE = 0.05
_MOST_TOK = 2048


class Reference:
    """A model that computes one text at a time, with nothing of the engine around it."""

    def __init__(self, path: Path) -> None:
        config = tiny_config(path, ctx_per_slot_tok=_MOST_TOK, swa_full=True)
        self.model = Model.load(str(path), config)
        self.pieces = Pieces(self.model)
        self._context = Context.create(self.model, config)
        self._batch = self._context.new_batch(self._context.batch_tok)

    def close(self) -> None:
        self._context.close()
        self.model.close()

    def scores(self, text: Sequence[int], answer_tok: int) -> NDArray[np.float32]:
        """Scores in front of each of the last tokens of a text, (answer_tok, vocab)."""
        self._context.clear()
        first = len(text) - answer_tok
        rows = [self._row(text[:first], 0)]
        rows += [self._row(text[place : place + 1], place) for place in range(first, len(text) - 1)]
        return np.stack(rows)

    def _row(self, tokens: Sequence[int], place: int) -> NDArray[np.float32]:
        step = self._context.batch_tok
        for begin in range(0, len(tokens), step):
            part = tokens[begin : begin + step]
            count = len(part)
            self._batch.token[:count] = part
            self._batch.pos[:count] = range(place + begin, place + begin + count)
            self._batch.seq[:count] = 0
            self._batch.wants_logits[:count] = 0
            self._batch.wants_logits[count - 1] = 1
            assert self._context.decode(self._batch, count) == 0
        row: NDArray[np.float32] = self._context.logits()[0].copy()
        return row


@dataclass
class Followed:
    """A request and what was heard of it.

    Attributes:
        command: The request.
        stream: What ran it, once it had a slot.
        is_plain: Whether nothing happened that may change its numbers.
        tokens: Its text at the end, answer included; none where a part of it was dropped.
        path: The model that ran it.
    """

    command: Generate
    stream: Stream | None = None
    is_plain: bool = True
    delivered: list[TokensDelivered] = field(default_factory=list)
    finished: RequestFinished | None = None
    refused: Refused | None = None
    tokens: list[int] = field(default_factory=list)
    path: Path | None = None

    @property
    def is_over(self) -> bool:
        return self.finished is not None or self.refused is not None

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.delivered)

    def hear(self, event: Event) -> None:
        """Take an event of this request; nothing may follow its last one."""
        assert not self.is_over, f"behind the last event: {event}"
        if isinstance(event, TokensDelivered):
            assert self.stream is not None
            self.delivered.append(event)
        elif isinstance(event, Refused):
            assert self.stream is None, "refused after it had started"
            self.refused = event
        elif isinstance(event, ContextShifted):
            self.is_plain = False
        elif isinstance(event, RequestFinished):
            self._finish(event)
        elif isinstance(event, RequestStarted):
            # Chunks that were moved are read as they were computed elsewhere.
            self.is_plain &= "were moved" not in event.recompute_reason

    def _finish(self, event: RequestFinished) -> None:
        assert self.stream is not None
        self.finished = event
        if not event.timing.dropped_tok:
            end = event.timing.prompt_tok + event.timing.new_tok
            self.tokens = self.stream.slot.tokens[:end].tolist()

    def check(self, reference: Reference, *, is_greedy: bool) -> None:
        """Whether what came is exactly what was computed, and that the likeliest."""
        if self.finished is None:
            assert self.refused is not None
            return
        timing, reason = self.finished.timing, self.finished.reason
        assert sum(tok for event in self.delivered for tok in event.step_tok) == timing.new_tok
        times = [ns for event in self.delivered for ns in event.step_ns]
        assert times == sorted(times)
        assert 0 <= timing.reused_tok < timing.prompt_tok
        limit = self.command.max_new_tok
        assert limit is None or limit < 0 or timing.new_tok <= limit
        assert reason != "token_limit" or limit in (None, timing.new_tok)
        if not self.tokens:
            return
        answer = self.tokens[timing.prompt_tok :]
        if self.command.prompt_tokens:
            assert self.tokens[: timing.prompt_tok] == list(self.command.prompt_tokens)
        self._check_text(answer, reference.pieces)
        if is_greedy and self.is_plain and answer and self.command.max_new_tok != 0:
            self._check_scores(answer, reference)

    def _check_text(self, answer: list[int], pieces: Pieces) -> None:
        assert self.stream is not None
        assert self.finished is not None
        text = TextAssembler(self.command.stop)
        thought = ThoughtCounter(starts_inside=self.stream.prepared.starts_in_thought)
        is_stopped = False
        for number, token in enumerate(answer):
            piece = pieces[token]
            if piece is None:
                assert number == len(answer) - 1, "went on behind the end"
                assert self.finished.reason in ("end", "cancelled", "failed")
                break
            thought.take(piece)
            assert not is_stopped, "went on behind a stop text"
            is_stopped = text.push(piece)
        assert is_stopped == (self.finished.reason == "stop_text") or self.finished.reason in (
            "cancelled",
            "failed",
        )
        assert self.text == text.take() + text.finish()
        assert self.finished.timing.think_tok == thought.tok

    def _check_scores(self, answer: list[int], reference: Reference) -> None:
        scores = reference.scores(self.tokens, len(answer))
        if self.command.ignore_eog:
            scores[:, list(reference.model.eog)] = -np.inf
        chosen = scores[np.arange(len(answer)), answer]
        missed = scores.max(axis=1) - chosen
        worst = int(missed.argmax())
        assert missed[worst] < _SAME_SCORE, (
            f"token {worst} of {len(answer)} is {missed[worst]:.3f} below the likeliest"
        )


def check_books(batcher: Batcher) -> None:
    """Every slot holds in the cache what its books say, and so does the draft model's."""
    context = batcher.context
    for slot in batcher.slots:
        assert context.seq_pos_max(slot.index) == slot.cached - 1, (slot.index, slot.cached)
        assert slot.cached <= slot.known <= len(slot.tokens)
        assert all(point.tokens <= slot.cached for point in slot.checkpoints)
        for other, tokens in slot.shared.items():
            assert other in batcher.slots
            assert other.shared[slot] == tokens
    held = {stream.slot.index for stream in batcher.streams}
    assert held == {slot.index for slot in batcher.slots if not slot.is_free}
    assert len(held) == len(batcher.streams)
    simple = batcher._drafting._draft_simple
    if simple is not None:
        for slot in simple.slots:
            assert simple._context.seq_pos_max(slot.index) == slot.cached - 1
