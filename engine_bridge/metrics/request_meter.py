"""TTFT of every request, split into what it is made of, and goodput.

Knows when a request was sent, got its slot, delivered and was painted; no text, no tokens.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

import numpy as np

from engine_bridge.metrics.definitions import goodput_req_s, pipe_s
from engine_bridge.metrics.ghost import NO_GHOST, Ghost
from engine_bridge.metrics.ring import Floats
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.protocol import RequestTiming

# Requests remembered: an hour of two a second, about 3 MB.
_KEPT = 7200
# First tokens of requests come in nearly the order in which their steps ended.
_DISORDER_S = 5.0


@dataclass(slots=True)
class RequestRecord:
    """One request; every time in seconds of one clock, None until it is known.

    Attributes:
        request_id: The request.
        sent_s: When the user sent it.
        started_s: When it got a slot.
        first_token_s: When the step with its first token ended.
        arrived_s: When its first text had come to the window.
        painted_s: When that was on the screen.
        ended_s: When it ended.
        prompt_tok: Tokens of its prompt.
        reused_tok: Of them not computed.
        timing: The engine's own figures, once it has ended.
    """

    request_id: int
    sent_s: float | None = None
    started_s: float | None = None
    first_token_s: float | None = None
    arrived_s: float | None = None
    painted_s: float | None = None
    ended_s: float | None = None
    prompt_tok: int = 0
    reused_tok: int = 0
    timing: RequestTiming | None = None

    @property
    def queue_s(self) -> float | None:
        """From sending to having a slot."""
        if self.timing is not None:
            return self.timing.queue_s
        return _between(self.sent_s, self.started_s)

    @property
    def prefill_s(self) -> float | None:
        """From having a slot to the first token."""
        if self.timing is not None:
            return self.timing.prefill_s
        return _between(self.started_s, self.first_token_s)

    @property
    def ttft_s(self) -> float | None:
        """From sending to the first token; None before it, or where the sending was not seen."""
        if self.timing is not None:
            return self.timing.ttft_s
        return _between(self.sent_s, self.first_token_s)

    @property
    def pipe_s(self) -> float | None:
        """Both ways between the processes, as ``TurnDetails`` has it; None before a paint."""
        waited_s = _between(self.sent_s, self.arrived_s)
        if waited_s is None or self.queue_s is None or self.prefill_s is None:
            return None
        return pipe_s(waited_s, self.queue_s, self.prefill_s)

    @property
    def paint_s(self) -> float | None:
        """From the arrival of its first text to the screen; None before a paint."""
        return _between(self.arrived_s, self.painted_s)


@dataclass(frozen=True)
class TtftView:
    """What the TTFT chart draws.

    Attributes:
        times_s: (n,) when each first token came, seconds before the right edge, ascending.
        ttft_s: (n,) TTFT of each request.
        records: (n,) the requests.
        last: The newest request with a TTFT, in the stretch or not.
        limit_s: Longest good TTFT, where one was set.
        goodput_req_s: Requests per second that kept the limits, where limits were set.
        ghost: What TTFT would be with what the faders stand at.
    """

    times_s: Floats = field(default_factory=lambda: np.zeros(0))
    ttft_s: Floats = field(default_factory=lambda: np.zeros(0))
    records: tuple[RequestRecord, ...] = ()
    last: RequestRecord | None = None
    limit_s: float | None = None
    goodput_req_s: float | None = None
    ghost: Ghost = NO_GHOST


class RequestMeter:
    """The requests of the last minutes.

    Attributes:
        ttft_limit_s: Longest good TTFT; None where the user has set no limit.
        tpot_limit_s: Longest good TPOT; None where the user has set no limit.
        ttft_ghost: What TTFT would be with what the faders stand at.
        tpot_ghost: What TPOT would be.
    """

    def __init__(self) -> None:
        """Start without requests and without limits."""
        self.ttft_limit_s: float | None = None
        self.tpot_limit_s: float | None = None
        self.ttft_ghost = self.tpot_ghost = NO_GHOST
        self._records: OrderedDict[int, RequestRecord] = OrderedDict()
        # In the order of their events, so that a window is found from the newest end.
        self._started: deque[RequestRecord] = deque(maxlen=_KEPT)
        self._ended: deque[RequestRecord] = deque(maxlen=_KEPT)
        self._first_s: float | None = None

    def record(self, request_id: int) -> RequestRecord:
        """The record of a request, made where there is none; the oldest is forgotten then."""
        if request_id not in self._records:
            self._records[request_id] = RequestRecord(request_id)
            if len(self._records) > _KEPT:
                self._records.popitem(last=False)
        return self._records[request_id]

    def note_sent(self, request_id: int, at_s: float) -> None:
        """The user sent a request."""
        self.record(request_id).sent_s = at_s
        self._first_s = at_s if self._first_s is None else self._first_s

    def note_start(self, request_id: int, at_s: float, prompt_tok: int, reused_tok: int) -> None:
        """A request got its slot."""
        record = self.record(request_id)
        record.started_s = at_s
        record.prompt_tok, record.reused_tok = prompt_tok, reused_tok
        begin_s = record.sent_s or at_s
        self._first_s = begin_s if self._first_s is None else self._first_s

    def note_first_token(self, request_id: int, at_s: float) -> None:
        """A step delivered tokens of a request; only its first one counts."""
        record = self.record(request_id)
        if record.first_token_s is None:
            record.first_token_s = at_s
            self._started.append(record)

    def note_end(self, request_id: int, timing: RequestTiming, at_s: float) -> None:
        """A request ended."""
        record = self.record(request_id)
        record.timing, record.ended_s = timing, at_s
        self._ended.append(record)

    def forget_unfinished(self) -> None:
        """The engine is gone: what had not ended never will, and its numbers may come again."""
        ended = [record for record in self._records.values() if record.ended_s is not None]
        # A new engine process may count from the same numbers again.
        self._records = OrderedDict((-1 - place, record) for place, record in enumerate(ended))

    def view(self, stretch: Stretch) -> TtftView:
        """The dots of a stretch of time."""
        shown = []
        for record in reversed(self._started):
            at_s, ttft = record.first_token_s, record.ttft_s
            assert at_s is not None  # it is what brought the record into this queue
            if at_s < stretch.since_s - _DISORDER_S:
                break
            if ttft is not None and stretch.holds(at_s):
                shown.append((at_s - stretch.until_s, ttft, record))
        shown.sort(key=lambda dot: dot[0])
        return TtftView(
            times_s=np.array([dot[0] for dot in shown], dtype=np.float64),
            ttft_s=np.array([dot[1] for dot in shown], dtype=np.float64),
            records=tuple(dot[2] for dot in shown),
            last=next((r for r in reversed(self._started) if r.ttft_s is not None), None),
            limit_s=self.ttft_limit_s,
            goodput_req_s=self._goodput_req_s(stretch),
            ghost=self.ttft_ghost,
        )

    @property
    def first_s(self) -> float | None:
        """When the first request of all was sent, or began; None before it."""
        return self._first_s

    def ended(self, since_s: float, until_s: float) -> list[tuple[float | None, float | None]]:
        """TTFT and TPOT, as the engine told them, of the requests that ended between two times."""
        figures = []
        for record in reversed(self._ended):
            assert record.ended_s is not None
            assert record.timing is not None
            if record.ended_s < since_s:
                break
            if record.ended_s <= until_s:
                figures.append((record.timing.ttft_s, record.timing.tpot_s))
        return figures

    def _goodput_req_s(self, stretch: Stretch) -> float | None:
        if self.ttft_limit_s is None or self.tpot_limit_s is None or self._first_s is None:
            return None
        since_s = max(stretch.since_s, self._first_s)  # the desk may not have run for so long
        figures = self.ended(since_s, stretch.until_s)
        length_s = stretch.until_s - since_s
        return goodput_req_s(figures, length_s, self.ttft_limit_s, self.tpot_limit_s)


def _between(begin_s: float | None, end_s: float | None) -> float | None:
    if begin_s is None or end_s is None or end_s < begin_s:
        return None
    return end_s - begin_s


def request_lines(record: RequestRecord) -> list[str]:
    """What a request's TTFT was made of, a line each."""
    parts = [
        f"{name} {seconds:.3f} s"
        for name, seconds in (
            ("TTFT", record.ttft_s),
            ("queue", record.queue_s),
            ("prefill", record.prefill_s),
            ("pipe", record.pipe_s),
            ("paint", record.paint_s),
        )
        if seconds is not None
    ]
    if record.prompt_tok:
        parts.append(f"prompt {record.prompt_tok:,} tokens, {record.reused_tok:,} reused")
    return parts
