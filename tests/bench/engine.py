"""Drives the engine process over its pipes, as the window does, but without Qt.

Like the peer's client it only keeps bytes and times during a run. Knows the protocol; must not know
what lies behind it.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from engine_bridge import protocol
from engine_bridge.engine_process import added_variables
from engine_bridge.settings.config import EngineConfig
from tests.bench.late import sent_late
from tests.bench.work import ContenderError, Layout, StreamTimes, Work

_EventT = TypeVar("_EventT", bound=protocol.Event)

_START_S = 120.0
_RUN_S = 120.0
_END_S = 10.0
_FINISHED = b'"request_finished"'
_REFUSED = b'"refused"'


def layout_config(layout: Layout) -> EngineConfig:
    """The configuration that gives the engine the pool, threads and batches of ``layout``."""
    return EngineConfig(
        model_path=str(layout.model),
        slots=layout.slots,
        ctx_per_slot_tok=layout.ctx_per_slot_tok,
        kv_unified=False,
        batch_tok=layout.batch_tok,
        ubatch_tok=layout.ubatch_tok,
        threads=layout.threads,
        threads_batch=layout.threads,
        temperature=layout.temperature,
        cache_ram_mib=8192 if layout.keeps_prompts else 0,
        ctx_checkpoints=32 if layout.keeps_prompts else 0,
    )


class EngineProcess:
    """A running engine process and its two pipes.

    Attributes:
        hello: Its greeting.
        rest: Bytes read but not yet used.
    """

    def __init__(self) -> None:
        """Start it and wait for its greeting.

        Raises:
            ContenderError: If it ends or is silent; its last lines are quoted.
        """
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "engine_bridge.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=os.environ | added_variables(os.environ.get("PYTHONPATH", "")),
            bufsize=0,
        )
        self.rest = b""
        self._request_id = 0
        try:
            self.hello = self.wait_for(protocol.Hello, _START_S)
        except ContenderError:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The engine's process."""
        return self._process.pid

    def next_id(self) -> int:
        """A number no command of this process has had."""
        self._request_id += 1
        return self._request_id

    def send(self, command: protocol.Command) -> None:
        """Write one command."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(protocol.encode(command))
        except OSError as error:
            raise ContenderError(f"The engine is gone ({error}).\n{self.tail()}") from error

    def read(self, deadline: float) -> bytes:
        """Whatever has arrived, at least one byte.

        Raises:
            ContenderError: If nothing arrives until ``deadline`` (``time.monotonic``), or the end.
        """
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], deadline - time.monotonic())
        if not ready:
            raise ContenderError(f"The engine took too long to answer.\n{self.tail()}")
        data = os.read(self._process.stdout.fileno(), 1 << 16)
        if not data:
            raise ContenderError(f"The engine ended.\n{self.tail()}")
        return data

    def wait_for(
        self,
        kind: type[_EventT],
        timeout_s: float,
        on_other: Callable[[protocol.Event], None] = lambda event: None,
    ) -> _EventT:
        """The next event of a kind; others go to ``on_other``.

        Raises:
            ContenderError: If a command was refused, or nothing comes in time.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                event = protocol.decode_event(line)
                if isinstance(event, kind):
                    return event
                if isinstance(event, protocol.Refused):
                    raise ContenderError(f"The engine refused: {event.problem.message}")
                on_other(event)
            self.rest += self.read(deadline)

    def tail(self) -> str:
        """The last lines of its stderr."""
        self._stderr.seek(0)
        return "\n".join(self._stderr.read().decode(errors="replace").splitlines()[-15:])

    def close(self) -> None:
        """End the process and wait for it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._process.poll() is None:
            self.send(protocol.Shutdown())
        self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._stderr.close()


class Engine:
    """TuneDeck's engine as a contender."""

    def __init__(self, layout: Layout) -> None:
        """Start the process and load the model.

        Raises:
            ContenderError: If either fails.
        """
        self._process = EngineProcess()
        self.name = f"TuneDeck engine, llama-cpp-python {self._process.hello.binding_version}"
        config = layout_config(layout)
        try:
            self._process.send(protocol.Load(request_id=self._process.next_id(), config=config))
            self._process.wait_for(protocol.Applied, _START_S)
            # After its first load it measures the memory's bandwidth, with all cores.
            self._process.wait_for(protocol.BandwidthMeasured, _START_S)
        except ContenderError:
            self._process.close()
            raise

    @property
    def pid(self) -> int:
        """The engine's process."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def run(self, work: Work) -> list[StreamTimes]:
        """Send every prompt at once and read until the last stream has ended.

        Raises:
            ContenderError: If the engine dies, refuses or is too slow.
        """
        streams = {self._process.next_id(): _Stream() for _ in work.all_prompts}
        commands = [
            _generate(request_id, prompt, work)
            for request_id, prompt in zip(streams, work.all_prompts, strict=True)
        ]

        def send(command: protocol.Generate) -> None:
            streams[command.request_id].sent_ns = time.perf_counter_ns()
            self._process.send(command)

        for command in commands[: len(work.prompts)]:
            send(command)
        with sent_late(send, commands[len(work.prompts) :], work.late_after_s):
            self._dispatch(self._receive(len(streams)), streams)
        if not work.goes_on:
            for command in commands:
                self._process.send(protocol.Forget(conversation_id=command.conversation_id))
        return [stream.times() for stream in streams.values()]

    def _receive(self, pending: int) -> list[tuple[int, bytes]]:
        """All that arrives until every stream has ended, with times."""
        deadline = time.monotonic() + _RUN_S
        arrivals = [(time.perf_counter_ns(), self._process.rest)]
        tail = self._process.rest
        while pending > 0:
            data = self._process.read(deadline)
            arrivals.append((time.perf_counter_ns(), data))
            # A mark may lie across two reads: whole lines only.
            lines, newline, rest = (tail + data).rpartition(b"\n")
            tail = rest if newline else tail + data
            pending -= lines.count(_FINISHED) + lines.count(_REFUSED)
        return arrivals

    def _dispatch(self, arrivals: list[tuple[int, bytes]], streams: dict[int, _Stream]) -> None:
        rest = b""
        for at_ns, data in arrivals:
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                event = protocol.decode_event(line)
                if isinstance(event, protocol.Refused):
                    raise ContenderError(f"The engine refused: {event.problem.message}")
                if isinstance(event, protocol.TokensDelivered | protocol.RequestFinished):
                    streams[event.request_id].take(at_ns, event)
        self._process.rest = rest


def _generate(request_id: int, prompt: tuple[int, ...] | str, work: Work) -> protocol.Generate:
    is_text = isinstance(prompt, str)
    return protocol.Generate(
        request_id=request_id,
        conversation_id="bench" if work.goes_on else f"bench {request_id}",
        messages=(protocol.ChatMessage("user", prompt),) if isinstance(prompt, str) else (),
        as_completion=is_text,
        prompt_tokens=() if isinstance(prompt, str) else prompt,
        ignore_eog=True,
        max_new_tok=work.new_tok,
    )


@dataclass
class _Stream:
    """One request and what came back of it."""

    sent_ns: int = 0
    token_ns: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    tokens: int = 0
    finished: protocol.RequestFinished | None = None

    def take(self, at_ns: int, event: protocol.TokensDelivered | protocol.RequestFinished) -> None:
        if isinstance(event, protocol.RequestFinished):
            self.finished = event
            return
        self.texts.append(event.text)
        if event.step_tok:
            self.token_ns.append(at_ns)
            self.tokens += sum(event.step_tok)

    def times(self) -> StreamTimes:
        """What the events say.

        Raises:
            ContenderError: If the request did not run to its limit.
        """
        if self.finished is None or self.finished.reason != "token_limit" or not self.token_ns:
            raise ContenderError(f"A request of the engine ended early: {self.finished}")
        timing = self.finished.timing
        return StreamTimes(
            sent_ns=self.sent_ns,
            first_ns=self.token_ns[0],
            last_ns=self.token_ns[-1],
            tokens=self.tokens,
            text="".join(self.texts),
            own_ttft_s=timing.ttft_s if timing.ttft_s is not None else float("nan"),
            own_tpot_s=timing.tpot_s if timing.tpot_s is not None else float("nan"),
            arrivals_ns=tuple(self.token_ns),
        )
