"""What the engine drops of a full slot, noted at the answer that went on because of it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.chats import Chats
from app.figures import dropped_text
from engine_bridge.client import EngineClient
from engine_bridge.protocol import ContextShifted


class Shifts(QObject):
    """Counts the tokens dropped for each answer.

    Signals:
        dropped: Conversation id, what to say of its answer under way.
    """

    dropped = Signal(str, str)

    def __init__(self, client: EngineClient, chats: Chats, parent: QObject) -> None:
        """Listen to ``client``."""
        super().__init__(parent)
        self._chats = chats
        client.event_received.connect(self._on_event_received)

    def _on_event_received(self, event: object) -> None:
        if not isinstance(event, ContextShifted):
            return
        for conversation in self._chats.conversations():
            last = conversation.last
            if conversation.id != event.conversation_id or last is None:
                continue
            if conversation.is_answering:
                last.dropped_tok += event.dropped_tok
                self.dropped.emit(conversation.id, dropped_text(last.dropped_tok))
                self._chats.conversation_touched.emit(conversation.id)
