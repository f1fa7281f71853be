"""A window that is open all day holds what it shows, and nothing of what was closed."""

from __future__ import annotations

import gc

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from app.conversation import Conversation
from app.desk import Desk
from app.window import Window
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from widgets.chat_view import ChatView

pytestmark = pytest.mark.gui


def _views() -> int:
    """Conversations that Python still holds, whether there is anything left of them or not."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    return sum(isinstance(thing, ChatView) for thing in gc.get_objects())


def test_that_a_closed_conversation_goes_from_memory(qapp: QApplication) -> None:
    before = _views()
    window = Window(Desk(EngineConfig()), DARK)
    window.show()
    held = _views()
    for number in range(3):
        conversation = Conversation(f"id{number}", number)
        conversation.ask("Why?")
        conversation.append("Because:\n\n```py\nwhy()\n```\n")
        conversation.finish("end_of_generation")
        window.chat_wiring.adopt(conversation)
        window.areas.go("chat")  # as F6 does, and opening one from the list
        qapp.processEvents()
        window.chat.conversation_closed.emit(conversation.id)
    assert _views() == held
    window.close()
    window.desk.deleteLater()
    window.deleteLater()
    del window
    assert _views() == before
