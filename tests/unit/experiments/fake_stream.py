"""A request of a made-up engine from its arrival to its end; times are ns of its clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np

from engine_bridge.metrics.definitions import itl_s, percentile
from engine_bridge.protocol import FinishReason, Generate, RequestTiming, TokensDelivered
from tests.unit.experiments.fake_engine import FakeEngine

_FLUSH_NS = 16_000_000


@dataclass(eq=False)
class FakeStream:
    """One request; ``slot`` is -1 while it waits."""

    command: Generate
    text: str
    prompt_tok: int
    received_ns: int
    limit_tok: int
    slot: int = -1
    started_ns: int = 0
    reused_tok: int = 0
    read_tok: int = 0
    new_tok: int = 0
    steps: int = 0
    unsent: list[tuple[int, int]] = field(default_factory=list)
    step_ns: list[int] = field(default_factory=list)
    sent_ns: int = 0
    answer: str = ""
    unsent_text: str = ""

    @property
    def is_generating(self) -> bool:
        return self.new_tok > 0

    @property
    def held_tok(self) -> int:
        return self.read_tok + self.new_tok

    def common(self, text: str) -> int:
        """Characters at the beginning that its prompt has in common with ``text``."""
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self.text, text, strict=False))
        return sum(1 for _ in same)

    def deliver(self, engine: FakeEngine, tokens: int, at_ns: int) -> int:
        """Take what a step brought; how much of it there was room for."""
        if self.is_generating:
            self.steps += 1
        tokens = min(tokens, self.limit_tok - self.new_tok)
        for _ in range(tokens):
            piece = f"{self.new_tok % 1000:d} ".rjust(engine.chars_per_tok, "w")
            self.new_tok += 1
            self.answer += piece
            self.unsent_text += piece
        if tokens > 0:
            self.unsent.append((at_ns, tokens))
            self.step_ns.append(at_ns)
        return tokens

    def end(self, engine: FakeEngine, cap_tok: int) -> tuple[FinishReason, str] | None:
        """Why it is over, and the sentence; None while it is not."""
        ends = None if self.command.ignore_eog else engine.ends_after_tok
        if ends is not None and self.new_tok >= ends:
            return "end", ""
        if self.new_tok >= self.limit_tok:
            return "token_limit", ""
        return ("context_full", "The slot is full.") if self.held_tok >= cap_tok else None

    def is_due(self, at_ns: int) -> bool:
        """Whether text should be sent: the first token at once, others together."""
        return self.sent_ns == 0 or at_ns - self.sent_ns >= _FLUSH_NS

    def delivered(self, now_ns: int) -> TokensDelivered | None:
        """What was not sent yet."""
        if not self.unsent:
            return None
        times, tokens = zip(*self.unsent, strict=True)
        event = TokensDelivered(
            self.command.request_id, self.unsent_text, tuple(times), tuple(tokens), now_ns
        )
        self.unsent, self.unsent_text, self.sent_ns = [], "", now_ns
        return event

    def timing(self, engine: FakeEngine, now_ns: int) -> RequestTiming:
        """Its figures so far."""
        queue_s = (self.started_ns - self.received_ns) / 1e9
        gaps = itl_s((np.asarray(self.step_ns, np.int64) - self.started_ns) / 1e9)
        first_ns = self.step_ns[0] if self.step_ns else None
        prefill_s = ((first_ns or now_ns) - self.started_ns) / 1e9
        followed = self.new_tok - 1
        accepted_at = (self.steps,) * engine.accepted + (0,) * (engine.drafted - engine.accepted)
        return RequestTiming(
            queue_s=queue_s,
            prefill_s=prefill_s,
            ttft_s=None if first_ns is None else queue_s + prefill_s,
            tpot_s=float(gaps.sum()) / followed if followed > 0 else None,
            itl_p50_s=percentile(gaps, 50),
            itl_p99_s=percentile(gaps, 99),
            prompt_tok=self.prompt_tok,
            reused_tok=self.reused_tok,
            new_tok=self.new_tok,
            drafted_tok=self.steps * engine.drafted,
            accepted_tok=self.steps * engine.accepted,
            drafted_at=(self.steps,) * engine.drafted,
            accepted_at=accepted_at,
        )
