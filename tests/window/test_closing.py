"""Closing the window loses nothing unasked, and what befell a file is said once."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.storage.conversation_store import ConversationStore
from app.window import Window
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests.widgets.finding import child

pytestmark = pytest.mark.gui


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    """A folder that takes nothing, not even from root: a file stands in its place."""
    (tmp_path / "conversations").touch()
    return tmp_path / "conversations"


@pytest.fixture
def window(blocked: Path, windows: list[Window]) -> Window:
    """A window without an engine, in which something was made that cannot be saved."""
    window = Window(Desk(EngineConfig(), store=ConversationStore(blocked)), DARK)
    windows.append(window)
    window.show()
    chats = window.desk.chats
    chats.rename(chats.conversations()[0].id, "Recipes")
    return window


def answer(window: Window, words: str) -> None:
    question = child(window, QMessageBox)
    (button,) = (each for each in question.findChildren(QPushButton) if each.text() == words)
    button.click()


def test_that_closing_asks_first_where_the_last_words_cannot_be_saved(
    window: Window, blocked: Path, qtbot: QtBot
) -> None:
    assert not window.close()
    assert window.isVisible()
    question = child(window, QMessageBox)
    assert question.text() == "The last words of “Recipes” cannot be saved."
    assert "a file stands where its folder should be; move it away" in question.informativeText()
    assert not window.close()  # asked again it asks no second time
    assert len(window.findChildren(QMessageBox)) == 1
    answer(window, "Keep open")
    qtbot.waitUntil(lambda: not window.findChildren(QMessageBox))
    assert window.isVisible()
    blocked.unlink()
    assert window.close()
    assert window.desk.unsaved == ()
    assert len(list(blocked.glob("*.jsonl"))) == 1


def test_that_the_user_may_close_all_the_same(window: Window) -> None:
    assert not window.close()
    answer(window, "Close anyway")
    assert not window.isVisible()
    assert len(window.desk.unsaved) == 1


def test_that_a_failure_is_said_where_it_is_seen_and_only_there(window: Window) -> None:
    keeping = window.desk.keeping
    assert keeping is not None
    keeping.entries_listed.emit([])
    window.docks.show("conversations")
    window.toast.say("before")
    for signal, words in ((keeping.failed, "It failed."), (keeping.noted, "It works again.")):
        signal.emit(words)
        assert window.conversations.problem_bar.sentence() == words
        assert words not in window.toast.text()
    keeping.damaged_found.emit(["It is damaged."])
    assert "It is damaged." not in window.toast.text()
    window.docks.toggle("conversations")
    keeping.failed.emit("It failed again.")
    assert "It failed again." in window.toast.text()
    assert not window.close()
    answer(window, "Close anyway")
