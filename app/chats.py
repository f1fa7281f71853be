"""The conversations of the desk and their requests to the engine.

Holds no widget. Keeps every word through the death of the engine, and measures each answer from the
press of Enter to the paint of its first character.
"""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.conversation import Conversation, sayable
from app.figures import answer_figures, end_text
from app.request import Request, TurnEnd
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
_ENDED = "The engine ended during this answer. What it said is kept."
_QUIT = "You closed the program during this answer."


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
        branch_changed: Conversation id: other turns than before are shown, up to a new answer.
        conversation_touched: Conversation id: something to be stored has changed, text included.
        conversation_closed: Conversation id: it is no longer on the desk.
        request_sent: Number of the request, when Enter was pressed (ns).
        request_painted: Number of the request, when its first text came here, and when that was
            painted (ns).
    """

    answer_opened = Signal(str)
    answer_queued = Signal(str, int)
    answer_started = Signal(str, object)
    text_arrived = Signal(str, str)
    answer_finished = Signal(str, object, object)
    answer_failed = Signal(str, str)
    answer_refused = Signal(str, object)
    title_changed = Signal(str, str)
    branch_changed = Signal(str)
    conversation_touched = Signal(str)
    conversation_closed = Signal(str)
    request_sent = Signal(int, object)
    request_painted = Signal(int, object, object)

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        """Begin without a conversation.

        The attributes ``is_completion`` and ``model_name`` follow the loaded model; whoever knows
        it sets them.
        """
        super().__init__(parent)
        self._client = client
        self._conversations: dict[str, Conversation] = {}
        self._requests: dict[int, Request] = {}
        self._request_numbers = itertools.count(_FIRST_REQUEST)
        self._chat_numbers = itertools.count(1)
        self.is_completion = False
        self.model_name = ""
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

    def adopt(self, conversation: Conversation) -> None:
        """Take up a stored conversation; one that is open already stays as it is.

        An answer that was under way when it was stored is over: what it said can be gone on with.
        """
        if conversation.id in self._conversations:
            return
        self._conversations[conversation.id] = conversation
        if conversation.is_answering:
            conversation.finish("failed", note="The program ended during this answer.")
            self.conversation_touched.emit(conversation.id)

    def rename(self, conversation_id: str, name: str) -> None:
        """Give a conversation a title of its own; an empty one takes its first words again."""
        conversation = self._conversations[conversation_id]
        conversation.name = " ".join(sayable(name).split())
        self.title_changed.emit(conversation_id, conversation.title)
        self.conversation_touched.emit(conversation_id)

    def set_system_prompt(self, conversation_id: str, text: str) -> None:
        """Send ``text`` first from now on."""
        conversation, text = self._conversations[conversation_id], sayable(text)
        if conversation.system_prompt != text:
            conversation.system_prompt = text
            self.conversation_touched.emit(conversation_id)

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
        conversation = self._conversations.get(conversation_id)
        if conversation is None:
            return
        if conversation.is_answering:
            conversation.finish("cancelled")
            self.conversation_touched.emit(conversation_id)
        del self._conversations[conversation_id]
        self._client.send(Forget(conversation_id))
        self.conversation_closed.emit(conversation_id)

    def conversation(self, conversation_id: str) -> Conversation:
        """The conversation of that id.

        Raises:
            KeyError: If there is none.
        """
        return self._conversations[conversation_id]

    def conversations(self) -> tuple[Conversation, ...]:
        """All conversations, oldest first."""
        return tuple(self._conversations.values())

    def has_begun(self, conversation_id: str) -> bool:
        """Whether the answer under way has brought a token, said or not."""
        return any(
            request.first_token_ns
            for request in self._requests.values()
            if request.conversation.id == conversation_id
        )

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
        conversation.ask(text, self.model_name)
        self._tell_title(conversation, title)
        self._request(conversation, sent_ns or time.perf_counter_ns(), is_continuing=False)

    def answer_again(self, conversation_id: str, turn_id: int) -> None:
        """Ask for another answer beside the answer ``turn_id``."""
        conversation = self._conversations[conversation_id]
        if conversation.is_answering or turn_id not in conversation.tree:
            return
        conversation.answer_again(turn_id, self.model_name)
        self.branch_changed.emit(conversation_id)
        self._request(conversation, time.perf_counter_ns(), is_continuing=False)

    def ask_instead(
        self, conversation_id: str, turn_id: int, text: str, sent_ns: int | None = None
    ) -> None:
        """Say ``text`` in the place of the question ``turn_id``, as another branch."""
        conversation = self._conversations[conversation_id]
        if conversation.is_answering or turn_id not in conversation.tree:
            return
        title = conversation.title
        conversation.ask_instead(turn_id, text, self.model_name)
        self.branch_changed.emit(conversation_id)
        self._tell_title(conversation, title)
        self._request(conversation, sent_ns or time.perf_counter_ns(), is_continuing=False)

    def choose(self, conversation_id: str, turn_id: int) -> None:
        """Show the branch that goes through ``turn_id``; nothing while an answer is under way."""
        conversation = self._conversations[conversation_id]
        if conversation.is_answering or turn_id not in conversation.tree:
            return
        title = conversation.title
        conversation.choose(turn_id)
        self.branch_changed.emit(conversation_id)
        self._tell_title(conversation, title)
        self.conversation_touched.emit(conversation_id)

    def take_back(self, conversation_id: str) -> str:
        """Take the last question out, as ``Conversation.take_back`` does.

        Returns:
            The question if it went, else nothing.
        """
        conversation = self._conversations[conversation_id]
        title = conversation.title
        question = conversation.take_back()
        self.branch_changed.emit(conversation_id)
        self._tell_title(conversation, title)
        self.conversation_touched.emit(conversation_id)
        return question

    def go_on(self, conversation_id: str) -> None:
        """Continue an answer that was cut short, or repeat one that brought nothing."""
        conversation = self._conversations[conversation_id]
        if conversation.is_answering or not conversation.turns:
            return
        conversation.drop_empty_answer()
        last = conversation.turns[-1]
        before = None
        if last.role == "assistant":
            before = (last.end, last.figures, last.note, last.details)
        conversation.open_answer(self.model_name)
        self._request(
            conversation, time.perf_counter_ns(), is_continuing=before is not None,
            end_before=before or Request.end_before,
        )  # fmt: skip

    def stop(self, conversation_id: str) -> None:
        """Cancel the answer under way; what it said stays."""
        for request in self._requests.values():
            if request.conversation.id == conversation_id:
                self._client.send(Cancel(request.number))

    def end_all(self) -> None:
        """The user closes the program: answers under way are over, and their note says why."""
        for request in self._requests.values():
            request.conversation.finish("cancelled", note=_QUIT)
            self.conversation_touched.emit(request.conversation.id)
        self._requests.clear()  # what the engine still says is for nobody

    def give_up_all(self, sentence: str) -> None:
        """The engine goes away: answers under way are over, and what they said so far stays."""
        for request in list(self._requests.values()):
            self._fail(request, sentence)

    def note_painted(self, conversation_id: str, painted_ns: int) -> None:
        """The first text of the answer under way was painted."""
        for request in self._requests.values():
            if request.conversation.id == conversation_id and not request.painted_ns:
                request.painted_ns = painted_ns
                self.request_painted.emit(request.number, request.arrived_ns, painted_ns)

    # --- Inside -------------------------------------------------------------------------

    def _request(
        self,
        conversation: Conversation,
        sent_ns: int,
        *,
        is_continuing: bool,
        end_before: TurnEnd = Request.end_before,
    ) -> None:
        request = Request(next(self._request_numbers), conversation, sent_ns, is_continuing)
        request.end_before = end_before
        if conversation.last is not None:
            request.thought_before_tok = conversation.last.think_tok
            conversation.last.is_completion = self.is_completion
        self._requests[request.number] = request
        if len(self._requests) > 1:
            for each in self._requests.values():
                each.is_alone = False
        self.request_sent.emit(request.number, sent_ns)
        self.answer_opened.emit(conversation.id)
        self.conversation_touched.emit(conversation.id)
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
            # That the engine is not there says nothing of how the answer had ended.
            request.conversation.finish(*request.end_before)
            self._fail(request, f"{self._client.refusal} Your text is kept.")

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
        assert isinstance(event, RequestStarted)
        last = request.conversation.last
        if last is not None and not request.is_continuing:
            last.starts_in_thought = event.starts_in_thought
        self.answer_started.emit(request.conversation.id, event)

    def _on_tokens(self, request: Request, event: Event) -> None:
        assert isinstance(event, TokensDelivered)
        if not request.first_token_ns and event.step_ns:
            request.first_token_ns = event.step_ns[0]
        request.steps += len(event.step_ns)
        self._note_thought(request, event.think_tok)
        if event.text:
            request.arrived_ns = request.arrived_ns or time.perf_counter_ns()
            request.conversation.append(event.text)
            self.text_arrived.emit(request.conversation.id, event.text)
            self.conversation_touched.emit(request.conversation.id)

    def _on_finished(self, request: Request, event: Event) -> None:
        assert isinstance(event, RequestFinished)
        del self._requests[request.number]
        note, _ = end_text(event)
        self._note_thought(request, event.timing.think_tok)
        request.conversation.finish(
            event.reason, answer_figures(event.timing), note or "", request.details(event)
        )
        self.answer_finished.emit(request.conversation.id, event, request)
        self.conversation_touched.emit(request.conversation.id)

    def _note_thought(self, request: Request, think_tok: int) -> None:
        last = request.conversation.last
        if last is not None and think_tok:
            last.think_tok = request.thought_before_tok + think_tok

    def _on_refused(self, request: Request, event: Event) -> None:
        assert isinstance(event, Refused)
        if event.command == "generate":
            del self._requests[request.number]
            reason = "cancelled" if event.is_cancelled else "failed"
            request.conversation.finish(reason, note=event.problem.message)
            self.answer_refused.emit(request.conversation.id, event.problem)
            self.conversation_touched.emit(request.conversation.id)

    def _fail(self, request: Request, sentence: str) -> None:
        del self._requests[request.number]
        request.conversation.finish("failed", note=sentence)
        self.answer_failed.emit(request.conversation.id, sentence)
        self.conversation_touched.emit(request.conversation.id)

    def _tell_title(self, conversation: Conversation, before: str) -> None:
        if conversation.title != before:
            self.title_changed.emit(conversation.id, conversation.title)

    def _on_engine_died(self, _: object) -> None:
        self.give_up_all(_ENDED)
