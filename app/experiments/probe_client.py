"""A connection to an OpenAI-compatible server, through the ``openai`` client.

The client builds, sends and checks requests; the bytes of an answer are taken apart here, so that
each chunk has the time at which it arrived and anything a server sends is borne.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpx2
import msgspec
import openai

from app.experiments.chat_chunk import Chunk, chunk_of, shown
from app.experiments.event_stream import EventStream
from app.experiments.server_address import ApiKey, ServerAddress
from app.experiments.server_answer import Answer, Limits, ServedModel
from app.experiments.server_failures import CONNECT_S, AnswerError, failure_of

# Servers say so many things about models that nobody would read more.
_MOST_MODELS = 50
_LIST_S = 20.0
# Servers close an idle connection after five seconds or later.
_KEPT_S = 4.0
# What may follow the mark of the end; more is not waited for.
_LEFT_BYTES = 1 << 16
# Some servers count thoughts or the end apart; beyond this a limit is not kept.
_SPARE_CHUNKS = 32
_BEGINNINGS = ("connection.connect_tcp.started", "http11.send_request_headers.started")
_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")

Heard = Callable[[int, Chunk], None]
"""Is told of each chunk that brings output, and when it arrived (ns)."""


class Line:
    """One connection at a time, used by one thread; only ``abort`` may be called from others."""

    def __init__(
        self,
        address: ServerAddress,
        key: ApiKey,
        limits: Limits,
        *,
        clock_ns: Callable[[], int] = time.perf_counter_ns,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            address: The server.
            key: Shown to it if there is one.
            limits: How long it may be silent.
            clock_ns: Stamps what arrives.
            tls: Checks certificates; shared between lines, for it is dear to make.
        """
        self._address = address
        self._key = key
        self._clock_ns = clock_ns
        self._sent_ns = 0
        self._socket: socket.socket | None = None
        self._is_aborted = False
        # What waits longer is ended from outside, which sees tokens and not only bytes.
        patience_s = 2 * max(limits.first_s, limits.gap_s)
        http = openai.DefaultHttpx2Client(
            timeout=httpx2.Timeout(patience_s, connect=CONNECT_S),
            limits=httpx2.Limits(max_connections=1, keepalive_expiry=_KEPT_S),
            trust_env=not address.is_loopback,
            follow_redirects=False,  # to wherever it leads the key would go too
            verify=tls if tls is not None else address.is_encrypted,
            event_hooks={"request": [self._on_request]},
        )
        self._client = openai.OpenAI(
            api_key=key.value or "none",
            base_url=address.base_url,
            max_retries=0,  # a request that was sent twice has no TTFT
            http_client=http,
        )
        self._client.organization = self._client.project = None  # of another server's

    def models(self) -> tuple[ServedModel, ...] | None:
        """What the server says it has; None if it has no such list.

        Raises:
            AnswerError: If it cannot be asked.
        """
        try:
            patience = httpx2.Timeout(_LIST_S, connect=CONNECT_S)
            response = self._client.get(
                "/models", cast_to=httpx2.Response, options={"timeout": patience}
            )
            return _models_in(response.content)
        except Exception as error:
            failure = failure_of(error, self._address, self._key)
            if failure.status and failure.status not in (401, 403) and failure.status >= 400:
                return None
            raise failure from None

    def ask(
        self,
        body: dict[str, Any],
        most_tok: int,
        answer: Answer,
        heard: Heard,
        ended: Callable[[], None],
    ) -> None:
        """Send a request and take its answer.

        Args:
            body: The request, without what makes it a stream.
            most_tok: Tokens that it asks for; an answer is cut some chunks beyond.
            answer: Filled as the answer comes.
            heard: Told of each chunk with output.
            ended: Called where the answer is whole; the connection may be read on after that.

        Raises:
            AnswerError: If there is no whole answer; ``answer`` holds what came.
        """
        self._sent_ns = 0
        try:
            create = self._client.chat.completions.with_streaming_response.create
            with create(stream=True, **body) as response:
                answer.sent_ns = self._sent_ns
                _refuse_other_than_stream(response.headers.get("content-type", ""))
                self._take(response.iter_bytes(), most_tok, answer, heard, ended)
        except Exception as error:  # a fault in here ends one request, not the program
            answer.sent_ns = answer.sent_ns or self._sent_ns
            raise failure_of(error, self._address, self._key) from None

    @property
    def is_aborted(self) -> bool:
        """Whether it is of no use any more."""
        return self._is_aborted

    def abort(self) -> None:
        """End what is under way and all that follows, from any thread."""
        self._is_aborted = True
        self._shut_down()

    def close(self) -> None:
        """Give the connection up; by the thread that uses it, or when none does."""
        self._client.close()

    # --- Inside -------------------------------------------------------------------------

    def _take(
        self,
        received: Iterable[bytes],
        most_tok: int,
        answer: Answer,
        heard: Heard,
        ended: Callable[[], None],
    ) -> None:
        stream, parts = EventStream(), iter(received)
        for part in parts:
            is_over = _folded(stream.feed(part), self._clock_ns(), answer, heard)
            if len(answer.step_ns) > most_tok + _SPARE_CHUNKS:
                raise AnswerError(
                    f"The server went on beyond the {most_tok:,} tokens that were asked for; the "
                    "answer was cut there."
                )
            if is_over:
                ended()
                _read_out(parts)
                return
        if not _folded(stream.end(), self._clock_ns(), answer, heard) and not answer.finish:
            raise AnswerError("The stream ended before the answer had.")
        ended()

    def _on_request(self, request: httpx2.Request) -> None:
        request.extensions["trace"] = self._on_trace
        if not self._key.value:  # the client insists on one
            request.headers.pop("Authorization", None)

    def _on_trace(self, name: str, told: dict[str, Any]) -> None:
        if name in _BEGINNINGS and not self._sent_ns:
            self._sent_ns = self._clock_ns()
        elif name in _CONNECTED:
            self._socket = told["return_value"].get_extra_info("socket")
            if self._is_aborted:
                self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):  # it has ended by itself
                self._socket.shutdown(socket.SHUT_RDWR)


def _folded(events: Sequence[bytes], at_ns: int, answer: Answer, heard: Heard) -> bool:
    """Put ``events`` into ``answer``; True at the mark of the end."""
    for data in events:
        if data.strip() == b"[DONE]":
            answer.has_end_mark = True
            return True
        chunk = chunk_of(data)
        answer.finish = chunk.finish or answer.finish
        answer.usage = chunk.usage or answer.usage
        answer.timings = chunk.timings or answer.timings
        answer.build = chunk.build or answer.build
        if chunk.is_output:
            answer.step_ns.append(at_ns)
            answer.thought_chunks += chunk.is_thought
            heard(at_ns, chunk)
    return False


def _read_out(parts: Iterable[bytes]) -> None:
    """Read what is left behind the end, so that the connection can be used again."""
    left_bytes = _LEFT_BYTES
    for part in parts:
        left_bytes -= len(part)
        if left_bytes < 0:
            return


def _refuse_other_than_stream(content_type: str) -> None:
    kind = content_type.partition(";")[0].strip().lower()
    if "json" in kind or "html" in kind:
        raise AnswerError(
            f"The server does not stream its answers (it sent {shown(kind)}), so there are no "
            "times to measure.",
            is_final=True,
        )


def _models_in(content: bytes) -> tuple[ServedModel, ...] | None:
    try:
        listed = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return None
    rows = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(rows, list):
        return None
    return tuple(
        ServedModel(
            row["id"], shown(owner) if isinstance(owner := row.get("owned_by"), str) else ""
        )
        for row in rows[:_MOST_MODELS]
        if isinstance(row, dict) and isinstance(row.get("id"), str) and row["id"].isprintable()
    )
