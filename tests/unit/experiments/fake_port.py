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
from math import ceil, exp

import msgspec

from app.experiments.port import ConfigRefusedError, EngineGoneError, StoppedError
from engine_bridge.protocol import (
    PROTOCOL_VERSION,
    Applied,
    Cancel,
    Command,
    Event,
    FinishReason,
    Forget,
    Generate,
    Hello,
    Refused,
    RequestFinished,
    RequestQueued,
    RequestStarted,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem
from engine_bridge.step_work import StepWork
from tests.unit.experiments.fake_engine import FakeEngine
from tests.unit.experiments.fake_reports import DEVICE, FakeReports
from tests.unit.experiments.fake_stream import FakeStream
from tests.unit.fake_client import applied, model_facts

__all__ = [
    "DIED", "HANGS", "FakeEngine", "FakePort", "config_with", "requests_sent",
]  # fmt: skip

_STALL_NS = 15_000_000_000
_HOST_TEXTS = 63
DIED = "The engine was ended by SIGKILL while writing an answer. It said: “made up”."
HANGS = "The engine seems to hang while writing an answer."


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
        is_peak_lower_bound: Whether it may be higher.
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
        self.is_peak_lower_bound = False
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
        self._waiting: list[FakeStream] = []
        self._told: dict[int, int] = {}
        self._slots: list[FakeStream | None] = []
        # Whose text each slot holds, and what the host's cache keeps.
        self._held: list[tuple[str, str]] = []
        self._host: list[tuple[str, str]] = []
        self._ended = self._silent_ns = 0
        # When it begins and ends, and who takes part with how much of a prompt.
        self._step: tuple[int, int, list[tuple[FakeStream, int]]] | None = None
        self._reports = FakeReports(self.now_ns)

    # --- What a port does ---------------------------------------------------------------

    @property
    def hello(self) -> Hello:
        """A greeting with one device."""
        return Hello(PROTOCOL_VERSION, self._pid, self.now_ns, "0.0", "made up", (DEVICE,), False)

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
        limit = self._config.max_new_tok if self._config is not None else -1
        limit = limit if command.max_new_tok is None else command.max_new_tok
        self._waiting.append(
            FakeStream(command, text, prompt_tok, self.now_ns, limit if limit >= 0 else 1 << 40)
        )

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
        due_ns = self._reports.due_ns
        if self._step is not None:
            due_ns = min(due_ns, self._step[1])
        next_ns = max(self.now_ns, due_ns)
        if next_ns > until_ns:
            self.now_ns = until_ns
            return False
        self.now_ns = next_ns
        if self._step is not None and self._step[1] <= next_ns:
            self._finish_step()
        self._events += self._reports.take(self.now_ns, self._engine.owned_bytes)
        return True

    def _start_waiting(self) -> None:
        while self._waiting and None in self._slots:
            self._start(self._waiting.pop(0))
        for place, stream in enumerate(self._waiting, start=1):
            if self._told.get(stream.command.request_id) != place:
                self._told[stream.command.request_id] = place
                self._events.append(RequestQueued(stream.command.request_id, place))

    def _start(self, stream: FakeStream) -> None:
        free = [slot for slot, holder in enumerate(self._slots) if holder is None]
        slot = max(free, key=lambda slot: stream.common(self._held[slot][1]))
        common = max(stream.common(text) for _, text in (self._held[slot], *self._host))
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
        shares: list[tuple[FakeStream, int]] = []
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
        reads = any(tokens for _, tokens in shares)
        self._reports.note(
            StepWork(
                0 if reads else len(generating), 1, seconds, 1, computed, delivered,
                engine.weight_bytes, held * engine.kv_bytes_per_tok, 0.0, 2.0 * computed * 1e9,
            )
        )  # fmt: skip

    def _deliver(self, stream: FakeStream, tokens: int, at_ns: int) -> int:
        assert self._config is not None
        taken = stream.deliver(self._engine, tokens, at_ns)
        if end := stream.end(self._engine, self._config.slot_cap_tok):
            self._end(stream, *end)
        elif stream.is_due(at_ns):
            self._flush(stream)
        return taken

    def _flush(self, stream: FakeStream) -> None:
        event = stream.delivered(self.now_ns)
        self._events += [] if event is None else [event]

    def _end(self, stream: FakeStream, reason: FinishReason, detail: str) -> None:
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
                stream.command.request_id,
                reason,
                detail,
                stream.timing(self._engine, self.now_ns),
                stream.held_tok,
            )
        )


def requests_sent(port: FakePort) -> list[Generate]:
    """The requests among the commands that were sent."""
    return [command for command in port.sent if isinstance(command, Generate)]


def config_with(**values: object) -> EngineConfig:
    """A configuration of a model that is not there."""
    return msgspec.structs.replace(EngineConfig(model_path="/m.gguf"), **values)
