"""A conversation's cache saved and loaded by the actions of the window, on a real engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from app.window import Window
from tests.window.conftest import PATIENCE_MS

pytestmark = [
    pytest.mark.gui,
    pytest.mark.engine,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]


def _choose(window: Window, qtbot: QtBot, action: str, path: Path) -> None:
    """Run an action and answer its file dialog."""
    window.actions_of_window.run(action)

    def dialogs() -> list[QFileDialog]:
        found = QApplication.topLevelWidgets()
        return [one for one in found if isinstance(one, QFileDialog) and one.isVisible()]

    qtbot.waitUntil(lambda: bool(dialogs()), timeout=PATIENCE_MS)
    (dialog,) = dialogs()
    dialog.fileSelected.emit(str(path))
    dialog.reject()


def test_that_a_conversation_s_cache_is_saved_and_loaded(
    loaded_window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "first.slot"
    window, chats = loaded_window, loaded_window.desk.chats
    assert window.actions_of_window.action("chat.save_cache").why_not()
    window.chat.conversation(window.chat.current_id()).submit("Hello")
    qtbot.waitUntil(lambda: chats.answering_count() == 0, timeout=PATIENCE_MS)
    assert not window.actions_of_window.action("chat.save_cache").why_not()
    _choose(window, qtbot, "chat.save_cache", path)
    qtbot.waitUntil(lambda: "Saved to first.slot" in window.toast.text(), timeout=PATIENCE_MS)
    assert path.stat().st_size > 1000
    _choose(window, qtbot, "chat.load_cache", path)
    qtbot.waitUntil(lambda: "Loaded first.slot" in window.toast.text(), timeout=PATIENCE_MS)


def test_that_a_file_that_cannot_be_loaded_is_told_of_in_the_conversation(
    loaded_window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "other.slot"
    path.write_bytes(b"something else")
    window = loaded_window
    view = window.chat.conversation(window.chat.current_id())
    _choose(window, qtbot, "chat.load_cache", path)
    qtbot.waitUntil(lambda: view._notice is not None, timeout=PATIENCE_MS)
    assert view._notice is not None
    assert "other.slot holds no cache" in view._notice.label.text()
