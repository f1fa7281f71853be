"""Between the conversations and their tabs."""

from __future__ import annotations

import time
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.attaching import Attaching
from app.chats import Chats
from app.context_wiring import ContextWiring
from app.conversation import Conversation
from app.desk import Desk
from app.figures import answer_figures, end_text
from app.link_asking import ask_to_open
from app.reading import Reading
from app.request import Request
from app.retrying import Retrying
from app.shifts import Shifts
from app.storage.conversation_export import to_markdown
from app.turn_records import branch_of, records_of
from app.turn_words import details_of
from engine_bridge.protocol import Applied, RequestFinished, RequestStarted
from engine_bridge.settings.rules import Problem, repair_words
from widgets.attached_text import Attached
from widgets.chat_tabs import ChatTabs
from widgets.chat_view import ChatView
from widgets.message_record import Record

_COMPLETION_NOTE = (
    "This is a base model without a chat template: it continues your text instead of answering it."
)

_WAITS = "This answer goes on as soon as the engine has its model again."
_NO_MODEL = "Load a model first: Ctrl+O opens a file."


class ChatWiring(QObject):
    """Moves words both ways between ``Chats`` and ``ChatTabs``.

    Signals:
        model_dropped: Path of a model file that was dropped on a conversation.
        engine_wanted: The engine is not running, and an answer waits for it.
    """

    model_dropped = Signal(str)
    engine_wanted = Signal()

    def __init__(self, desk: Desk, tabs: ChatTabs, parent: QObject) -> None:
        """Connect ``tabs`` to the conversations of ``desk`` and open the first one."""
        super().__init__(parent)
        self._desk = desk
        self._chats: Chats = desk.chats
        self._tabs = tabs
        self.context = ContextWiring(desk, self)
        self._reading = Reading(desk, self)
        shifts = Shifts(desk.client, desk.chats, self)
        shifts.dropped.connect(self._on_dropped)
        self._attaching = Attaching(self, desk.last_folder)
        self._attaching.model_dropped.connect(self.model_dropped)
        self._repairs: dict[str, Problem] = {}
        self._no_engine_reason: str | None = _NO_MODEL
        chats = self._chats
        chats.answer_opened.connect(self._on_answer_opened)
        chats.answer_queued.connect(self._on_answer_queued)
        chats.answer_started.connect(self._on_answer_started)
        chats.text_arrived.connect(self._on_text_arrived)
        chats.answer_finished.connect(self._on_answer_finished)
        chats.answer_failed.connect(self._on_answer_failed)
        chats.answer_refused.connect(self._on_answer_refused)
        chats.title_changed.connect(self._on_title_changed)
        chats.branch_changed.connect(self._on_branch_changed)
        tabs.conversation_opened.connect(self.open_conversation)
        tabs.conversation_closed.connect(self._on_conversation_closed)
        desk.session.applied_changed.connect(self._on_applied_changed)
        desk.session.work_changed.connect(self._on_work_changed)
        desk.client.engine_died.connect(self._on_engine_died)
        desk.engine_said_hello.connect(self._on_engine_said_hello)
        self._retrying = Retrying(desk, lambda: self._no_engine_reason is None, self)
        self._retrying.engine_wanted.connect(self.engine_wanted)
        self._retrying.waiting_began.connect(self._on_waiting_began)
        self._retrying.given_up.connect(self._on_given_up)
        self.open_conversation()

    def open_conversation(self) -> str:
        """Begin a conversation in a tab of its own.

        Returns:
            Its id.
        """
        conversation = self._chats.open()
        self._add_view(conversation)
        return conversation.id

    def adopt(self, conversation: Conversation) -> None:
        """Show a stored conversation in a tab; one that is open already comes to the front.

        An untouched new conversation makes room for it.
        """
        if conversation.id in self._tabs.conversation_ids():
            self._tabs.set_current(conversation.id)
            return
        untouched = [name for name in self._tabs.conversation_ids() if self._is_untouched(name)]
        self._chats.adopt(conversation)
        view = self._add_view(conversation)
        view.set_system_prompt(conversation.system_prompt)
        view.show_turns(self._records(conversation))
        self._offer_continue(conversation)
        for name in untouched:
            self._on_conversation_closed(name)

    def _is_untouched(self, conversation_id: str) -> bool:
        conversation = self._chats.conversation(conversation_id)
        view = self._tabs.conversation(conversation_id)
        return not (conversation.tree or conversation.name or view.draft() or view.system_prompt())

    def _add_view(self, conversation: Conversation) -> ChatView:
        name = conversation.id
        chats = self._chats
        self._tabs.add_conversation(name, conversation.title)
        view = self._tabs.conversation(name)
        view.sent.connect(partial(self._on_sent, name))
        view.stop_requested.connect(partial(chats.stop, name))
        view.continue_requested.connect(partial(self._retrying.go_on, name))
        view.retry_requested.connect(partial(self._retrying.go_on, name))
        view.repair_requested.connect(partial(self._on_repair_requested, name))
        view.first_painted.connect(partial(chats.note_painted, name))
        view.link_activated.connect(partial(ask_to_open, self._tabs.window()))
        view.again_requested.connect(partial(self._on_again_requested, name))
        view.edit_sent.connect(partial(self._on_edit_sent, name))
        view.branch_requested.connect(partial(self._on_branch_requested, name))
        view.system_prompt_changed.connect(partial(self._on_system_prompt_changed, name))
        view.conversation_copy_requested.connect(partial(self.copy_conversation, name))
        view.attach_requested.connect(partial(self._attaching.ask, view))
        view.files_dropped.connect(partial(self._attaching.attach, view))
        self.context.watch(name, view)
        self._reading.watch(name, view)
        self._dress(name, view)
        return view

    def _dress(self, conversation_id: str, view: ChatView) -> None:
        applied = self._desk.session.applied
        view.set_enabled_reason(self._no_engine_reason)
        if applied is not None and applied.model is not None:
            is_completion = not applied.model.chat_template
            view.set_mode(is_completion, _COMPLETION_NOTE if is_completion else "")
            self.context.show(conversation_id)

    def copy_conversation(self, conversation_id: str) -> None:
        """Put the branch that is shown on the clipboard, as Markdown."""
        conversation = self._chats.conversation(conversation_id)
        QGuiApplication.clipboard().setText(to_markdown(conversation))

    def _records(self, conversation: Conversation) -> list[Record]:
        return records_of(conversation, is_completion=self._chats.is_completion)

    def _views(self) -> list[tuple[str, ChatView]]:
        return [(c.id, self._tabs.conversation(c.id)) for c in self._chats.conversations()]

    # --- What the user does -------------------------------------------------------------

    def _on_sent(self, conversation_id: str, text: str) -> None:
        sent_ns = time.perf_counter_ns()
        self._chats.send(conversation_id, text, sent_ns)

    def _on_again_requested(self, conversation_id: str, turn_id: int) -> None:
        self._chats.answer_again(conversation_id, turn_id)

    def _on_edit_sent(self, conversation_id: str, turn_id: int, text: str) -> None:
        sent_ns = time.perf_counter_ns()
        self._chats.ask_instead(conversation_id, turn_id, text, sent_ns)

    def _on_branch_requested(self, conversation_id: str, turn_id: int, step: int) -> None:
        siblings = self._chats.conversation(conversation_id).siblings(turn_id)
        place = siblings.index(turn_id) + step
        if 0 <= place < len(siblings):
            self._chats.choose(conversation_id, siblings[place])

    def _on_system_prompt_changed(self, conversation_id: str) -> None:
        if not self._chats.is_completion:  # a base model takes none; what was written stays
            view = self._tabs.conversation(conversation_id)
            self._chats.set_system_prompt(conversation_id, view.system_prompt())

    # --- What the engine says -----------------------------------------------------------

    def _on_branch_changed(self, conversation_id: str) -> None:
        conversation = self._chats.conversation(conversation_id)
        is_chosen = not conversation.is_answering
        view = self._tabs.conversation(conversation_id)
        view.show_turns(self._records(conversation), stays=is_chosen)
        if is_chosen:
            self._offer_continue(conversation)

    def _on_answer_opened(self, conversation_id: str) -> None:
        conversation = self._chats.conversation(conversation_id)
        view = self._tabs.conversation(conversation_id)
        answer = conversation.turns[-1]
        if not answer.text:  # the question is new
            view.show_turns(self._records(conversation))
        view.begin_answer(answer.model or "Model", branch_of(conversation, answer.id))
        self._tabs.set_streaming(conversation_id, True)

    def _on_answer_queued(self, conversation_id: str, position: int) -> None:
        self._tabs.conversation(conversation_id).set_queued(position)

    def _on_answer_started(self, conversation_id: str, _: RequestStarted) -> None:
        view = self._tabs.conversation(conversation_id)
        view.set_queued(None)
        if self._chats.conversation(conversation_id).turns[-1].starts_in_thought:
            view.rows.start_in_thought()

    def _on_text_arrived(self, conversation_id: str, text: str) -> None:
        view = self._tabs.conversation(conversation_id)
        view.append_text(text)
        last = self._chats.conversation(conversation_id).last
        if last is not None and last.think_tok:
            view.rows.set_think_tok(last.think_tok)

    def _on_answer_finished(self, conversation_id: str, event: RequestFinished, _: Request) -> None:
        view = self._tabs.conversation(conversation_id)
        words, is_warning = end_text(event)
        conversation = self._chats.conversation(conversation_id)
        view.finish_answer(answer_figures(event.timing), words, is_warning)
        last = conversation.last
        if last is not None and last.details is not None:
            view.rows.set_details(details_of(last.details))
        if last is not None and last.think_tok:
            view.rows.set_think_tok(last.think_tok)
        self._offer_continue(conversation)
        self._tabs.set_streaming(conversation_id, False)

    def _on_dropped(self, conversation_id: str, text: str) -> None:
        self._tabs.conversation(conversation_id).rows.set_dropped_text(text)

    def _offer_continue(self, conversation: Conversation) -> None:
        has_room = self.context.has_room(conversation.id)
        has_words = conversation.last is not None and bool(conversation.last.text)
        view = self._tabs.conversation(conversation.id)
        view.set_can_continue(conversation.can_continue and has_words and has_room)

    def _on_answer_failed(self, conversation_id: str, sentence: str) -> None:
        view = self._tabs.conversation(conversation_id)
        view.finish_answer("", None, False)
        view.set_error(sentence)
        self._tabs.set_streaming(conversation_id, False)

    def _on_answer_refused(self, conversation_id: str, problem: Problem) -> None:
        """The engine would not begin: the question goes back to where it can be changed.

        Where something else is being written there by now, it is attached to that.
        """
        view = self._tabs.conversation(conversation_id)
        view.finish_answer("", None, False)
        question = self._chats.take_back(conversation_id)
        if question and not view.set_draft_text(question):
            view.composer.attach(Attached("", question))
        self._repairs[conversation_id] = problem
        view.set_error(problem.message, can_retry=False, repair_text=repair_words(problem))
        self._tabs.set_streaming(conversation_id, False)

    def _on_repair_requested(self, conversation_id: str) -> None:
        problem = self._repairs.pop(conversation_id, None)
        if problem is not None:
            self._desk.session.repair(problem)
            self._desk.session.apply()

    def _on_waiting_began(self, conversation_id: str) -> None:
        self._tabs.conversation(conversation_id).set_error(_WAITS, can_retry=False)

    def _on_given_up(self, conversation_id: str, sentence: str) -> None:
        self._tabs.conversation(conversation_id).set_error(sentence)

    def _on_title_changed(self, conversation_id: str, title: str) -> None:
        self._tabs.set_title(conversation_id, title)

    def _on_conversation_closed(self, conversation_id: str) -> None:
        self.context.forget(conversation_id)
        self._reading.forget(conversation_id)
        self._retrying.forget(conversation_id)
        self._attaching.forget(self._tabs.conversation(conversation_id))
        self._chats.close(conversation_id)
        self._repairs.pop(conversation_id, None)
        self._tabs.remove_conversation(conversation_id)
        if not self._chats.conversations():
            self.open_conversation()

    def _on_applied_changed(self, applied: Applied | None) -> None:
        self._no_engine_reason = _NO_MODEL if applied is None else None
        if applied is not None:
            self._tabs.set_slot_count(applied.effective.slots)
            if applied.model is not None:
                self._chats.is_completion = not applied.model.chat_template
                self._chats.model_name = applied.model.name
        for name, view in self._views():
            self._dress(name, view)
            conversation = self._chats.conversation(name)
            if not conversation.is_answering:
                self._offer_continue(conversation)

    def _on_engine_said_hello(self, _: object) -> None:
        if self._desk.session.applied is None:
            self._set_reason(_NO_MODEL)

    def _on_work_changed(self, work: str) -> None:
        if self._desk.session.applied is None and work == "load":
            self._set_reason("The model is being loaded…")
        elif self._desk.session.applied is None:
            self._set_reason(_NO_MODEL)

    def _on_engine_died(self, _: object) -> None:
        self._set_reason("The engine is not running. Restart it above; your text is kept.")

    def _set_reason(self, reason: str | None) -> None:
        self._no_engine_reason = reason
        for _, view in self._views():
            view.set_enabled_reason(reason)
