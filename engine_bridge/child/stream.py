"""A request that holds a slot: its text, its drafts, its times.

Knows what ends an answer; must not know batches or the pipe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.bias import Bias
from engine_bridge.child.sampler_chain import SamplerChain
from engine_bridge.child.slot import Slot
from engine_bridge.child.text import TextAssembler
from engine_bridge.metrics.definitions import itl_s, percentile
from engine_bridge.protocol import FinishReason, Generate, RequestTiming, TokensDelivered
from engine_bridge.thoughts import ThoughtCounter

# Without a limit of the answer.
_NO_LIMIT_TOK = 1 << 40


class Prepared:
    """A request whose prompt is tokenised.

    Attributes:
        command: The request.
        prompt: (tokens,) int32.
        received_ns: When it arrived.
        max_new_tok: Most tokens of the answer, -1 without a limit.
        starts_in_thought: The prompt ends inside a thought.
        message_starts: Tokens in front of each message of the user, as far as they are known.
    """

    def __init__(
        self,
        command: Generate,
        prompt: NDArray[np.int32],
        received_ns: int,
        max_new_tok: int,
        *,
        starts_in_thought: bool = False,
        message_starts: tuple[int, ...] = (),
    ) -> None:
        """Keep the parts."""
        self.starts_in_thought = starts_in_thought
        self.message_starts = message_starts
        self.command = command
        self.prompt = prompt
        self.received_ns = received_ns
        self.max_new_tok = max_new_tok


class Stream:
    """A request in a slot.

    Attributes:
        request_id: The request.
        slot: Its slot.
        prompt_tok: Tokens of the prompt.
        reused_tok: Of them not computed.
        new_tok: Tokens generated.
        chain: Its samplers; None takes the likeliest token.
        bias: What is added to its scores where it takes the likeliest token, or None.
        finish: Why it ended and the detail, None while it runs.
        draft_tok: Drafted tokens in the step under way.
        again_tok: Tokens of its answer that the next step computes again, since a state was put
            back that lies before them.
        dropped_tok: Earlier tokens that its slot had to forget for it to go on.
        recompute_reason: Why tokens of its prompt are computed again, or empty.
        due_ns: When text should be sent next.
        is_plain: Whether more text can neither end the answer nor belong to a thought.
    """

    def __init__(self, prepared: Prepared, slot: Slot, reused_tok: int, started_ns: int) -> None:
        """Begin with the prompt in ``slot``."""
        self.prepared = prepared
        self.request_id = prepared.command.request_id
        self.slot = slot
        self.prompt_tok = len(prepared.prompt)
        self.reused_tok = reused_tok
        self.new_tok = 0
        self.chain: SamplerChain | None = None
        self.bias: Bias | None = None
        self.finish: tuple[FinishReason, str] | None = None
        self.draft_tok = self.again_tok = self.dropped_tok = 0
        self.recompute_reason = ""
        self.due_ns = 0
        limit_tok = prepared.max_new_tok
        self._limit_tok = limit_tok if limit_tok >= 0 else _NO_LIMIT_TOK
        self._text = TextAssembler(prepared.command.stop)
        self._thought = ThoughtCounter(starts_inside=prepared.starts_in_thought)
        self.is_plain = False
        self._started_ns = started_ns
        self._step_ns: list[int] = []
        self._resumed_at: set[int] = set()  # places of the first steps after a pause
        self._sent_steps = 0
        self._step_tok: list[int] = []
        self._drafted_at: list[int] = []
        self._accepted_at: list[int] = []

    @property
    def remaining_tok(self) -> int:
        """Tokens left until the limit; a huge number without one."""
        return self._limit_tok - self.new_tok

    @property
    def first_ns(self) -> int:
        """When its first token came; there must be one."""
        return self._step_ns[0]

    @property
    def is_generating(self) -> bool:
        """Whether its next step brings the next token; else it still reads its text."""
        slot = self.slot
        return 0 < slot.known - slot.cached <= 1 + self.again_tok and self.new_tok > 0

    def accept_one(self, piece: bytes | None, at_ns: int) -> None:
        """Take the one token that a step brought.

        Args:
            piece: Its bytes, None for an end-of-generation token.
            at_ns: When the step ended.
        """
        self._step_ns.append(at_ns)
        self._step_tok.append(1)
        if piece is None or not self.is_plain:
            self._take(piece)
            return
        self.new_tok += 1  # what is left of ``_take``, a thousand times a second
        self._text.push(piece)
        if self.new_tok >= self._limit_tok:
            self.finish = ("token_limit", "")

    def accept_each(self, text: bytes, at_ns: Sequence[int]) -> None:
        """Take tokens that as many steps brought, of which none can end the answer.

        Args:
            text: Their bytes, as far as ``send_each`` did not have them; the stream is plain.
            at_ns: When each step ended.
        """
        self._step_ns += at_ns
        self._step_tok += [1] * len(at_ns)
        self.new_tok += len(at_ns)
        self._text.push(text)

    def send_each(
        self, text: bytes, at_ns: tuple[int, ...], step_tok: tuple[int, ...], due_ns: int
    ) -> TokensDelivered:
        """The event with tokens that will be taken with ``accept_each`` later.

        Args:
            text: Their bytes; the stream is plain.
            at_ns: When each step ended, at least one.
            step_tok: One for each.
            due_ns: When the next text should be sent.
        """
        self._text.push(text)
        before = len(self._step_ns) - self._sent_steps
        if before > 0:  # steps that were booked before these and not sent
            at_ns = (*self._step_ns[-before:], *at_ns)
            step_tok = (*self._step_tok[-before:], *step_tok)
        self._sent_steps += len(at_ns)
        self.due_ns = due_ns
        return TokensDelivered(
            request_id=self.request_id,
            text=self._text.take(),
            step_ns=at_ns,
            step_tok=step_tok,
            sent_ns=at_ns[-1],
            think_tok=self._thought.tok,
        )

    def accept(
        self, tokens: Sequence[int], pieces: Callable[[int], bytes | None], at_ns: int
    ) -> int:
        """Take the tokens a step brought, until one of them ends the answer.

        Args:
            tokens: At least one; the last one is not in the cache yet.
            pieces: Bytes of a token, None for an end-of-generation token.
            at_ns: When the step ended.

        Returns:
            How many were taken.
        """
        taken = 0
        for token in tokens:
            taken += 1
            self._take(pieces(token))
            if self.finish is not None:
                break
        self._step_ns.append(at_ns)
        self._step_tok.append(taken)
        return taken

    def _take(self, piece: bytes | None) -> None:
        self.new_tok += 1
        if piece is None:
            dead_end = "" if self.chain is None else self.chain.dead_end
            self.finish = ("failed", dead_end) if dead_end else ("end", "")
            return
        self._thought.take(piece)
        if self._text.push(piece):
            self.finish = ("stop_text", self._text.stopped_by)
        elif self.remaining_tok <= 0:
            self.finish = ("token_limit", "")
        self.is_plain = self._thought.is_over and not self._text.has_stops

    def count_draft(self, drafted: int, accepted: int) -> None:
        """Count a verified draft by position."""
        if drafted > len(self._drafted_at):
            more = [0] * (drafted - len(self._drafted_at))
            self._drafted_at += more
            self._accepted_at += more
        for position in range(drafted):
            self._drafted_at[position] += 1
        for position in range(accepted):
            self._accepted_at[position] += 1

    def pause(self) -> None:
        """The engine is changed below it: the time until its next step is no gap of its own."""
        self._resumed_at.add(len(self._step_ns))

    def delivered(self, now_ns: int, pause_ns: int = 0) -> TokensDelivered | None:
        """The event with what was not sent yet; None if there is nothing.

        Args:
            now_ns: Now.
            pause_ns: How long the next one should wait.
        """
        if self._sent_steps == len(self._step_ns) and self.finish is None:
            return None
        text = self._text.take() if self.finish is None else self._text.take() + self._text.finish()
        steps = slice(self._sent_steps, None)
        event = TokensDelivered(
            request_id=self.request_id,
            text=text,
            step_ns=tuple(self._step_ns[steps]),
            step_tok=tuple(self._step_tok[steps]),
            sent_ns=now_ns,
            think_tok=self._thought.tok,
        )
        self._sent_steps, self.due_ns = len(self._step_ns), now_ns + pause_ns
        return event if event.text or event.step_ns else None

    def timing(self, now_ns: int) -> RequestTiming:
        """The figures so far."""
        steps = (np.asarray(self._step_ns, np.int64) - self._started_ns) / 1e9
        queue_s = (self._started_ns - self.prepared.received_ns) / 1e9
        first_s = float(steps[0]) if steps.size else None
        prefill_s = first_s if first_s is not None else (now_ns - self._started_ns) / 1e9
        is_gap = np.ones(max(0, steps.size - 1), dtype=bool)
        is_gap[[place - 1 for place in self._resumed_at if 0 < place < steps.size]] = False
        gaps = itl_s(steps)[is_gap]
        # Of one text without pauses: (last − first) / (n − 1).
        followed_tok = int(np.asarray(self._step_tok[1:], np.int64)[is_gap].sum())
        followed_tok += self._step_tok[0] - 1 if self._step_tok else 0
        return RequestTiming(
            queue_s=queue_s,
            prefill_s=prefill_s,
            ttft_s=queue_s + prefill_s if first_s is not None else None,
            tpot_s=float(gaps.sum()) / followed_tok if followed_tok > 0 else None,
            itl_p50_s=percentile(gaps, 50),
            itl_p99_s=percentile(gaps, 99),
            prompt_tok=self.prompt_tok,
            reused_tok=self.reused_tok,
            new_tok=self.new_tok,
            drafted_tok=sum(self._drafted_at),
            accepted_tok=sum(self._accepted_at),
            drafted_at=tuple(self._drafted_at),
            accepted_at=tuple(self._accepted_at),
            think_tok=self._thought.tok,
            dropped_tok=self.dropped_tok,
        )

    def close(self) -> None:
        """Free the samplers."""
        if self.chain is not None:
            self.chain.close()
            self.chain = None
