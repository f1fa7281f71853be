"""Answers that are tried again when the engine has gone, with a real engine."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.window import Window
from engine_bridge.engine_state import EngineState
from tests.window.conftest import PATIENCE_MS
from widgets.chat_view import ChatView
from widgets.message_notice import NoticeView

pytestmark = [pytest.mark.gui, pytest.mark.engine]


def notice(view: ChatView) -> NoticeView:
    """The newest one; Qt may still have to show it, and to delete the one before."""
    return view.messages_area.findChildren(NoticeView)[-1]


@pytest.fixture
def bereft(
    open_window: Callable[..., Window], qtbot: QtBot, tiny_chat_path: Path, tmp_path: Path
) -> tuple[Window, ChatView]:
    """A window whose engine was killed in the middle of an answer."""
    window = open_window(temperature=0.0, ctx_per_slot_tok=4096, max_new_tok=3000)
    desk = window.desk
    model = shutil.copy(tiny_chat_path, tmp_path / "own.gguf")
    window.engine_wiring.load(str(model))
    qtbot.waitUntil(lambda: desk.session.applied is not None, timeout=PATIENCE_MS)
    view = window.chat.conversation(window.chat.current_id())
    with qtbot.waitSignal(desk.chats.text_arrived, timeout=PATIENCE_MS):
        view.submit("Hello")
    assert desk.hello is not None
    os.kill(desk.hello.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: desk.client.state is EngineState.DEAD, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not view.is_streaming, timeout=PATIENCE_MS)
    return window, view


def test_that_trying_again_starts_the_engine_and_then_answers(
    bereft: tuple[Window, ChatView], qtbot: QtBot
) -> None:
    window, view = bereft
    conversation = window.desk.chats.conversation(window.chat.current_id())
    before = conversation.turns[-1].text
    note = conversation.turns[-1].note
    with qtbot.waitSignal(window.desk.chats.text_arrived, timeout=PATIENCE_MS):
        notice(view).retry_button.click()
        assert conversation.turns[-1].note == note
        assert "as soon as" in notice(view).label.text()
        assert notice(view).retry_button.isHidden()
    assert conversation.turns[-1].text.startswith(before)
    assert len(conversation.turns[-1].text) > len(before)
    assert conversation.turns[-1].note == ""
    view.stop_requested.emit()
    qtbot.waitUntil(lambda: not view.is_streaming, timeout=PATIENCE_MS)


def test_that_the_conversation_says_in_one_place_that_the_engine_is_gone(
    bereft: tuple[Window, ChatView],
) -> None:
    _, view = bereft
    assert "ended during this answer" in notice(view).label.text()
    assert view.composer.reason_label.isHidden()
    assert "engine is not running" in view.composer.button.toolTip()
    answer = view.rows.last_answer()
    assert answer is not None
    assert answer.footer.reason.isHidden()


def test_that_a_model_that_does_not_come_back_is_said_and_can_be_tried_again(
    bereft: tuple[Window, ChatView], qtbot: QtBot
) -> None:
    window, view = bereft
    applied = window.desk.session.applied
    assert applied is not None
    Path(applied.config.model_path).unlink()
    with qtbot.waitSignal(window.desk.session.refused, timeout=PATIENCE_MS):
        notice(view).retry_button.click()
    assert not notice(view).retry_button.isHidden()
