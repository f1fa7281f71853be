"""The window stops reading its pipe for a while: nothing but its own events may wait for it.

The engine process alone, with a pipe as small as the system makes them. Three streams run; while
nobody reads, one of them is cancelled and a fourth is asked for. By the engine's own stamps all of
that has happened in time, and when the reader is back, not a token is missing.
"""

from __future__ import annotations

import fcntl
import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

from engine_bridge import protocol
from engine_bridge.settings.config import EngineConfig
from tests.bench.engine import EngineProcess
from tests.chaos.stage import PATIENCE_S, LostError, Stage
from tests.chaos.tally import Tally

_F_SETPIPE_SZ, _LEAST_PIPE_BYTES = 1031, 4096
_CTX_TOK = 65_536
_BEFORE_S = _AFTER_S = 3.0
# Of the speed before and after, the lower one: streams get slower the deeper they are, so what the
# stall costs shows beside what comes behind it. A machine that gets busy meanwhile is slower too.
_LEAST_SHARE = 0.5
_MOST_GROWTH_BYTES = 64 * 2**20


@dataclass
class _Stream:
    """What came of one request."""

    step_ns: list[int] = field(default_factory=list)
    tokens: int = 0
    text_bytes: int = 0
    started: protocol.RequestStarted | None = None
    finished: protocol.RequestFinished | None = None


def run(stage: Stage) -> Tally:
    """Stall ``stage.counts.stalls`` times."""
    tally = Tally("reader of the pipe stalls")
    for number in range(stage.counts.stalls):
        one = _Stall(stage)
        try:
            one.play(stage.counts.stall_s)
            loss = ""
        except LostError as error:
            loss = str(error)
        finally:
            one.close()
        tally.note(loss and f"stall {number + 1}: {loss}")
        tally.notes = [one.words]
        stage.say(f"{number + 1}: {one.words} {loss or 'ok'}")
    return tally


class _Stall:
    """One engine with one reader."""

    def __init__(self, stage: Stage) -> None:
        self.words = ""
        self._engine = EngineProcess()
        self._streams: dict[int, _Stream] = {}
        self._config = EngineConfig.from_values(
            {
                "model_path": str(stage.chat_model("long.gguf", ctx_train_tok=_CTX_TOK)),
                "threads": 1, "slots": 4, "ctx_per_slot_tok": _CTX_TOK, "temperature": 0.0,
            }
        )  # fmt: skip

    def close(self) -> None:
        self._engine.close()

    def play(self, stall_s: float) -> None:
        """All of it.

        Raises:
            LostError: If anything waited for the reader, or is missing.
        """
        engine = self._engine
        pipe = engine._process.stdout
        assert pipe is not None
        if sys.platform == "linux":
            fcntl.fcntl(pipe.fileno(), _F_SETPIPE_SZ, _LEAST_PIPE_BYTES)
        engine.send(protocol.Load(engine.next_id(), self._config))
        engine.wait_for(protocol.Applied, PATIENCE_S)
        engine.wait_for(protocol.BandwidthMeasured, PATIENCE_S)  # which takes memory meanwhile
        first, second, third = (self._ask() for _ in range(3))
        self._read(lambda: all(stream.tokens > 0 for stream in self._streams.values()))
        begun_ns = time.perf_counter_ns()
        self._read(lambda: time.perf_counter_ns() - begun_ns > _BEFORE_S * 1e9)
        size_bytes = psutil.Process(engine.pid).memory_info().rss
        stalled_ns = time.perf_counter_ns()
        time.sleep(stall_s / 2)
        engine.send(protocol.Cancel(first))
        fourth = self._ask()
        time.sleep(stall_s / 2)
        grown_bytes = psutil.Process(engine.pid).memory_info().rss - size_bytes
        back_ns = time.perf_counter_ns()
        self._read(lambda: time.perf_counter_ns() - back_ns > _AFTER_S * 1e9)
        for number in (second, third, fourth):
            engine.send(protocol.Cancel(number))
        self._read(lambda: None not in [stream.finished for stream in self._streams.values()])
        before = self._speed(second, begun_ns, stalled_ns)
        during = self._speed(second, stalled_ns, back_ns)
        after = self._speed(second, back_ns, back_ns + round(_AFTER_S * 1e9))
        gap_s = self._longest_gap_s(second, stalled_ns, back_ns)
        self.words = (
            f"{before:,.0f} tok/s before, {during:,.0f} while it stalled, {after:,.0f} after; "
            f"longest gap {gap_s * 1000:.0f} ms; grew {grown_bytes / 2**20:.1f} MiB"
        )
        if during < _LEAST_SHARE * min(before, after) or gap_s > stall_s / 4:
            raise LostError(f"the streams waited for the reader: {self.words}")
        if grown_bytes > _MOST_GROWTH_BYTES:
            raise LostError(f"what waits for the reader is not bounded: {self.words}")
        self._check_cancelled(first, back_ns)
        self._check_started(fourth, back_ns)
        for number, stream in self._streams.items():
            assert stream.finished is not None
            if stream.tokens != stream.finished.timing.new_tok or not stream.text_bytes:
                raise LostError(f"tokens of request {number} are missing")

    # --- Inside -------------------------------------------------------------------------

    def _ask(self) -> int:
        number = self._engine.next_id()
        self._streams[number] = _Stream()
        message = protocol.ChatMessage("user", f"Tell me {number} things.")
        self._engine.send(
            protocol.Generate(
                number, f"stream {number}", (message,), max_new_tok=-1, ignore_eog=True
            )
        )
        return number

    def _read(self, is_done: Callable[[], bool]) -> None:
        """Take events until ``is_done``."""
        deadline_s = time.monotonic() + PATIENCE_S
        while not is_done():
            if time.monotonic() > deadline_s:
                raise LostError("the engine said nothing more")
            # Comes every second, whether there is a step or not.
            self._engine.wait_for(protocol.MemoryMeasured, PATIENCE_S, self._take)

    def _take(self, event: protocol.Event) -> None:
        number = getattr(event, "request_id", None)
        stream = self._streams.get(number) if number is not None else None
        if stream is None:
            return
        match event:
            case protocol.TokensDelivered():
                stream.step_ns += event.step_ns
                stream.tokens += sum(event.step_tok)
                stream.text_bytes += len(event.text)
            case protocol.RequestStarted():
                stream.started = event
            case protocol.RequestFinished():
                stream.finished = event

    def _stamps(self, number: int, begin_ns: int, end_ns: int) -> list[int]:
        return [ns for ns in self._streams[number].step_ns if begin_ns <= ns < end_ns]

    def _speed(self, number: int, begin_ns: int, end_ns: int) -> float:
        return len(self._stamps(number, begin_ns, end_ns)) / ((end_ns - begin_ns) / 1e9)

    def _longest_gap_s(self, number: int, begin_ns: int, end_ns: int) -> float:
        stamps = [begin_ns, *self._stamps(number, begin_ns, end_ns), end_ns]
        gaps = [later - earlier for earlier, later in itertools.pairwise(stamps)]
        return max(gaps) / 1e9

    def _check_cancelled(self, number: int, back_ns: int) -> None:
        stream = self._streams[number]
        assert stream.finished is not None
        if stream.finished.reason != "cancelled" or stream.step_ns[-1] > back_ns:
            raise LostError("a cancel waited for the reader")

    def _check_started(self, number: int, back_ns: int) -> None:
        started = self._streams[number].started
        if started is None or started.started_ns > back_ns:
            raise LostError("a new request waited for the reader")
