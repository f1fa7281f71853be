"""A server somewhere as an engine of an experiment: asked over HTTP, timed by the client's clock.

Each request has a thread, for clients block. Its events are those of the embedded engine as far as
a client can know them; what it cannot know is left out, never guessed.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Self

from app.experiments.chat_chunk import Chunk
from app.experiments.dialect import Dialect
from app.experiments.port import ConfigRefusedError, EngineGoneError, PortError, StoppedError
from app.experiments.probe_client import Line
from app.experiments.server_address import ApiKey, ServerAddress
from app.experiments.server_answer import Answer, Limits, ServedModel
from app.experiments.server_failures import NOT_FOUND, AnswerError
from app.experiments.server_flight import Flight, Told, empty_reports, finished, with_detail
from engine_bridge.protocol import (
    Applied,
    Cancel,
    ChatMessage,
    Command,
    Event,
    FinishReason,
    Forget,
    Generate,
    Hello,
    RequestFinished,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem

# A stop, and a silence that is too long, are noticed after so long at most.
_SLICE_S = 0.1
_LOOK_S = 1.0
_FOREIGN = "The settings of a server cannot be seen or changed from here."
STOPPED = "The experiment was stopped."
_REASONS: dict[str, FinishReason] = {"length": "token_limit"}


class ServerPort:
    """An ``EnginePort`` to a server; a context manager. Only ``stop`` may be called elsewhere.

    Attributes:
        address: The server.
        model: What requests call its model.
        dialect: What it takes.
        known: The models that it names, for those who name another.
        peak_bytes_per_s: 0: a client cannot know it.
        is_peak_lower_bound: False, for there is none.
    """

    def __init__(
        self,
        address: ServerAddress,
        key: ApiKey | None = None,
        limits: Limits | None = None,
        *,
        clock_ns: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """Prepare; nothing is sent yet."""
        self.address = address
        self.model = ""
        self.dialect = Dialect()
        self.known: tuple[ServedModel, ...] = ()
        self.peak_bytes_per_s = 0.0
        self.is_peak_lower_bound = False
        self._key = key or ApiKey()
        self._limits = limits or Limits()
        self._clock_ns = clock_ns
        self._numbers = itertools.count(1)
        self._told: queue.SimpleQueue[Told] = queue.SimpleQueue()
        self._flights: dict[int, Flight] = {}
        self._answers: list[Answer] = []
        self._lock = threading.Lock()
        self._idle: list[Line] = []
        self._busy: set[Line] = set()
        self._listing: Line | None = None
        self._tls: ssl.SSLContext | None = None
        self._gone = ""
        self._looked_s = time.monotonic()
        self._is_stopping = self._has_said_stop = self._is_closed = False

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Break off what is under way."""
        self.close()

    # --- What a port does ---------------------------------------------------------------

    @property
    def hello(self) -> Hello:
        """A server does not introduce itself.

        Raises:
            PortError: Always.
        """
        raise PortError(_FOREIGN)

    @property
    def pid(self) -> int:
        """Unknown to a client."""
        return 0

    @property
    def now_ns(self) -> int:
        """The time by the client's clock."""
        return self._clock_ns()

    def apply(self, config: EngineConfig) -> Applied:
        """A server keeps its own settings.

        Raises:
            ConfigRefusedError: Always.
        """
        raise ConfigRefusedError(Problem((), _FOREIGN))

    def next_id(self) -> int:
        """Count on."""
        return next(self._numbers)

    def send(self, command: Command) -> None:
        """Send a command.

        Raises:
            EngineGoneError: If the server cannot be asked any more.
            StoppedError: If it would be new work and ``stop`` was called.
            PortError: If no server has such a command.
        """
        match command:
            case Generate():
                most_tok = command.max_new_tok or 1
                body = self.dialect.body(
                    self.model, command.messages, most_tok, ignores_end=command.ignore_eog
                )
                self._start(command.request_id, body, most_tok)
            case Cancel():
                flight = self._flights.get(command.request_id)
                if flight is not None:
                    self._give_up(flight, "cancelled", "")
            case Forget():
                pass  # no server can be told to; prompts of two runs begin differently
            case _:
                raise PortError(_FOREIGN)

    def next_event(self, timeout_s: float) -> Event | None:
        """The next event in order, None if none comes in ``timeout_s``.

        Raises:
            EngineGoneError: If the server cannot be asked any more.
            StoppedError: If ``stop`` was called; once.
        """
        deadline_s = time.monotonic() + timeout_s
        while True:
            if self._is_stopping and not self._has_said_stop:
                self._refuse_work()
            now_s = time.monotonic()
            if now_s - self._looked_s > _LOOK_S:  # others may go on all the time
                self._looked_s = now_s
                self._look()
            left_s = deadline_s - now_s
            with contextlib.suppress(queue.Empty):
                told = self._told.get(timeout=max(0.0, min(left_s, _SLICE_S)))
                if told.flight is None:
                    return told.event
                if not told.flight.is_over:
                    return self._noted(told.flight, told)
                continue
            self._look()
            if self._gone and not self._flights and self._told.empty():
                self._lose()
            if left_s <= 0 and self._told.empty():
                return None

    def take_disturbances(self) -> tuple[str, ...]:
        """None that a client could see."""
        return ()

    def stop(self) -> None:
        """Make the next wait raise ``StoppedError``, and a question under way end."""
        self._is_stopping = True
        if (line := self._listing) is not None:
            line.abort()

    def close(self) -> None:
        """Break off what is under way and give the connections up."""
        self._is_closed = True
        for flight in list(self._flights.values()):
            self._give_up(flight, "cancelled", "")
        with self._lock:
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        for line in busy:
            line.abort()
        for line in idle:
            line.close()

    # --- What only a server is asked ----------------------------------------------------

    def take_answers(self) -> tuple[Answer, ...]:
        """The answers that have ended since this was asked last, whole or not."""
        answers, self._answers = tuple(self._answers), []
        return answers

    def models(self) -> tuple[ServedModel, ...] | None:
        """The models that the server names; None if it has no such list.

        Raises:
            PortError: If it cannot be asked.
            StoppedError: If ``stop`` was called.
        """
        self._refuse_if_stopping()
        line = self._listing = self._take_line()
        try:
            found = line.models()
        except AnswerError as error:
            self._refuse_if_stopping()
            raise PortError(str(error)) from None
        finally:
            self._listing = None
            self._return_line(line, is_whole=True)
        self._refuse_if_stopping()
        self.known = found or ()
        return found

    def ask_once(self, messages: Sequence[ChatMessage], most_tok: int) -> Answer:
        """Ask and wait for the whole answer, outside of a run.

        Raises:
            AnswerError: If there is none.
            StoppedError: If ``stop`` was called.
        """
        body = self.dialect.body(self.model, messages, most_tok, ignores_end=True)
        flight = self._start(self.next_id(), body, most_tok)
        try:
            while not flight.is_over:
                self.next_event(_SLICE_S)
        except StoppedError:
            self._give_up(flight, "cancelled", "")
            raise
        self.take_answers()
        self._gone = ""
        if flight.failure is not None:
            raise flight.failure
        return flight.answer

    # --- Requests -----------------------------------------------------------------------

    def _start(self, number: int, body: dict[str, Any], most_tok: int) -> Flight:
        self._refuse_if_stopping()
        if self._gone:
            self._lose()
        now_ns = self.now_ns
        flight = Flight(number, self._take_line(), now_ns, now_ns)
        self._flights[number] = flight
        threading.Thread(
            target=self._fly, args=(flight, body, most_tok), name=f"request {number}", daemon=True
        ).start()
        return flight

    def _fly(self, flight: Flight, body: dict[str, Any], most_tok: int) -> None:
        """One request, in its thread."""

        def heard(at_ns: int, chunk: Chunk) -> None:
            flight.moved_ns = at_ns
            tokens = TokensDelivered(flight.number, chunk.text, (at_ns,), (1,), at_ns)
            self._told.put(Told(flight, tokens))

        def ended() -> None:
            reason = _REASONS.get(flight.answer.finish, "end")
            detail = ""
            if flight.answer.finish == "content_filter":
                reason, detail = "failed", "The server's filter cut the answer short."
            self._told.put(Told(flight, finished(flight, reason, detail)))

        is_whole = False
        try:
            flight.line.ask(body, most_tok, flight.answer, heard, ended)
            is_whole = True
        except AnswerError as error:
            self._told.put(Told(flight, finished(flight, "failed", str(error)), error))
        finally:
            self._return_line(flight.line, is_whole=is_whole)

    def _noted(self, flight: Flight, told: Told) -> Event:
        if isinstance(told.event, RequestFinished):
            self._end(flight, told.failure)
            if flight.failure is not None and flight.failure.is_final:
                self._gone = str(flight.failure)
                return with_detail(told.event, self._gone)
        return told.event

    def _end(self, flight: Flight, failure: AnswerError | None) -> None:
        flight.is_over = True
        self._flights.pop(flight.number, None)
        self._report_nothing()
        self._answers.append(flight.answer)
        if failure is not None and failure.status == NOT_FOUND and self.known:
            names = ", ".join(model.name for model in self.known)
            failure = AnswerError(f"{failure} Its models are: {names}.", status=NOT_FOUND,
                                  is_final=True)  # fmt: skip
        flight.failure = failure

    def _report_nothing(self) -> None:
        """Whoever plays a run waits for the engine's reports; a server has none."""
        for event in empty_reports(self.now_ns):
            self._told.put(Told(None, event))

    def _give_up(self, flight: Flight, reason: FinishReason, detail: str) -> None:
        """End a request that has no answer yet; what its thread still says is not heard."""
        flight.line.abort()
        failure = AnswerError(detail, is_final=True) if detail else None
        self._end(flight, failure)
        self._told.put(Told(None, finished(flight, reason, detail)))

    def _look(self) -> None:
        """Give up what has been silent for too long."""
        now_ns = self.now_ns
        for flight in list(self._flights.values()):
            has_token = bool(flight.answer.step_ns)
            limit_s = self._limits.gap_s if has_token else self._limits.first_s
            if now_ns - flight.moved_ns > limit_s * 1e9:
                what = "no further token" if has_token else "no token"
                self._gone = (
                    f"{self.address.place} has sent {what} for {limit_s:g} s; it hangs, or has "
                    "too much to do."
                )
                self._give_up(flight, "failed", self._gone)

    # --- Lines and ends -----------------------------------------------------------------

    def _take_line(self) -> Line:
        with self._lock:
            line = self._idle.pop() if self._idle else None
            if line is None:
                if self.address.is_encrypted and self._tls is None:
                    self._tls = ssl.create_default_context()
                line = Line(
                    self.address, self._key, self._limits, clock_ns=self._clock_ns, tls=self._tls
                )
            self._busy.add(line)
        return line

    def _return_line(self, line: Line, *, is_whole: bool) -> None:
        """Called by the thread that used it."""
        with self._lock:
            self._busy.discard(line)
            is_kept = is_whole and not self._is_closed and not line.is_aborted
            if is_kept:
                self._idle.append(line)
        if not is_kept:
            line.close()

    def _lose(self) -> NoReturn:
        for flight in list(self._flights.values()):
            self._give_up(flight, "failed", self._gone)
        raise EngineGoneError(self._gone)

    def _refuse_if_stopping(self) -> None:
        if self._is_stopping:
            self._refuse_work()

    def _refuse_work(self) -> None:
        self._has_said_stop = True
        raise StoppedError(STOPPED)
