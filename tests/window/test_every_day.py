"""What one comes back to: the program ends and starts, and everything is where it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.kept_settings import KeptSettings
from app.storage.conversation_store import ConversationStore
from app.storage.settings_store import SettingsStore
from app.window import Window
from resources.tokens import DARK
from tests.window.conftest import PATIENCE_MS

pytestmark = [pytest.mark.gui, pytest.mark.engine]


@pytest.fixture
def start(windows: list[Window], tmp_path: Path) -> Callable[[], Window]:
    """Start the program on the same folders again and again."""

    def start_() -> Window:
        kept = KeptSettings(SettingsStore(tmp_path / "settings"))
        config = kept.start_config({"threads": 1, "ctx_per_slot_tok": 512, "max_new_tok": 16})
        store = ConversationStore(tmp_path / "conversations")
        window = Window(Desk(config, kept=kept, store=store), DARK)
        windows.append(window)
        window.show()
        window.desk.open()
        return window

    return start_


def load(window: Window, qtbot: QtBot, model: Path) -> None:
    window.engine_wiring.load(str(model))
    qtbot.waitUntil(lambda: window.desk.session.applied is not None, timeout=PATIENCE_MS)


def ask(window: Window, qtbot: QtBot, text: str) -> str:
    name = window.chat.current_id()
    with qtbot.waitSignal(window.desk.chats.answer_finished, timeout=PATIENCE_MS):
        window.chat.conversation(name).submit(text)
    return name


def test_that_open_conversations_stand_in_their_tabs_again(
    start: Callable[[], Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    window = start()
    load(window, qtbot, tiny_chat_path)
    first = ask(window, qtbot, "What is a slot?")
    second = window.chat_wiring.open_conversation()
    ask(window, qtbot, "What is a draft?")
    said = [turn.text for turn in window.desk.chats.conversation(first).turns]
    window.chat.set_current(first)
    window.close()
    assert window.desk.unsaved == ()

    again = start()
    qtbot.waitUntil(lambda: again.chat.conversation_ids() == (first, second), timeout=PATIENCE_MS)
    assert again.chat.current_id() == first
    assert [turn.text for turn in again.desk.chats.conversation(first).turns] == said
    load(again, qtbot, tiny_chat_path)
    ask(again, qtbot, "And a second question?")
    assert len(again.desk.chats.conversation(first).turns) == 4


def test_that_a_closed_conversation_is_found_in_the_list(
    start: Callable[[], Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    window = start()
    load(window, qtbot, tiny_chat_path)
    name = ask(window, qtbot, "Where do albatrosses sleep?")
    window.chat.conversation_closed.emit(name)
    window.close()

    again = start()
    model = again.conversations.model
    qtbot.waitUntil(lambda: model.conversations_count() == 1, timeout=PATIENCE_MS)
    assert name not in again.chat.conversation_ids()
    assert again.list_wiring is not None
    again.list_wiring.open(name)
    qtbot.waitUntil(lambda: again.chat.current_id() == name, timeout=PATIENCE_MS)
    assert again.desk.chats.conversation(name).turns[0].text == "Where do albatrosses sleep?"


def test_that_an_answer_cut_off_by_the_end_of_the_program_says_so(
    start: Callable[[], Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    window = start()
    window.desk.session.want({"max_new_tok": -1})
    load(window, qtbot, tiny_chat_path)
    name = window.chat.current_id()
    with qtbot.waitSignal(window.desk.chats.text_arrived, timeout=PATIENCE_MS):
        window.chat.conversation(name).submit("Tell me everything.")
    window.close()

    again = start()
    qtbot.waitUntil(lambda: name in again.chat.conversation_ids(), timeout=PATIENCE_MS)
    last = again.desk.chats.conversation(name).turns[-1]
    assert last.text
    assert last.end == "cancelled"
    assert last.note == "You closed the program during this answer."


def test_that_a_setting_is_there_again(
    start: Callable[[], Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    window = start()
    window.desk.session.commit("slots", 3)
    window.close()
    assert start().desk.session.wanted.slots == 3
