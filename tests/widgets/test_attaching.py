"""Files asked for by the paperclip."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.attaching import Attaching
from app.last_folder import LastFolder
from widgets.chat_view import ChatView

pytestmark = pytest.mark.gui


def test_that_keys_go_to_the_message_again_after_files_were_asked_for(
    qtbot: QtBot, shown: Callable[[QWidget], None]
) -> None:
    view = ChatView()
    shown(view)
    parent = QObject()
    attaching = Attaching(parent, LastFolder(None, parent))
    view.composer.attach_button.setFocus()
    attaching.ask(view)
    dialog = view.window().findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.reject()
    assert view.window().focusWidget() is view.composer.editor
    qtbot.waitUntil(lambda: not view.window().findChildren(QFileDialog))
    QTest.keyClicks(view.composer.editor, "typed on")
    assert view.draft() == "typed on"


def test_that_a_system_prompt_that_is_not_set_says_just_that(
    shown: Callable[[QWidget], None],
) -> None:
    view = ChatView()
    shown(view)
    assert view.header.summary.full_text() == "not set"
    view.set_system_prompt("Be brief.")
    assert view.header.summary.full_text() == "Be brief."
