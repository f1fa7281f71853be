"""A port to an engine that is made up: deterministic, on a clock of its own, as fast as Python.

``FakeEngine`` says how it behaves; a callable may make that depend on the configuration. Nothing
here waits: ``next_event`` moves the clock. Prompts are read in chunks beside the answers that are
written, requests beyond the slots queue, and text that a slot (or the host's cache, where
``cache_ram_mib`` is not 0) holds already need not be read again, whoever says it, until its
conversation is forgotten.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from math import ceil, exp

import msgspec
import numpy as np

from app.experiments.port import ConfigRefusedError, EngineGoneError, StoppedError
from engine_bridge.metrics.definitions import percentile
from engine_bridge.protocol import (
    PROTOCOL_VERSION,
    Applied,
    Cancel,
    Command,
    DeviceFacts,
    Event,
    FinishReason,
    Forget,
    Generate,
    Hello,
    MemoryMeasured,
    Refused,
    RequestFinished,
    RequestQueued,
    RequestStarted,
    RequestTiming,
    StepsMeasured,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem
from engine_bridge.step_work import StepWork, merged
from tests.unit.fake_client import applied, model_facts

_STEPS_EVERY_NS = 100_000_000
_MEMORY_EVERY_NS = 1_000_000_000
_FLUSH_NS = 16_000_000
_STALL_NS = 15_000_000_000
_HOST_TEXTS = 63
DIED = "The engine was ended by SIGKILL while writing an answer. It said: “made up”."
HANGS = "The engine seems to hang while writing an answer."


@dataclass(frozen=True)
class FakeEngine:
    """How the made-up engine behaves on one configuration.

    Attributes:
        prefill_tok_s: Prompt tokens per second.
        step_s: Seconds of a step that writes one token of so many streams.
        chunk_tok: Prompt tokens in one step at most.
        slots: Slots; None takes the configuration's.
        chars_per_tok: Characters of a token, of prompts and answers.
        noise: Spread of the times of steps (sigma of the logarithm); 0 for none.
        slowdown: Factor on all times by the clock in seconds, for drift.
        weight_bytes: Read by every step.
        kv_bytes_per_tok: Read by a step for every token that a stream holds.
        owned_bytes: Private memory of the process.
        drafted: Tokens drafted in each step of a stream; 0 without drafts.
        accepted: Of them accepted: a step then brings one more than that.
        ends_after_tok: Where answers end that may end by themselves; None nowhere.
        applying_s: Seconds that ``apply`` takes.
        refusal: Why the configuration is refused; empty if it is not.
        kills: Whether the engine dies of the configuration.
        refuses: Says of a request why it is refused; empty if it is not.
        dies_after: Requests after which it dies in the middle of the next step; None never.
        silent_after: Requests after which it says nothing any more; None never.
    """

    prefill_tok_s: float = 1000.0
    step_s: Callable[[int], float] = lambda streams: 0.018 + 0.002 * streams
    chunk_tok: int = 512
    slots: int | None = None
    chars_per_tok: int = 4
    noise: float = 0.0
    slowdown: Callable[[float], float] = lambda clock_s: 1.0
    weight_bytes: float = 1e9
    kv_bytes_per_tok: float = 1e5
    owned_bytes: int = 2 << 30
    drafted: int = 0
    accepted: int = 0
    ends_after_tok: int | None = None
    applying_s: float = 0.3
    refusal: str = ""
    kills: bool = False
    refuses: Callable[[Generate], str] = lambda command: ""
    dies_after: int | None = None
    silent_after: int | None = None


@dataclass(eq=False)
class _Stream:
    """A request from its arrival to its end; times are nanoseconds of the clock."""

    command: Generate
    text: str
    prompt_tok: int
    received_ns: int
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


class FakePort:
    """An ``EnginePort`` without an engine.

    Attributes:
        now_ns: Its clock.
        sent: Every command that was sent.
        applied: Every configuration that was put in force.
        stop_at_s: When of its clock the user stops the experiment; None never.
        is_closed: Whether it was given back.
        starts: How often an engine was started: once more after each death.
        peak_bytes_per_s: Peak bandwidth.
        disturbances: What is said when the port is asked for disturbances next.
    """

    def __init__(
        self,
        engine: FakeEngine | Callable[[EngineConfig], FakeEngine] | None = None,
        *,
        seed: int = 0,
        pid: int = 0,
    ) -> None:
        """Behave as ``engine``, or as it says for the configuration in force."""
        self._engine = engine if isinstance(engine, FakeEngine) else FakeEngine()
        fixed = self._engine
        self._engine_of: Callable[[EngineConfig], FakeEngine] = lambda config: fixed
        if engine is not None and not isinstance(engine, FakeEngine):
            self._engine_of = engine
        self._pid = pid
        self._random = random.Random(seed)
        self.now_ns = 1_000_000_000
        self.sent: list[Command] = []
        self.applied: list[EngineConfig] = []
        self.stop_at_s: float | None = None
        self.is_closed = False
        self.starts = 0
        self.peak_bytes_per_s = 2e11
        self.disturbances: list[str] = []
        self._is_stopping = self._has_said_stop = False
        self._numbers = 0
        self._config: EngineConfig | None = None
        self._is_dead = True
        self._revive()

    def _revive(self) -> None:
        """A new process: nothing is known to it."""
        self.starts += 1
        self._is_dead = False
        self._config = None
        self._events: deque[Event] = deque()
        self._waiting: list[_Stream] = []
        self._told: dict[int, int] = {}
        self._slots: list[_Stream | None] = []
        # Whose text each slot holds, and what the host's cache keeps.
        self._held: list[tuple[str, str]] = []
        self._host: list[tuple[str, str]] = []
        self._ended = self._silent_ns = 0
        self._step: tuple[int, int, list[tuple[_Stream, int]]] | None = None  # begin, end, shares
        self._works: list[StepWork] = []
        self._works_ns, self._memory_ns = self.now_ns, self.now_ns
        self._longest_s = 0.0

    # --- What a port does ---------------------------------------------------------------

    @property
    def hello(self) -> Hello:
        """A greeting with one device."""
        return Hello(
            PROTOCOL_VERSION, self._pid, self.now_ns, "0.0", "made up", (_device(),), False
        )

    @property
    def pid(self) -> int:
        """What the test said."""
        return self._pid

    @property
    def is_idle(self) -> bool:
        """Whether no request waits or runs."""
        return not self._waiting and not any(self._slots)

    def stop(self) -> None:
        """Stop the experiment, as the user does."""
        self._is_stopping = True

    def die(self) -> None:
        """Die now; what was said before is still handed out."""
        self._is_dead = True

    def apply(self, config: EngineConfig) -> Applied:
        """Run ``config``, or do with it what ``FakeEngine`` says."""
        self._check_stop(always=True)
        engine = self._engine_of(config)
        if self._is_dead:
            self._revive()
        self.now_ns += round(engine.applying_s * 1e9)
        if engine.kills:
            self.die()
            raise EngineGoneError(DIED)
        if engine.refusal:
            raise ConfigRefusedError(Problem(("slots",), engine.refusal))
        before, self._config, self._engine = self._config, config, engine
        is_load = before is None or before.model_path != config.model_path
        self._ended = 0
        if is_load or len(self._slots) != (engine.slots or config.slots):
            self._slots = [None] * (engine.slots or config.slots)
            self._held = [("", "")] * len(self._slots)
        if is_load or config.cache_ram_mib == 0:
            self._host = []
        self.applied.append(config)
        return applied(
            config,
            request_id=self.next_id(),
            cost="reload" if is_load else "new context",
            seconds=engine.applying_s,
            model=model_facts(path=config.model_path) if is_load else None,
        )

    def next_id(self) -> int:
        """Count on."""
        self._numbers += 1
        return self._numbers

    def send(self, command: Command) -> None:
        """Take a command up now."""
        if self._is_dead:
            raise EngineGoneError(DIED)
        if isinstance(command, Generate):
            self._check_stop(always=True)
        self.sent.append(command)
        match command:
            case Generate():
                self._take(command)
            case Cancel(request_id=request_id):
                self._cancel(request_id)
            case Forget(conversation_id=name):
                self._held = [("", "") if held[0] == name else held for held in self._held]
                self._host = [kept for kept in self._host if kept[0] != name]
            case _:
                pass

    def next_event(self, timeout_s: float) -> Event | None:
        """The next event; moves the clock to it, or to the end of the time."""
        until_ns = self.now_ns + round(timeout_s * 1e9)
        while True:
            self._check_stop(always=False)
            if self._events:
                return self._events.popleft()
            if self._is_dead:
                raise EngineGoneError(DIED)
            if self._is_silent and not self.is_idle:
                self._silent_ns += until_ns - self.now_ns
                self.now_ns = until_ns
                if self._silent_ns >= _STALL_NS:
                    self.die()
                    raise EngineGoneError(HANGS)
                return None
            if not self._advance(until_ns):
                return None

    def take_disturbances(self) -> tuple[str, ...]:
        """What the test put into ``disturbances``, once."""
        taken, self.disturbances = tuple(self.disturbances), []
        return taken

    def close(self) -> None:
        """Note it."""
        self.is_closed = True

    # --- Inside -------------------------------------------------------------------------

    @property
    def _is_silent(self) -> bool:
        return self._engine.silent_after is not None and self._ended >= self._engine.silent_after

    def _check_stop(self, *, always: bool) -> None:
        if self.stop_at_s is not None and self.now_ns >= self.stop_at_s * 1e9:
            self._is_stopping = True
        if self._is_stopping and (always or not self._has_said_stop):
            self._has_said_stop = True
            raise StoppedError("Stopped.")

    def _take(self, command: Generate) -> None:
        sentence = self._engine.refuses(command)
        text = "".join(f"<{said.role}>{said.content}" for said in command.messages) + "<assistant>"
        if command.as_completion:
            text = "".join(said.content for said in command.messages)
        prompt_tok = len(command.prompt_tokens) or ceil(len(text) / self._engine.chars_per_tok)
        if self._config is None:
            sentence = "No model is loaded. Choose one and load it first."
        elif prompt_tok >= self._config.slot_cap_tok:
            sentence = (
                f"The prompt has {prompt_tok:,} tokens and a slot holds "
                f"{self._config.slot_cap_tok:,}."
            )
        if sentence:
            self._events.append(Refused("generate", command.request_id, Problem((), sentence)))
            return
        self._waiting.append(_Stream(command, text, prompt_tok, self.now_ns))

    def _cancel(self, request_id: int) -> None:
        for stream in self._waiting:
            if stream.command.request_id == request_id:
                self._waiting.remove(stream)
                problem = Problem((), "The request was cancelled before it had a slot.")
                self._events.append(Refused("generate", request_id, problem, is_cancelled=True))
                return
        for found in self._slots:
            if found is not None and found.command.request_id == request_id:
                self._end(found, "cancelled", "")

    def _advance(self, until_ns: int) -> bool:
        """Do the next thing that happens before ``until_ns``; False if nothing does."""
        self._start_waiting()
        if self._events:
            return True
        if self._step is None and any(self._slots):
            self._begin_step()
        due_ns = [self._memory_ns + _MEMORY_EVERY_NS]
        if self._step is not None:
            due_ns.append(self._step[1])
        if self._works:
            due_ns.append(self._works_ns + _STEPS_EVERY_NS)
        next_ns = max(self.now_ns, min(due_ns))
        if next_ns > until_ns:
            self.now_ns = until_ns
            return False
        self.now_ns = next_ns
        if self._step is not None and self._step[1] <= next_ns:
            self._finish_step()
        self._report()
        return True

    def _start_waiting(self) -> None:
        while self._waiting and None in self._slots:
            self._start(self._waiting.pop(0))
        for place, stream in enumerate(self._waiting, start=1):
            if self._told.get(stream.command.request_id) != place:
                self._told[stream.command.request_id] = place
                self._events.append(RequestQueued(stream.command.request_id, place))

    def _start(self, stream: _Stream) -> None:
        free = [slot for slot, holder in enumerate(self._slots) if holder is None]
        slot = max(free, key=lambda slot: _common(self._held[slot][1], stream.text))
        common = max(_common(text, stream.text) for _, text in (self._held[slot], *self._host))
        assert self._config is not None
        if not self._config.cache_prompt:
            common = 0
        stream.slot, stream.started_ns = slot, self.now_ns
        stream.reused_tok = min(common // self._engine.chars_per_tok, stream.prompt_tok - 1)
        stream.read_tok = stream.reused_tok
        self._slots[slot] = stream
        self._events.append(
            RequestStarted(
                stream.command.request_id, slot, stream.prompt_tok, stream.reused_tok, "",
                self.now_ns,
            )
        )  # fmt: skip

    def _begin_step(self) -> None:
        engine = self._engine
        left_tok = engine.chunk_tok
        shares: list[tuple[_Stream, int]] = []
        for stream in filter(None, self._slots):
            if stream.is_generating:
                shares.append((stream, 0))
            elif left_tok > 0:
                tokens = min(left_tok, stream.prompt_tok - stream.read_tok)
                left_tok -= tokens
                shares.append((stream, tokens))
        generating = sum(1 for stream, _ in shares if stream.is_generating)
        prompt_tok = sum(tokens for _, tokens in shares)
        seconds = prompt_tok / engine.prefill_tok_s + (
            engine.step_s(generating) if generating else 0
        )
        seconds *= engine.slowdown(self.now_ns / 1e9)
        if engine.noise:
            seconds *= exp(self._random.gauss(0.0, engine.noise))
        self._step = (self.now_ns, self.now_ns + max(1, round(seconds * 1e9)), shares)

    def _finish_step(self) -> None:
        assert self._step is not None
        begin_ns, end_ns, shares = self._step
        self._step = None
        engine = self._engine
        if engine.dies_after is not None and self._ended >= engine.dies_after:
            self.die()
            return
        shares = [(stream, tokens) for stream, tokens in shares if stream in self._slots]
        computed = delivered = held = 0
        generating = [stream for stream, tokens in shares if stream.is_generating]
        for stream, tokens in shares:
            held += stream.held_tok
            brought = 1 + engine.accepted if stream.is_generating else 0
            stream.read_tok += tokens
            if not stream.is_generating and stream.read_tok == stream.prompt_tok:
                brought = 1
            computed += tokens or 1 + engine.drafted
            delivered += self._deliver(stream, brought, end_ns) if brought else 0
        seconds = (end_ns - begin_ns) / 1e9
        self._longest_s = max(self._longest_s, seconds)
        reads = any(tokens for _, tokens in shares)
        self._works.append(
            StepWork(
                0 if reads else len(generating), 1, seconds, 1, computed, delivered,
                engine.weight_bytes, held * engine.kv_bytes_per_tok, 0.0, 2.0 * computed * 1e9,
            )
        )  # fmt: skip

    def _deliver(self, stream: _Stream, tokens: int, at_ns: int) -> int:
        command, engine = stream.command, self._engine
        limit = command.max_new_tok
        assert self._config is not None
        if limit is None:
            limit = self._config.max_new_tok
        limit = limit if limit >= 0 else 1 << 40
        if stream.is_generating:
            stream.steps += 1
        tokens = min(tokens, limit - stream.new_tok)
        for _ in range(tokens):
            piece = f"{stream.new_tok % 1000:d} ".rjust(engine.chars_per_tok, "w")
            stream.new_tok += 1
            stream.answer += piece
            stream.unsent_text += piece
        if tokens > 0:
            stream.unsent.append((at_ns, tokens))
            stream.step_ns.append(at_ns)
        ends = None if command.ignore_eog else engine.ends_after_tok
        if ends is not None and stream.new_tok >= ends:
            self._end(stream, "end", "")
        elif stream.new_tok >= limit:
            self._end(stream, "token_limit", "")
        elif stream.held_tok >= self._config.slot_cap_tok:
            self._end(stream, "context_full", "The slot is full.")
        elif stream.new_tok == tokens or at_ns - stream.sent_ns >= _FLUSH_NS:
            self._flush(stream)
        return tokens

    def _flush(self, stream: _Stream) -> None:
        if not stream.unsent:
            return
        self._events.append(
            TokensDelivered(
                stream.command.request_id,
                stream.unsent_text,
                tuple(at_ns for at_ns, _ in stream.unsent),
                tuple(tokens for _, tokens in stream.unsent),
                self.now_ns,
            )
        )
        stream.unsent, stream.unsent_text, stream.sent_ns = [], "", self.now_ns

    def _end(self, stream: _Stream, reason: FinishReason, detail: str) -> None:
        self._flush(stream)
        self._slots[stream.slot] = None
        held = stream.command.conversation_id, stream.text + stream.answer
        self._held[stream.slot] = held
        assert self._config is not None
        if self._config.cache_ram_mib != 0:
            self._host = [*self._host[-_HOST_TEXTS:], held]
        self._ended += 1
        self._events.append(
            RequestFinished(
                stream.command.request_id, reason, detail, self._timing(stream), stream.held_tok
            )
        )

    def _timing(self, stream: _Stream) -> RequestTiming:
        queue_s = (stream.started_ns - stream.received_ns) / 1e9
        steps = np.asarray(stream.step_ns, np.int64)
        gaps = np.diff(steps) / 1e9
        first_ns = stream.step_ns[0] if stream.step_ns else None
        prefill_s = ((first_ns or self.now_ns) - stream.started_ns) / 1e9
        followed = stream.new_tok - 1
        drafted = stream.steps * self._engine.drafted
        return RequestTiming(
            queue_s=queue_s,
            prefill_s=prefill_s,
            ttft_s=None if first_ns is None else queue_s + prefill_s,
            tpot_s=float(gaps.sum()) / followed if followed > 0 else None,
            itl_p50_s=percentile(gaps, 50),
            itl_p99_s=percentile(gaps, 99),
            prompt_tok=stream.prompt_tok,
            reused_tok=stream.reused_tok,
            new_tok=stream.new_tok,
            drafted_tok=drafted,
            accepted_tok=stream.steps * self._engine.accepted,
            drafted_at=(stream.steps,) * self._engine.drafted,
            accepted_at=tuple(
                stream.steps if at < self._engine.accepted else 0
                for at in range(self._engine.drafted)
            ),
        )

    def _report(self) -> None:
        if self._works and self.now_ns >= self._works_ns + _STEPS_EVERY_NS:
            works = merged(self._works)
            writing = [work for work in works if not work.is_prefill]
            reading = [work for work in works if work.is_prefill]
            self._events.append(
                StepsMeasured(
                    begin_ns=self._works_ns,
                    end_ns=self.now_ns,
                    busy_s=sum(work.seconds for work in works),
                    steps=sum(work.steps for work in works),
                    decode_steps=sum(work.steps for work in writing),
                    decode_s=sum(work.seconds for work in writing),
                    decode_bytes=round(sum(work.bytes for work in writing)),
                    decoded_tok=sum(work.delivered_tok for work in works),
                    prefilled_tok=sum(work.computed_tok for work in reading),
                    prefill_s=sum(work.seconds for work in reading),
                    longest_step_s=self._longest_s,
                    streams=writing[-1].streams if writing else 0,
                    slots=(),
                    work=works,
                )
            )
            self._works, self._works_ns, self._longest_s = [], self.now_ns, 0.0
        if self.now_ns >= self._memory_ns + _MEMORY_EVERY_NS:
            self._memory_ns = self.now_ns
            self._events.append(
                MemoryMeasured(self.now_ns, self._engine.owned_bytes, 0, (_device(),))
            )


def _device() -> DeviceFacts:
    return DeviceFacts("CPU", "made up", "cpu", "CPU", 6 << 30, 8 << 30)


def _common(first: str, second: str) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return sum(1 for _ in same)


def requests_sent(port: FakePort) -> list[Generate]:
    """The requests among the commands that were sent."""
    return [command for command in port.sent if isinstance(command, Generate)]


def config_with(**values: object) -> EngineConfig:
    """A configuration of a model that is not there."""
    return msgspec.structs.replace(EngineConfig(model_path="/m.gguf"), **values)
