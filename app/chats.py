"""The conversations of the desk and their requests to the engine.

Holds no widget. Keeps every word through the death of the engine, and measures each answer from the
press of Enter to the paint of its first character.
"""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.conversation import Conversation
from engine_bridge.client import EngineClient
from engine_bridge.protocol import (
    Cancel,
    ChatMessage,
    Event,
    Forget,
    Generate,
    Refused,
    RequestFinished,
    RequestQueued,
    RequestStarted,
    TokensDelivered,
)

# Request numbers of chats begin here, so that they never meet those of loads.
_FIRST_REQUEST = 1_000_000


@dataclass
class Request:
    """One answer on its way.

    Attributes:
        number: ``request_id`` of the protocol.
        conversation: Whose answer it is.
        sent_ns: When the user pressed Enter.
        first_token_ns: When the engine had the first token, 0 before.
        arrived_ns: When its text arrived here, 0 before.
        painted_ns: When it was painted, 0 before.
    """

    number: int
    conversation: Conversation
    sent_ns: int
    first_token_ns: int = 0
    arrived_ns: int = 0
    painted_ns: int = 0


class Chats(QObject):
    """All open conversations.

    Signals:
        answer_opened: Conversation id: an answer begins (or goes on).
        answer_queued: Conversation id, position in the queue.
        answer_started: Conversation id, the ``RequestStarted``.
        text_arrived: Conversation id, text.
        answer_finished: Conversation id, the ``RequestFinished``, the ``Request``.
        answer_failed: Conversation id, a sentence; the words said so far are kept.
        answer_refused: Conversation id, the ``Problem``: the engine would not begin with it.
        title_changed: Conversation id, title.
        request_sent: Number of the request, when Enter was pressed (ns).
        request_painted: Number of the request, when its first text was painted (ns).
    """

    answer_opened = Signal(str)
    answer_queued = Signal(str, int)
    answer_started = Signal(str, object)
    text_arrived = Signal(str, str)
    answer_finished = Signal(str, object, object)
    answer_failed = Signal(str, str)
    answer_refused = Signal(str, object)
    title_changed = Signal(str, str)
    request_sent = Signal(int, object)
    request_painted = Signal(int, object)

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        """Begin without a conversation."""
        super().__init__(parent)
        self._client = client
        self._conversations: dict[str, Conversation] = {}
        self._requests: dict[int, Request] = {}
        self._request_numbers = itertools.count(_FIRST_REQUEST)
        self._chat_numbers = itertools.count(1)
        self.is_completion = False
        self._handlers: dict[type, Callable[[Request, Event], None]] = {
            RequestQueued: self._on_queued,
            RequestStarted: self._on_started,
            TokensDelivered: self._on_tokens,
            RequestFinished: self._on_finished,
            Refused: self._on_refused,
        }
        client.event_received.connect(self._on_event_received)
        client.engine_died.connect(self._on_engine_died)

    # --- Conversations ------------------------------------------------------------------

    def open(self) -> Conversation:
        """Begin a conversation."""
        conversation = Conversation(uuid.uuid4().hex, next(self._chat_numbers))
        self._conversations[conversation.id] = conversation
        return conversation

    def close(self, conversation_id: str) -> None:
        """End a conversation; its request is cancelled and its slot given back.

        What the engine still says of that request is for nobody.
        """
        self.stop(conversation_id)
        self._requests = {
            number: request
            for number, request in self._requests.items()
            if request.conversation.id != conversation_id
        }
        if self._conversations.pop(conversation_id, None) is not None:
            self._client.send(Forget(conversation_id))

    def conversation(self, conversation_id: str) -> Conversation:
        """The conversation of that id.

        Raises:
            KeyError: If there is none.
        """
        return self._conversations[conversation_id]

    def conversations(self) -> tuple[Conversation, ...]:
        """All conversations, oldest first."""
        return tuple(self._conversations.values())

    def answering_count(self) -> int:
        """Answers under way, waiting ones included."""
        return len(self._requests)

    # --- What the user does -------------------------------------------------------------

    def send(self, conversation_id: str, text: str, sent_ns: int | None = None) -> None:
        """Say ``text``; ``sent_ns`` is when Enter was pressed, now by default."""
        conversation = self._conversations[conversation_id]
        if conversation.is_answering:
            return
        title = conversation.title
        conversation.ask(text)
        if conversation.title != title:
            self.title_changed.emit(conversation_id, conversation.title)
        self._request(conversation, sent_ns or time.perf_counter_ns(), is_continuing=False)

    def go_on(self, conversation_id: str) -> None:
        """Continue an answer that was cut short, or repeat one that brought nothing."""
        conversation = self._conversations[conversation_id]
        if conversation.is_answering or not conversation.turns:
            return
        conversation.drop_empty_answer()
        is_continuing = conversation.turns[-1].role == "assistant"
        conversation.open_answer()
        self._request(conversation, time.perf_counter_ns(), is_continuing=is_continuing)

    def stop(self, conversation_id: str) -> None:
        """Cancel the answer under way; what it said stays."""
        for request in self._requests.values():
            if request.conversation.id == conversation_id:
                self._client.send(Cancel(request.number))

    def note_painted(self, conversation_id: str, painted_ns: int) -> None:
        """The first text of the answer under way was painted."""
        for request in self._requests.values():
            if request.conversation.id == conversation_id and not request.painted_ns:
                request.painted_ns = painted_ns
                self.request_painted.emit(request.number, painted_ns)

    # --- Inside -------------------------------------------------------------------------

    def _request(self, conversation: Conversation, sent_ns: int, *, is_continuing: bool) -> None:
        request = Request(next(self._request_numbers), conversation, sent_ns)
        self._requests[request.number] = request
        self.request_sent.emit(request.number, sent_ns)
        self.answer_opened.emit(conversation.id)
        messages: tuple[ChatMessage, ...] = (
            conversation.to_completion() if self.is_completion else conversation.to_messages()
        )
        sent = self._client.send(
            Generate(
                request.number,
                conversation.id,
                messages,
                as_completion=self.is_completion,
                continue_answer=is_continuing and not self.is_completion,
                sent_ns=sent_ns,
            )
        )
        if not sent:
            self._fail(request, "The engine is not running. Restart it; your text is kept.")

    def _on_event_received(self, event: Event) -> None:
        handler = self._handlers.get(type(event))
        number = getattr(event, "request_id", None)
        if handler is None or number is None:
            return
        request = self._requests.get(number)
        if request is not None:
            handler(request, event)

    def _on_queued(self, request: Request, event: Event) -> None:
        assert isinstance(event, RequestQueued)
        self.answer_queued.emit(request.conversation.id, event.position)

    def _on_started(self, request: Request, event: Event) -> None:
        self.answer_started.emit(request.conversation.id, event)

    def _on_tokens(self, request: Request, event: Event) -> None:
        assert isinstance(event, TokensDelivered)
        if not request.first_token_ns and event.step_ns:
            request.first_token_ns = event.step_ns[0]
        if event.text:
            request.arrived_ns = request.arrived_ns or time.perf_counter_ns()
            request.conversation.append(event.text)
            self.text_arrived.emit(request.conversation.id, event.text)

    def _on_finished(self, request: Request, event: Event) -> None:
        assert isinstance(event, RequestFinished)
        del self._requests[request.number]
        request.conversation.finish(event.reason)
        self.answer_finished.emit(request.conversation.id, event, request)

    def _on_refused(self, request: Request, event: Event) -> None:
        assert isinstance(event, Refused)
        if event.command == "generate":
            del self._requests[request.number]
            request.conversation.finish("cancelled" if event.is_cancelled else "failed")
            self.answer_refused.emit(request.conversation.id, event.problem)

    def _fail(self, request: Request, sentence: str) -> None:
        del self._requests[request.number]
        request.conversation.finish("failed")
        self.answer_failed.emit(request.conversation.id, sentence)

    def _on_engine_died(self, _: object) -> None:
        for request in list(self._requests.values()):
            self._fail(request, "The engine ended during this answer. What it said is kept.")
