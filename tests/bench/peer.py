"""Drives ``llama-server`` over HTTP on the loopback address.

During a run nothing is parsed: bytes are kept with the time they arrived, so that the client takes
as little as possible of the cores that both programs need. Knows the server's flags and answers;
must not know the engine.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.late import sent_late
from tests.bench.work import ContenderError, Layout, StreamTimes, Work

_LISTENING = re.compile(r"listening on http://127\.0\.0\.1:(\d+)")
_EVENT = re.compile(rb"data: (\{.*?\})\n\n")
_START_S = 120.0
_RUN_S = 120.0
_END_S = 10.0


def layout_arguments(layout: Layout) -> list[str]:
    """The flags that give the server the pool, threads, batches and caches of ``layout``."""
    return [
        *("-m", str(layout.model)),
        *("-c", str(layout.slots * layout.ctx_per_slot_tok), "-np", str(layout.slots)),
        *("-no-kvu", "-fit", "off"),
        *(() if layout.keeps_prompts else ("--cache-ram", "0", "-ctxcp", "0")),
        *("-t", str(layout.threads), "-tb", str(layout.threads)),
        *("-b", str(layout.batch_tok), "-ub", str(layout.ubatch_tok)),
    ]


class ServerProcess:
    """A running ``llama-server`` and every line it has logged."""

    def __init__(self, binary: Path, arguments: Sequence[str]) -> None:
        """Start it on a free port of the loopback address and wait until it serves.

        Raises:
            ContenderError: If it ends or does not serve in time; its last lines are quoted.
        """
        command = [str(binary), *arguments, "--host", "127.0.0.1", "--port", "0", "--offline"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.lines: list[str] = []
        self.port = 0
        self._settled = threading.Event()
        self._reader = threading.Thread(target=self._read_log, name="llama-server log")
        self._reader.start()
        self._settled.wait(_START_S)
        if not self.port:
            self.close()
            raise ContenderError("llama-server did not start serving:\n" + self.tail())

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._process.pid

    def tail(self) -> str:
        """The last lines of its log."""
        return "\n".join(self.lines[-15:])

    def close(self) -> None:
        """End the server and wait for it."""
        self._process.terminate()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()

    def _read_log(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as log:
            for raw in log:
                line = raw.decode(errors="replace").rstrip()
                self.lines.append(line)
                if found := _LISTENING.search(line):
                    self.port = int(found[1])
                    self._settled.set()
        self._settled.set()


class Peer:
    """``llama-server`` as a contender."""

    def __init__(self, binary: Path, layout: Layout, name: str) -> None:
        """Start and load it.

        Raises:
            ContenderError: If it does not start.
        """
        self.name = name
        self._temperature = layout.temperature
        self._server = ServerProcess(binary, layout_arguments(layout))

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._server.pid

    def close(self) -> None:
        """End the server."""
        self._server.close()

    def run(self, work: Work) -> list[StreamTimes]:
        """Send every prompt at once, each over a connection of its own.

        Raises:
            ContenderError: If a connection breaks, the server refuses or is too slow.
        """
        requests = [_request(prompt, work, self._temperature) for prompt in work.all_prompts]
        address = ("127.0.0.1", self._server.port)
        streams: list[_Stream] = []
        with selectors.DefaultSelector() as selector:
            try:
                for request in requests:
                    connection = socket.create_connection(address, timeout=_RUN_S)
                    stream = _Stream(connection, request)
                    streams.append(stream)
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    selector.register(stream.socket, selectors.EVENT_READ, stream)
                for stream in streams[: len(work.prompts)]:
                    stream.send()
                late = streams[len(work.prompts) :]
                with sent_late(_Stream.send, late, work.late_after_s):
                    self._receive(selector, len(streams))
            except OSError as error:
                raise ContenderError(
                    f"llama-server broke off ({error}):\n{self._server.tail()}"
                ) from error
            finally:
                for stream in streams:
                    stream.socket.close()
        return [stream.times() for stream in streams]

    @staticmethod
    def _receive(selector: selectors.BaseSelector, pending: int) -> None:
        """Read all streams to their ends."""
        deadline = time.monotonic() + _RUN_S
        while pending:
            ready = selector.select(deadline - time.monotonic())
            if not ready:
                raise TimeoutError(f"{pending} streams unfinished after {_RUN_S:.0f} s")
            for key, _ in ready:
                if not key.data.receive():
                    selector.unregister(key.fileobj)
                    pending -= 1


class _Stream:
    """One request and what came back of it."""

    def __init__(self, connection: socket.socket, request: bytes) -> None:
        self.socket = connection
        self._request = request
        self._sent_ns = 0
        self._arrivals: list[tuple[int, bytes]] = []

    def send(self) -> None:
        self._sent_ns = time.perf_counter_ns()
        self.socket.sendall(self._request)

    def receive(self) -> bool:
        """Keep what has arrived; False at the end."""
        data = self.socket.recv(1 << 16)
        self._arrivals.append((time.perf_counter_ns(), data))
        return bool(data)

    def times(self) -> StreamTimes:
        """What the answer says.

        Raises:
            ContenderError: If it is no stream of tokens with an end.
        """
        events = self._events()
        token_ns = [at_ns for at_ns, event in events if event.get("tokens")]
        last = events[-1][1] if events else {}
        if not token_ns or not last.get("stop"):
            answer = b"".join(data for _, data in self._arrivals)[:600]
            raise ContenderError(f"llama-server gave no complete stream: {answer!r}")
        timings = last["timings"]
        return StreamTimes(
            sent_ns=self._sent_ns,
            first_ns=token_ns[0],
            last_ns=token_ns[-1],
            tokens=int(last["tokens_predicted"]),
            text="".join(event["content"] for _, event in events),
            own_ttft_s=timings["prompt_ms"] * 1e-3,
            own_tpot_s=timings["predicted_per_token_ms"] * 1e-3,
            arrivals_ns=tuple(token_ns),
        )

    def _events(self) -> list[tuple[int, dict[str, Any]]]:
        """Server-sent events with the time their last byte arrived."""
        body = b"".join(data for _, data in self._arrivals)
        events: list[tuple[int, dict[str, Any]]] = []
        arrivals = iter(self._arrivals)
        at_ns, data = next(arrivals)
        end = len(data)
        for match in _EVENT.finditer(body):
            while end < match.end():
                at_ns, data = next(arrivals)
                end += len(data)
            events.append((at_ns, json.loads(match[1])))
        return events


def _request(prompt: Sequence[int] | str, work: Work, temperature: float) -> bytes:
    body = json.dumps(
        {
            "prompt": prompt if isinstance(prompt, str) else list(prompt),
            "n_predict": work.new_tok,
            "ignore_eos": True,
            "cache_prompt": work.goes_on,
            "temperature": temperature,
            "stream": True,
        }
    ).encode()
    head = (
        "POST /completion HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
