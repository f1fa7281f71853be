"""Text is sent before its steps are booked: whatever comes between, each token is told once."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine_bridge.child.delivery import Delivery
from engine_bridge.child.lockstep import Lockstep
from engine_bridge.child.scheduler import Share
from engine_bridge.child.slot import Slot
from engine_bridge.child.stream import Prepared, Stream
from engine_bridge.protocol import ChatMessage, Generate, TokensDelivered

_STREAMS, _STEPS = 3, 400
_PIECES = [b"a", "é".encode()[:1], "é".encode()[1:], b"<x>", b"", b"\n"]


class _Steps:
    """Stands for everything that computes: random tokens, a nanosecond each step."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now_ns = 0
        self.events: list[TokensDelivered] = []
        self.drawn: list[list[int]] = [[] for _ in range(_STREAMS)]
        self.booked = 0
        numbers = SimpleNamespace(data=[0] * _STREAMS)
        self.batch = SimpleNamespace(token=numbers, pos=SimpleNamespace(data=[0] * _STREAMS))
        # What ``Lockstep`` asks of its delivery.
        self.context, self.pieces, self.pause_ns = self, _PIECES, 3

    def send_each(self, *what: Any) -> None:
        Delivery.send_each(self, *what)  # type: ignore[arg-type]

    def _emit(self, event: TokensDelivered) -> None:
        self.events.append(event)

    def fill(self, shares: object) -> None:
        """The batch is nobody's business here."""

    def shape(self, shares: object, rows: int) -> None:
        """Nor is what a step reads."""

    def enter(self, context: object, expected_s: float) -> int:
        return self.now_ns

    def leave(self) -> int:
        self.now_ns += 1
        return self.now_ns

    def decode(self, batch: object, count: int) -> int:
        return 0

    def logits(self) -> np.ndarray[Any, Any]:
        found = np.zeros((_STREAMS, len(_PIECES)), np.float32)
        for row, drawn in enumerate(self.drawn):
            drawn.append(self.random.randrange(len(_PIECES)))
            found[row, drawn[-1]] = 1
        return found

    def decoded_each(self, took_ns: list[int], shape: object, rows: int) -> None:
        self.booked += len(took_ns)

    def saw(self, prompt_tok: int, seconds: float) -> None:
        """The pace is of no interest."""


def _stream(number: int) -> Stream:
    command = Generate(number, "c", (ChatMessage("user", "hi"),))
    stream = Stream(Prepared(command, np.zeros(1, np.int32), 0, -1), Slot(number, 4096, 0), 0, 0)
    stream.is_plain = True
    stream.slot.known = 1
    return stream


@pytest.mark.parametrize("seed", range(20))
def test_that_each_token_is_told_once_and_in_order(seed: int) -> None:
    steps: Any = _Steps(seed)
    streams = [_stream(number) for number in range(_STREAMS)]
    shares = [Share(stream, 1) for stream in streams]
    chance = steps.random.random()
    while steps.now_ns < _STEPS:
        lockstep = Lockstep(shares, steps.random.randint(1, 9), steps, steps, frozenset())
        while not lockstep.is_over:
            assert lockstep.run(steps, 0.0, lambda: steps.random.random() < 0.3) == 0
            if lockstep.is_due and steps.random.random() < 0.9:
                lockstep.send()
            if steps.random.random() < chance:
                lockstep.book(steps, steps)
                if steps.random.random() < 0.3:
                    break  # as where a command comes
        lockstep.book(steps, steps)
    for number, stream in enumerate(streams):
        stream.finish = ("cancelled", "")
        last = stream.delivered(steps.now_ns)
        told = [event for event in steps.events if event.request_id == number]
        told += [] if last is None else [last]
        drawn = steps.drawn[number]
        text = b"".join(_PIECES[token] for token in drawn).decode(errors="replace")
        assert "".join(event.text for event in told) == text
        times = [ns for event in told for ns in event.step_ns]
        assert times == list(range(1, steps.now_ns + 1))
        assert sum(tok for event in told for tok in event.step_tok) == len(drawn) == stream.new_tok
        assert stream.slot.tokens[1 : stream.slot.known].tolist() == drawn
    assert steps.booked == steps.now_ns
