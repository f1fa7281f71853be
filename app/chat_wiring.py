"""Between the conversations and their tabs."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox

from app.chats import Chats, Request
from app.desk import Desk
from app.figures import answer_figures, end_text
from engine_bridge.protocol import Applied, RequestFinished, RequestStarted, StepsMeasured
from engine_bridge.settings.rules import Problem, repair_words
from widgets.chat_tabs import ChatTabs
from widgets.chat_view import ChatView

_COMPLETION_NOTE = (
    "This is a base model without a chat template: it continues your text instead of answering it."
)

_NO_MODEL = "Load a model first: Ctrl+O opens a file."


class ChatWiring(QObject):
    """Moves words both ways between ``Chats`` and ``ChatTabs``."""

    def __init__(self, desk: Desk, tabs: ChatTabs, parent: QObject) -> None:
        """Connect ``tabs`` to the conversations of ``desk`` and open the first one."""
        super().__init__(parent)
        self._desk = desk
        self._chats: Chats = desk.chats
        self._tabs = tabs
        self._used_tok: dict[str, int] = {}
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
        tabs.conversation_opened.connect(self.open_conversation)
        tabs.conversation_closed.connect(self._on_conversation_closed)
        desk.session.applied_changed.connect(self._on_applied_changed)
        desk.session.work_changed.connect(self._on_work_changed)
        desk.client.engine_died.connect(self._on_engine_died)
        desk.engine_said_hello.connect(self._on_engine_said_hello)
        desk.client.event_received.connect(self._on_event_received)
        self.open_conversation()

    def open_conversation(self) -> str:
        """Begin a conversation in a tab of its own.

        Returns:
            Its id.
        """
        conversation = self._chats.open()
        self._tabs.add_conversation(conversation.id, conversation.title)
        view = self._tabs.conversation(conversation.id)
        name = conversation.id
        view.sent.connect(lambda text: self._on_sent(name, text))
        view.stop_requested.connect(lambda: self._chats.stop(name))
        view.continue_requested.connect(lambda: self._chats.go_on(name))
        view.retry_requested.connect(lambda: self._chats.go_on(name))
        view.repair_requested.connect(lambda: self._on_repair_requested(name))
        view.first_painted.connect(lambda ns: self._chats.note_painted(name, ns))
        view.link_activated.connect(self._on_link_activated)
        self._dress(name, view)
        return name

    def _dress(self, conversation_id: str, view: ChatView) -> None:
        applied = self._desk.session.applied
        view.set_enabled_reason(self._no_engine_reason)
        if applied is not None and applied.model is not None:
            is_completion = not applied.model.chat_template
            view.set_mode(is_completion, _COMPLETION_NOTE if is_completion else "")
            self._show_context_use(conversation_id)

    def _show_context_use(self, conversation_id: str) -> None:
        """Tokens of the conversation against the slot's, whatever of them is computed now."""
        applied = self._desk.session.applied
        if applied is not None:
            view = self._tabs.conversation(conversation_id)
            used = self._used_tok.get(conversation_id, 0)
            view.set_context_use(used, applied.effective.ctx_per_slot_tok)

    def _views(self) -> list[tuple[str, ChatView]]:
        return [(c.id, self._tabs.conversation(c.id)) for c in self._chats.conversations()]

    def _on_sent(self, conversation_id: str, text: str) -> None:
        sent_ns = time.perf_counter_ns()
        view = self._tabs.conversation(conversation_id)
        conversation = self._chats.conversation(conversation_id)
        conversation.system_prompt = view.system_prompt()
        view.add_user_message(text)
        self._chats.send(conversation_id, text, sent_ns)

    def _on_answer_opened(self, conversation_id: str) -> None:
        model = self._desk.session.model
        self._tabs.conversation(conversation_id).begin_answer(model.name if model else "Model")
        self._tabs.set_streaming(conversation_id, True)

    def _on_answer_queued(self, conversation_id: str, position: int) -> None:
        self._tabs.conversation(conversation_id).set_queued(position)

    def _on_answer_started(self, conversation_id: str, _: RequestStarted) -> None:
        self._tabs.conversation(conversation_id).set_queued(None)

    def _on_text_arrived(self, conversation_id: str, text: str) -> None:
        self._tabs.conversation(conversation_id).append_text(text)

    def _on_answer_finished(self, conversation_id: str, event: RequestFinished, _: Request) -> None:
        view = self._tabs.conversation(conversation_id)
        words, is_warning = end_text(event)
        conversation = self._chats.conversation(conversation_id)
        view.finish_answer(answer_figures(event.timing), words, is_warning)
        applied = self._desk.session.applied
        if applied is not None:
            self._used_tok[conversation_id] = event.used_tok
            self._show_context_use(conversation_id)
            has_room = event.used_tok < applied.effective.ctx_per_slot_tok
            view.set_can_continue(conversation.can_continue and has_room)
        self._tabs.set_streaming(conversation_id, False)

    def _on_answer_failed(self, conversation_id: str, sentence: str) -> None:
        view = self._tabs.conversation(conversation_id)
        view.finish_answer("", None, False)
        view.set_error(sentence)
        self._tabs.set_streaming(conversation_id, False)

    def _on_answer_refused(self, conversation_id: str, problem: Problem) -> None:
        """The engine would not begin: the question goes back to where it can be changed.

        Where something else is being written there by now, it stays in sight; either way later
        questions are sent without it.
        """
        view = self._tabs.conversation(conversation_id)
        question = self._chats.conversation(conversation_id).take_back()
        if question and not view.draft():
            view.remove_last_exchange()
            view.set_draft_text(question)
        else:
            view.finish_answer("", None, False)
        self._repairs[conversation_id] = problem
        view.set_error(problem.message, can_retry=False, repair_text=repair_words(problem))
        self._tabs.set_streaming(conversation_id, False)

    def _on_repair_requested(self, conversation_id: str) -> None:
        problem = self._repairs.pop(conversation_id, None)
        if problem is not None:
            self._desk.session.repair(problem)
            self._desk.session.apply()

    def _on_title_changed(self, conversation_id: str, title: str) -> None:
        self._tabs.set_title(conversation_id, title)

    def _on_conversation_closed(self, conversation_id: str) -> None:
        self._chats.close(conversation_id)
        self._used_tok.pop(conversation_id, None)
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
        for name, view in self._views():
            self._dress(name, view)

    def _on_engine_said_hello(self, _: object) -> None:
        if self._desk.session.applied is None:
            self._set_reason(_NO_MODEL)

    def _on_work_changed(self, work: str) -> None:
        if self._desk.session.applied is None and work == "load":
            self._set_reason("The model is being loaded.")
        elif self._desk.session.applied is None:
            self._set_reason(_NO_MODEL)

    def _on_engine_died(self, _: object) -> None:
        self._set_reason("The engine is not running. Restart it above; your text is kept.")

    def _set_reason(self, reason: str | None) -> None:
        self._no_engine_reason = reason
        for _, view in self._views():
            view.set_enabled_reason(reason)

    def _on_event_received(self, event: object) -> None:
        if not isinstance(event, StepsMeasured):
            return
        known = {conversation.id for conversation in self._chats.conversations()}
        for slot in event.slots:
            name = slot.conversation_id
            if slot.request_id is not None and name in known:
                # A prompt that is being read again counts in full from the start.
                self._used_tok[name] = max(slot.used_tok, self._used_tok.get(name, 0))
                self._show_context_use(name)

    def _on_link_activated(self, url: str) -> None:
        """Ask before a link of a model's making is opened, and open only web pages."""
        target = QUrl(url)
        box = QMessageBox(self._tabs.window())
        box.setTextFormat(Qt.TextFormat.PlainText)
        if target.scheme() not in ("http", "https"):
            box.setText(f"This link is no web page and is not opened:\n{url}")
            box.setStandardButtons(QMessageBox.StandardButton.Close)
        else:
            box.setText("The model wrote this link. Open it in your browser?")
            box.setInformativeText(url)
            box.setStandardButtons(
                QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel
            )
            box.setDefaultButton(QMessageBox.StandardButton.Cancel)
            box.accepted.connect(lambda: QDesktopServices.openUrl(target))
        box.finished.connect(box.deleteLater)
        box.open()
