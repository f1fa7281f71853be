from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.window import Window
from engine_bridge.engine_state import EngineState
from engine_bridge.settings.row import Applies
from resources.tokens import LIGHT
from tests.window.conftest import PATIENCE_MS

pytestmark = [pytest.mark.gui, pytest.mark.engine]


def ask(window: Window, qtbot: QtBot, text: str, conversation_id: str = "") -> None:
    name = conversation_id or window.chat.current_id()
    window.chat.conversation(name).submit(text)
    qtbot.waitUntil(lambda: window.desk.chats.answering_count() == 0, timeout=PATIENCE_MS)


def last_turn(window: Window) -> tuple[str, str]:
    turn = window.desk.chats.conversation(window.chat.current_id()).turns[-1]
    return turn.text, turn.end


def test_that_a_person_can_load_a_model_and_chat(loaded_window: Window, qtbot: QtBot) -> None:
    ask(loaded_window, qtbot, "Hello")
    text, end = last_turn(loaded_window)
    assert text
    assert end in ("end", "token_limit")


def test_that_two_conversations_stream_at_once(loaded_window: Window, qtbot: QtBot) -> None:
    first = loaded_window.chat.current_id()
    second = loaded_window.chat_wiring.open_conversation()
    started: list[str] = []
    loaded_window.desk.chats.answer_started.connect(lambda name, _: started.append(name))
    for name in (first, second):
        loaded_window.chat.conversation(name).submit("Hello")
    assert loaded_window.desk.chats.answering_count() == 2
    qtbot.waitUntil(lambda: loaded_window.desk.chats.answering_count() == 0, timeout=PATIENCE_MS)
    assert sorted(started) == sorted([first, second])


def test_that_a_change_waits_for_apply_and_then_runs(loaded_window: Window, qtbot: QtBot) -> None:
    session = loaded_window.desk.session
    session.commit("ctx_per_slot_tok", 1024)
    assert session.cost() is Applies.CONTEXT
    qtbot.waitUntil(loaded_window.top.apply_button.isEnabled, timeout=PATIENCE_MS)
    loaded_window.top.apply_button.click()
    qtbot.waitUntil(lambda: session.cost() is None, timeout=PATIENCE_MS)
    assert session.applied is not None
    assert session.applied.effective.ctx_per_slot_tok == 1024
    qtbot.waitUntil(lambda: "-c 4096" in loaded_window.command.text(), timeout=PATIENCE_MS)


def test_that_the_words_survive_a_killed_engine_and_it_comes_back(
    loaded_window: Window, qtbot: QtBot
) -> None:
    window = loaded_window
    ask(window, qtbot, "Hello")
    said, _ = last_turn(window)
    hello = window.desk.hello
    assert hello is not None
    os.kill(hello.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: window.desk.client.state is EngineState.DEAD, timeout=PATIENCE_MS)
    assert "SIGKILL" in window.banner.sentence()
    assert last_turn(window)[0] == said
    window.banner.action_requested.emit("restart")
    qtbot.waitUntil(lambda: window.desk.client.state is EngineState.READY, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: window.desk.session.applied is not None, timeout=PATIENCE_MS)
    ask(window, qtbot, "Again")
    assert last_turn(window)[0]


def test_that_a_killed_engine_fails_the_answer_under_way_and_keeps_its_words(
    loaded_window: Window, qtbot: QtBot
) -> None:
    window = loaded_window
    window.desk.session.commit("max_new_tok", -1)
    view = window.chat.conversation(window.chat.current_id())
    with qtbot.waitSignal(window.desk.chats.text_arrived, timeout=PATIENCE_MS):
        view.submit("Hello")
    assert window.desk.hello is not None
    os.kill(window.desk.hello.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: window.desk.chats.answering_count() == 0, timeout=PATIENCE_MS)
    text, end = last_turn(window)
    assert (bool(text), end) == (True, "failed")


def test_that_a_question_too_long_for_the_slot_can_be_changed_and_poisons_nothing(
    loaded_window: Window, qtbot: QtBot
) -> None:
    window = loaded_window
    view = window.chat.conversation(window.chat.current_id())
    too_long = "many words " * 2000
    with qtbot.waitSignal(window.desk.chats.answer_refused, timeout=PATIENCE_MS):
        view.submit(too_long)
    assert view.draft() == too_long
    assert not window.desk.chats.conversation(window.chat.current_id()).turns
    ask(window, qtbot, "Hello")
    assert last_turn(window)[0]


def test_that_tabs_can_be_closed_while_they_stream(loaded_window: Window, qtbot: QtBot) -> None:
    window = loaded_window
    names = [window.chat_wiring.open_conversation() for _ in range(6)]
    for name in names:
        window.chat.conversation(name).submit("Hello")
    for name in names:
        window.chat.conversation_closed.emit(name)
    ask(window, qtbot, "Hello")
    assert last_turn(window)[0]


def test_that_closing_the_window_ends_the_engine_while_tokens_stream(
    loaded_window: Window, qtbot: QtBot
) -> None:
    window = loaded_window
    window.desk.session.commit("max_new_tok", -1)
    with qtbot.waitSignal(window.desk.chats.text_arrived, timeout=PATIENCE_MS):
        window.chat.conversation(window.chat.current_id()).submit("Hello")
    assert window.desk.hello is not None
    pid = window.desk.hello.pid
    window.close()
    assert not psutil.pid_exists(pid)


def test_that_a_broken_file_is_a_sentence_and_the_model_that_ran_goes_on(
    loaded_window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    window = loaded_window
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF\x03\x00\x00\x00" + b"\xff" * 64)
    with qtbot.waitSignal(window.desk.session.refused, timeout=PATIENCE_MS):
        window.engine_wiring.load(str(broken))
    assert window.banner.sentence()
    ask(window, qtbot, "Hello")
    assert last_turn(window)[0]


def test_that_a_combination_the_engine_would_refuse_blocks_apply_and_can_be_repaired(
    loaded_window: Window, qtbot: QtBot
) -> None:
    window = loaded_window
    session = window.desk.session
    session.want({"cache_type_v": "q8_0", "flash_attn": "off"})
    qtbot.waitUntil(lambda: bool(window.top.apply_button.toolTip()), timeout=PATIENCE_MS)
    assert not window.top.apply_button.isEnabled()
    window.tune.repair_requested.emit(session.problems()[0])
    qtbot.waitUntil(window.top.apply_button.isEnabled, timeout=PATIENCE_MS)


def test_that_copy_puts_the_command_line_on_the_clipboard(loaded_window: Window) -> None:
    loaded_window.command.copy()
    assert QGuiApplication.clipboard().text() == loaded_window.command.text()


def test_that_a_narrow_window_folds_the_charts_into_a_tab(
    open_window: Callable[..., Window],
) -> None:
    window = open_window()
    folded = []
    for width in (1440, 1100, 1440):
        window.resize(width, 800)
        window.show_live()
        folded.append((window.is_folded, window.live.isVisible(), window.chat.isVisible()))
    assert folded == [(False, True, True), (True, True, False), (False, True, True)]


def test_that_unfolded_charts_leave_in_front_what_they_stood_in_front_of(
    open_window: Callable[..., Window],
) -> None:
    window = open_window()
    window.resize(1100, 800)
    for show, page in (
        (window._middle.show_experiments, window.experiments.page),
        (window._middle.show_chat, window.chat),
    ):
        show()
        window.toggle_panel("live")
        assert not page.isVisible()
        window.toggle_panel("live")
        assert page.isVisible()
        window.toggle_panel("live")
        window.resize(1440, 800)
        assert page.isVisible()
        window.resize(1100, 800)


def test_that_the_colours_can_change_while_it_runs(loaded_window: Window, qtbot: QtBot) -> None:
    ask(loaded_window, qtbot, "Hello")
    loaded_window.set_palette(LIGHT)
    assert not loaded_window.grab().isNull()


def test_that_every_control_in_reach_of_the_keyboard_has_a_name(loaded_window: Window) -> None:
    nameless = [
        f"{type(widget).__name__} {widget.objectName()} in {type(widget.parent()).__name__}"
        for widget in loaded_window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and not widget.accessibleName()
        and not getattr(widget, "text", str)()
    ]
    assert not nameless
