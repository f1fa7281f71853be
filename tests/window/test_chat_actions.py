"""The actions on a conversation, pressed as keys, on a real engine."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.conversation import Conversation
from app.window import Window
from tests.window.conftest import PATIENCE_MS

pytestmark = [
    pytest.mark.gui,
    pytest.mark.engine,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]


def conversation(window: Window) -> Conversation:
    return window.desk.chats.conversation(window.chat.current_id())


def ask(window: Window, qtbot: QtBot, text: str) -> None:
    window.chat.conversation(window.chat.current_id()).submit(text)
    wait(window, qtbot)


def wait(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.desk.chats.answering_count() == 0, timeout=PATIENCE_MS)


def test_that_an_answer_can_be_given_again_and_the_branches_walked(
    loaded_window: Window, qtbot: QtBot
) -> None:
    run = loaded_window.actions_of_window.run
    ask(loaded_window, qtbot, "Hello")
    first = conversation(loaded_window).tip
    run("chat.regenerate")
    wait(loaded_window, qtbot)
    second = conversation(loaded_window).tip
    tips = []
    for name in ("previous", "next"):
        run(f"chat.branch_{name}")
        tips.append(conversation(loaded_window).tip)
    assert second != first
    assert tips == [first, second]


def test_that_the_last_question_opens_to_be_changed(loaded_window: Window, qtbot: QtBot) -> None:
    ask(loaded_window, qtbot, "Hello")
    loaded_window.actions_of_window.run("chat.edit")
    focus = QGuiApplication.focusObject()
    assert getattr(focus, "toPlainText", str)() == "Hello"


def test_that_the_last_answer_is_copied(loaded_window: Window, qtbot: QtBot) -> None:
    ask(loaded_window, qtbot, "Hello")
    loaded_window.actions_of_window.run("chat.copy_answer")
    assert QGuiApplication.clipboard().text() == conversation(loaded_window).turns[-1].text


def test_that_what_cannot_be_done_yet_says_why(loaded_window: Window) -> None:
    actions = loaded_window.actions_of_window
    reasons = {
        name: actions.action(name).why_not()
        for name in (
            "chat.regenerate", "chat.edit", "chat.continue", "chat.stop", "chat.branch_next",
            "chat.copy_answer", "chat.copy_code", "chat.copy_all", "chat.delete", "chat.go_9",
        )
    }  # fmt: skip
    assert all(reasons.values())
    assert reasons["chat.go_9"] == "Only one conversation is open."


def test_that_an_answer_cut_short_is_gone_on_with(loaded_window: Window, qtbot: QtBot) -> None:
    actions = loaded_window.actions_of_window
    loaded_window.desk.session.want({"max_new_tok": 4})
    qtbot.waitUntil(
        lambda: (
            loaded_window.desk.session.applied is not None
            and loaded_window.desk.session.applied.config.max_new_tok == 4
        ),
        timeout=PATIENCE_MS,
    )
    ask(loaded_window, qtbot, "Hello")
    before = conversation(loaded_window).turns[-1].text
    assert conversation(loaded_window).can_continue
    actions.run("chat.continue")
    wait(loaded_window, qtbot)
    text = conversation(loaded_window).turns[-1].text
    assert text.startswith(before)
    assert len(text) > len(before)
