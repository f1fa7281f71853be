"""Settings that cannot be saved, in the whole window: said once, and everything else goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.kept_settings import KeptSettings
from app.storage.settings_store import SettingsStore
from app.window import Window
from resources.tokens import DARK
from tests.window.conftest import PATIENCE_MS

pytestmark = [pytest.mark.gui, pytest.mark.engine]


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    """A settings folder that cannot be made, not even by root: a file stands in its place."""
    (tmp_path / "config").touch()
    return tmp_path / "config" / "tunedeck"


@pytest.fixture
def window(blocked: Path, windows: list[Window]) -> Window:
    kept = KeptSettings(SettingsStore(blocked))
    config = kept.start_config({"threads": 1, "ctx_per_slot_tok": 512, "max_new_tok": 8})
    windows.append(Window(Desk(config, kept=kept), DARK))
    return windows[0]


def sentences(window: Window) -> list[str]:
    """What stands in the window about settings that could not be saved."""
    labels = [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
    return [text for text in labels if "could not be saved" in text]


# S33
def test_that_a_settings_folder_that_takes_nothing_is_said_and_the_desk_works(
    window: Window, qtbot: QtBot, tiny_chat_path: Path
) -> None:
    window.show()
    window.desk.open()
    qtbot.waitUntil(lambda: bool(sentences(window)), timeout=PATIENCE_MS)
    (said,) = sentences(window)
    assert "a file stands where its folder should be; move it away" in said
    assert "config" in said
    window.engine_wiring.load(str(tiny_chat_path))
    qtbot.waitUntil(lambda: window.desk.session.applied is not None, timeout=PATIENCE_MS)
    chats = window.desk.chats
    conversation = chats.conversations()[0]
    with qtbot.waitSignal(chats.answer_finished, timeout=PATIENCE_MS):
        chats.send(conversation.id, "hello")
    window.desk.session.commit("top_k", 7)
    assert window.desk.session.wanted.top_k == 7
    window.close()
    assert any("could not be saved" in sentence for sentence in window.desk.unsaved)
