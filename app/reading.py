"""How far the engine has read each prompt, told to the view while it reads."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk import Desk
from engine_bridge.protocol import (
    ContextShifted,
    Event,
    RequestStarted,
    SlotFacts,
    StepsMeasured,
)
from widgets.chat_activity import reading_words
from widgets.chat_view import ChatView

# What a slot loses when drafts are refused is no reading.
_AGAIN_TOK = 64


class Reading(QObject):
    """Follows the slots of all answers under way."""

    def __init__(self, desk: Desk, parent: QObject) -> None:
        """Listen to ``desk``; nothing is watched yet."""
        super().__init__(parent)
        self._chats = desk.chats
        self._views: dict[str, ChatView] = {}
        self._goals: dict[str, int] = {}
        self._again: set[str] = set()
        self._chats.answer_started.connect(self._on_answer_started)
        self._chats.answer_finished.connect(self._end)
        self._chats.answer_failed.connect(self._end)
        self._chats.answer_refused.connect(self._end)
        desk.client.event_received.connect(self._on_event_received)

    def watch(self, conversation_id: str, view: ChatView) -> None:
        """Tell ``view`` how far the prompts of a conversation are read."""
        self._views[conversation_id] = view

    def forget(self, conversation_id: str) -> None:
        """The conversation is closed."""
        self._views.pop(conversation_id, None)
        self._goals.pop(conversation_id, None)
        self._again.discard(conversation_id)

    def _on_answer_started(self, conversation_id: str, event: RequestStarted) -> None:
        view = self._views.get(conversation_id)
        if view is None:
            return
        self._goals[conversation_id] = event.prompt_tok
        if event.reused_tok < event.prompt_tok:
            view.set_reading(reading_words(event.reused_tok, event.prompt_tok, is_again=False))

    def _end(self, conversation_id: str, *_: object) -> None:
        self._goals.pop(conversation_id, None)
        self._again.discard(conversation_id)
        if conversation_id in self._views:
            self._views[conversation_id].set_reading("")

    def _on_event_received(self, event: Event) -> None:
        if isinstance(event, StepsMeasured):
            for slot in event.slots:
                if slot.request_id is not None and slot.conversation_id in self._goals:
                    self._take(slot)
        elif isinstance(event, ContextShifted) and event.conversation_id in self._goals:
            # What a full slot dropped is not read again.
            self._goals[event.conversation_id] = event.used_tok

    def _take(self, slot: SlotFacts) -> None:
        name, used_tok = slot.conversation_id, slot.used_tok
        goal_tok = self._goals[name]
        if self._chats.has_begun(name) and used_tok < goal_tok - _AGAIN_TOK:
            self._again.add(name)
        is_again = name in self._again
        is_reading = used_tok < goal_tok and (is_again or not self._chats.has_begun(name))
        if not is_reading:
            self._again.discard(name)
            self._goals[name] = max(goal_tok, used_tok)
        words = reading_words(used_tok, goal_tok, is_again=is_again) if is_reading else ""
        self._views[name].set_reading(words)
