"""A small real HTTP server on the loopback address, with threads, that answers as it is told to.

Nothing in it waits for time to pass: what hangs does so until the server is closed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODEL = "toy"
PROMPT_TOK = 40


class Reply:
    """What a behaviour answers one request with."""

    def __init__(self, handler: _Handler, server: FakeServer, body: dict[str, Any]) -> None:
        self._handler = handler
        self._is_begun = False
        self.server = server
        self.body = body

    @property
    def most_tok(self) -> int:
        return int(self.body.get("max_tokens") or self.body["max_completion_tokens"])

    @property
    def wants_usage(self) -> bool:
        return bool(self.body.get("stream_options", {}).get("include_usage"))

    def status(self, status: int, value: object, **headers: str) -> None:
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        self._handler.send_response(status)
        for name, text in {"Content-Type": "application/json", **headers}.items():
            self._handler.send_header(name, text)
        self._handler.send_header("Content-Length", str(len(content)))
        self._handler.end_headers()
        self._handler.wfile.write(content)

    def raw(self, data: bytes) -> None:
        """Bytes of the stream."""
        if not self._is_begun:
            self._is_begun = True
            self._handler.send_response(200)
            self._handler.send_header("Content-Type", "text/event-stream")
            self._handler.send_header("Transfer-Encoding", "chunked")
            self._handler.end_headers()
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self._handler.wfile.flush()

    def event(self, value: object) -> None:
        self.raw(b"data: %s\n\n" % json.dumps(value).encode())

    def delta(self, finish: str | None = None, **delta: object) -> None:
        self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def usage(self, new_tok: int, prompt_tok: int = PROMPT_TOK, **more: object) -> None:
        told = {"prompt_tokens": prompt_tok, "completion_tokens": new_tok, **more}
        self.event({"choices": [], "usage": told, "system_fingerprint": "b1"})

    def done(self) -> None:
        self.raw(b"data: [DONE]\n\n")
        self.end()

    def end(self) -> None:
        """The stream ends in good order, whatever was in it."""
        self._handler.wfile.write(b"0\r\n\r\n")
        self._handler.wfile.flush()

    def hang_up(self) -> None:
        """The connection ends in the middle of a stream."""
        self._handler.close_connection = True

    def hang(self) -> None:
        """Nothing more comes before the server is closed."""
        self.server.hanging.release()
        self.server.closing.wait()
        self.hang_up()


Behaviour = Callable[[Reply], None]


def well(reply: Reply) -> None:
    """As servers should: a role, a chunk for each token, why it ended, usage if it is wanted."""
    reply.delta(role="assistant", content="")
    for number in range(reply.most_tok):
        reply.delta(content=f" {number}")
    reply.delta("length")
    if reply.wants_usage:
        text = "".join(message["content"] for message in reply.body["messages"])
        reply.usage(reply.most_tok, prompt_tok=10 + len(text) // 4)
    reply.done()


def refusing(status: int, value: object, **headers: str) -> Behaviour:
    """Answers everything with ``status``."""
    return lambda reply: reply.status(status, value, **headers)


class FakeServer:
    """The server; a context manager.

    Attributes:
        behaviour: Answers the next requests.
        models: What ``/v1/models`` names; None for a server without that.
        bodies: Every request for an answer.
        keys: What ``Authorization`` said, of every request of any kind.
        hanging: Released once for each answer that has begun to hang.
        closing: Set when the server is closed.
    """

    def __init__(
        self, behaviour: Behaviour = well, models: Iterable[str] | None = (MODEL,)
    ) -> None:
        self.behaviour = behaviour
        self.models = None if models is None else tuple(models)
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.hanging = threading.Semaphore(0)
        self.closing = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.fake = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    fake: FakeServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients leave in the middle; that is what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_GET(self) -> None:
        fake = self.server.fake
        fake.keys.append(self.headers.get("Authorization"))
        reply = Reply(self, fake, {})
        if self.path != "/v1/models" or fake.models is None:
            reply.status(404, {"error": {"message": "Not found"}})
            return
        reply.status(200, {"data": [{"id": name, "owned_by": "fake"} for name in fake.models]})

    def do_POST(self) -> None:
        fake = self.server.fake
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake.keys.append(self.headers.get("Authorization"))
        fake.bodies.append(body)
        fake.behaviour(Reply(self, fake, body))

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""
