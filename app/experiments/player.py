"""One run: who asks when, what is under way, and what became of it.

Knows conversations and events; ``play`` says what is done when a run is cut short.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.experiments.port import EnginePort, PortError, StoppedError
from app.experiments.run_meter import RunMeter
from app.experiments.run_record import RequestRecord, RunRecord
from app.experiments.script import Script
from app.experiments.talk import Talk
from engine_bridge.protocol import (
    Cancel,
    Event,
    FinishReason,
    Forget,
    Refused,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    TokensDelivered,
)

# How long one wait for an event lasts; nothing happens between two.
WAIT_S = 1.0
# The engine reports steps ten times a second and memory once; a short run waits for both.
_LAST_REPORTS_S = 1.5
# How long requests that were cancelled may take to end: as long as a step at most.
_CANCELLING_S = 5.0
# The beginning that templates and system prompts of a model have in common is shorter.
_FOREIGN_TOK = 64
_WELL_ENDED: tuple[FinishReason, ...] = ("end", "stop_text", "token_limit")
_CUT = "The run ended before it was answered."

Progressed = Callable[[int, int], None]
"""Is told how many requests have ended, and how many there are."""


def run_name() -> str:
    """A name for conversations that no other run has."""
    return f"experiment {uuid.uuid4().hex[:12]}"


@dataclass
class _Asked:
    """A request from its sending to its end; times are nanoseconds of the engine's clock."""

    talk: Talk
    turn: int
    sent_ns: int
    texts: list[str] = field(default_factory=list)
    step_ns: list[int] = field(default_factory=list)
    step_tok: list[int] = field(default_factory=list)
    reused_tok: int = 0
    reason: FinishReason = "failed"
    timing: RequestTiming | None = None
    detail: str = _CUT

    def record(self, begun_ns: int) -> RequestRecord:
        return RequestRecord(
            script=self.talk.script.name,
            turn=self.turn,
            user=self.talk.user,
            sent_s=(self.sent_ns - begun_ns) / 1e9,
            reason=self.reason,
            timing=self.timing,
            step_s=tuple((at_ns - begun_ns) / 1e9 for at_ns in self.step_ns),
            step_tok=tuple(self.step_tok),
            detail=self.detail,
        )


class Player:
    """One run; see ``play`` for what its arguments mean."""

    def __init__(
        self, port: EnginePort, scripts: Sequence[Script], users: int, progressed: Progressed | None
    ) -> None:
        """Begin the run; nothing is asked before ``run``."""
        self._port = port
        self._name = run_name()
        self._progressed = progressed or (lambda ended, total: None)
        self._total = sum(len(script.turns) for script in scripts)
        self._numbers = itertools.count()
        self._waiting = deque(script for script in scripts if script.start_s is None)
        self._due: list[tuple[int, int, Talk]] = []  # when, in which order, who
        self._under_way: dict[int, _Asked] = {}
        self._asked: list[_Asked] = []
        self._conversations: list[str] = []
        self._ended = 0
        self._first_started: _Asked | None = None
        self._begun_ns = self._ended_ns = port.now_ns
        self._meter = RunMeter(self._begun_ns)
        for user, script in enumerate(script for script in scripts if script.start_s is not None):
            self._plan(Talk(script, user, self._conversation()), round((script.start_s or 0) * 1e9))
        for user in range(users):
            self._take_script(user, self._begun_ns)

    # --- The run ------------------------------------------------------------------------

    def run(self) -> None:
        """Play until nothing is due or under way."""
        while self._due or self._under_way:
            now_ns = self._port.now_ns
            while self._due and self._due[0][0] <= now_ns:
                self._ask(heapq.heappop(self._due)[2])
            wait_s = WAIT_S
            if self._due:
                wait_s = max(0.0, min(wait_s, (self._due[0][0] - self._port.now_ns) / 1e9))
            event = self._port.next_event(wait_s)
            if event is not None:
                self._fold(event)
        self._wait_for_reports()

    def abandon(self) -> None:
        """Leave the engine idle, without what was computed for this run."""
        with contextlib.suppress(PortError):
            for number in self._under_way:
                self._port.send(Cancel(number))
            deadline_ns = self._port.now_ns + round(_CANCELLING_S * 1e9)
            self._due.clear()
            self._waiting.clear()
            while self._under_way and (left_ns := deadline_ns - self._port.now_ns) > 0:
                event = self._next_of_the_end(left_ns / 1e9)
                if event is not None:
                    self._fold(event)
                self._due.clear()
        with contextlib.suppress(PortError):
            self.forget()

    def forget(self) -> None:
        """Have the engine drop what it computed for this run."""
        for name in self._conversations:
            self._port.send(Forget(name))

    def record(self, disturbances: tuple[str, ...]) -> RunRecord:
        """What happened so far."""
        first_ns = self._asked[0].sent_ns if self._asked else self._begun_ns
        return RunRecord(
            requests=tuple(asked.record(self._begun_ns) for asked in self._asked),
            duration_s=max(0.0, (self._ended_ns - first_ns) / 1e9),
            work=self._meter.work,
            longest_step_s=self._meter.longest_step_s,
            owned_bytes=self._meter.owned_bytes,
            device_bytes=dict(self._meter.device_bytes),
            peak_bytes_per_s=self._port.peak_bytes_per_s,
            disturbances=disturbances,
        )

    def foreign_caches(self) -> tuple[str, ...]:
        """A sentence where the first prompt was in part computed before the run."""
        first = self._first_started
        if first is None or first.reused_tok < _FOREIGN_TOK:
            return ()
        return (
            f"The engine held the first {first.reused_tok:,} tokens of the first prompt from "
            "before the run, so that they were not computed.",
        )

    # --- Inside -------------------------------------------------------------------------

    def _conversation(self) -> str:
        self._conversations.append(f"{self._name} {len(self._conversations) + 1}")
        return self._conversations[-1]

    def _take_script(self, user: int, free_ns: int) -> None:
        """A user who is free since ``free_ns`` takes the next script, if there is one."""
        if self._waiting:
            talk = Talk(self._waiting.popleft(), user, self._conversation())
            self._plan(talk, free_ns - self._begun_ns + round(talk.next_turn.think_s * 1e9))

    def _plan(self, talk: Talk, after_ns: int) -> None:
        heapq.heappush(self._due, (self._begun_ns + after_ns, next(self._numbers), talk))

    def _ask(self, talk: Talk) -> None:
        number, sent_ns = self._port.next_id(), self._port.now_ns
        asked = _Asked(talk, talk.turn, sent_ns)
        self._port.send(talk.question(number, sent_ns))
        self._under_way[number] = asked
        self._asked.append(asked)

    def _fold(self, event: Event) -> None:
        self._meter.fold(event)
        number = getattr(event, "request_id", None)
        asked = None if number is None else self._under_way.get(number)
        if asked is None or number is None:
            return
        match event:
            case RequestStarted():
                asked.reused_tok = event.reused_tok
                self._first_started = self._first_started or asked
            case TokensDelivered():
                asked.texts.append(event.text)
                asked.step_ns += event.step_ns
                asked.step_tok += event.step_tok
            case RequestFinished():
                asked.timing = event.timing
                self._end(number, event.reason, event.detail)
            case Refused(command="generate"):
                reason: FinishReason = "cancelled" if event.is_cancelled else "failed"
                self._end(number, reason, event.problem.message)
            case _:
                pass

    def _end(self, number: int, reason: FinishReason, detail: str) -> None:
        asked = self._under_way.pop(number)
        talk = asked.talk
        end_ns = asked.step_ns[-1] if asked.step_ns else self._port.now_ns
        self._ended_ns = max(self._ended_ns, end_ns)
        asked.reason, asked.detail = reason, ""
        self._ended += 1
        if reason in _WELL_ENDED:
            talk.answered("".join(asked.texts))
            asked.texts.clear()
        else:
            asked.detail = _with_left(detail or _sentence(reason), talk.left)
            self._total -= talk.left
        self._progressed(self._ended, self._total)
        if reason in _WELL_ENDED and not talk.is_over:
            self._plan(talk, end_ns - self._begun_ns + round(talk.next_turn.think_s * 1e9))
        elif talk.script.start_s is None:
            self._take_script(talk.user, end_ns)

    def _wait_for_reports(self) -> None:
        """The last steps are reported a moment after the last answer has ended."""
        last_ns = max((asked.step_ns[-1] for asked in self._asked if asked.step_ns), default=0)
        deadline_ns = self._port.now_ns + round(_LAST_REPORTS_S * 1e9)
        while not self._meter.is_complete(last_ns):
            left_ns = deadline_ns - self._port.now_ns
            if left_ns <= 0:
                return
            event = self._port.next_event(left_ns / 1e9)
            if event is not None:
                self._meter.fold(event)

    def _next_of_the_end(self, wait_s: float) -> Event | None:
        """The next event while the run is given up: that the user wants it is known by now."""
        try:
            return self._port.next_event(wait_s)
        except StoppedError:
            return None


def _with_left(sentence: str, left: int) -> str:
    if not left:
        return sentence
    turns = "the turn" if left == 1 else f"the {left:,} turns"
    return f"{sentence} So {turns} after it could not be asked."


def _sentence(reason: FinishReason) -> str:
    """What is said of an answer that was cut short without a word from the engine."""
    if reason == "context_full":
        return "The slot was full before the answer was complete."
    if reason == "pool_full":
        return "The pool was full before the answer was complete."
    return "The request was cancelled." if reason == "cancelled" else "The answer failed."
