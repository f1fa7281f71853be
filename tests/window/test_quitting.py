"""Closing the window in the middle of an answer, with a real engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.storage.conversation_store import ConversationStore
from app.window import Window
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests.window.conftest import PATIENCE_MS

pytestmark = [pytest.mark.gui, pytest.mark.engine]


def test_that_an_answer_cut_by_closing_the_window_is_kept_and_says_so(
    windows: list[Window], qtbot: QtBot, tiny_chat_path: Path, tmp_path: Path
) -> None:
    values: dict[str, object] = {
        "threads": 1,
        "ctx_per_slot_tok": 4096,
        "temperature": 0.0,
        "max_new_tok": -1,
    }
    store = ConversationStore(tmp_path)
    window = Window(Desk(EngineConfig.from_values(values), store=store), DARK)
    windows.append(window)
    window.show()
    window.desk.open()
    window.engine_wiring.load(str(tiny_chat_path))
    qtbot.waitUntil(lambda: window.desk.session.applied is not None, timeout=PATIENCE_MS)
    name = window.chat.current_id()
    view = window.chat.conversation(name)
    with qtbot.waitSignal(window.desk.chats.text_arrived, timeout=PATIENCE_MS):
        view.submit("Hello")
    assert window.desk.chats.answering_count() == 1
    window.close()
    again = ConversationStore(tmp_path)
    last = again.open(name).conversation.last
    again.close()
    assert last is not None
    assert last.text
    assert (last.end, last.note) == ("cancelled", "You closed the program during this answer.")
