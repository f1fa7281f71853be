"""Answers that are to be tried again, and wait for an engine that has to be started first."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.desk import Desk
from engine_bridge.engine_state import DeathKind, DeathReason, EngineState
from engine_bridge.protocol import Applied, Refused


class Retrying(QObject):
    """Goes on with an answer at once, or as soon as the model is there again.

    Signals:
        engine_wanted: The engine is not running and somebody waits for it.
        waiting_began: Conversation id: its answer goes on when the model is loaded.
        given_up: Conversation id, a sentence: the model does not come back.
    """

    engine_wanted = Signal()
    waiting_began = Signal(str)
    given_up = Signal(str, str)

    def __init__(self, desk: Desk, can_answer: Callable[[], bool], parent: QObject) -> None:
        """Nobody waits yet.

        Args:
            desk: Its engine and conversations.
            can_answer: Whether a model is there now.
            parent: Owner.
        """
        super().__init__(parent)
        self._desk = desk
        self._can_answer = can_answer
        self._waiting: list[str] = []
        desk.session.applied_changed.connect(self._on_applied_changed)
        desk.session.refused.connect(self._on_refused)
        desk.session.model_lost.connect(self._give_up)
        desk.client.engine_died.connect(self._on_engine_died)

    def go_on(self, conversation_id: str) -> None:
        """Continue or repeat the last answer; a dead engine is started for it."""
        if self._can_answer():
            self._desk.chats.go_on(conversation_id)
            return
        if conversation_id not in self._waiting:
            self._waiting.append(conversation_id)
        self.waiting_began.emit(conversation_id)
        if self._desk.client.state is EngineState.DEAD:
            self.engine_wanted.emit()

    def forget(self, conversation_id: str) -> None:
        """The conversation is closed, or something else is asked in it."""
        if conversation_id in self._waiting:
            self._waiting.remove(conversation_id)

    def _on_applied_changed(self, applied: Applied | None) -> None:
        if applied is None:
            return
        waiting, self._waiting = self._waiting, []
        for conversation_id in waiting:
            self._desk.chats.go_on(conversation_id)

    def _on_refused(self, event: Refused) -> None:
        if event.command == "load":
            self._give_up(event.problem.message)

    def _on_engine_died(self, reason: DeathReason) -> None:
        if reason.kind is not DeathKind.REPLACED:
            self._give_up(reason.sentence)

    def _give_up(self, sentence: str) -> None:
        waiting, self._waiting = self._waiting, []
        for conversation_id in waiting:
            self.given_up.emit(conversation_id, sentence)
