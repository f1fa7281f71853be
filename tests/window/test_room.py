"""The page *Room* on a real engine: figures appear, a button moves its fader, a slot fills."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.window import Window
from engine_bridge.engine_state import EngineState
from engine_bridge.protocol import AskRoom, Command
from tests.window.conftest import PATIENCE_MS
from widgets.room_panel import RoomPanel

pytestmark = [pytest.mark.gui, pytest.mark.engine]
_ROOM_PAGE = 2


def show_room(window: Window) -> RoomPanel:
    window.show_live()  # folded away on a small screen
    window.gauges.pages.show_page(_ROOM_PAGE)
    return window.gauges.room


def use(panel: RoomPanel, key: str) -> QPushButton:
    return panel.fits.row(key).use


def has_answers(window: Window) -> bool:
    found = window.gauges.room_wiring.finder.found
    return found is not None and found.room is not None


def test_that_nothing_is_asked_before_the_page_is_seen_and_then_figures_appear(
    loaded_window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, asked = loaded_window.desk.client, []
    send = client.send

    def noted(command: Command) -> bool:
        if isinstance(command, AskRoom):
            asked.append(command)
        return send(command)

    monkeypatch.setattr(client, "send", noted)
    finder = loaded_window.gauges.room_wiring.finder
    assert not finder._rest.isActive()
    panel = show_room(loaded_window)
    qtbot.waitUntil(lambda: has_answers(loaded_window), timeout=PATIENCE_MS)
    assert len(asked) == 1
    assert finder.found is not None
    room = finder.found.room
    assert room is not None
    assert f"{room.ctx.number:,} tok" in panel.fits.text()
    assert "The training length is the limit, 4,096 tok" in panel.fits.text()
    qtbot.waitUntil(lambda: bool(panel.memory.text()), timeout=PATIENCE_MS)
    assert "unexplained rest" in panel.memory.text()
    assert "kv and state predicted" in panel.memory.text()
    assert len(panel.slots.lanes) == loaded_window.desk.session.wanted.slots


def test_that_use_moves_the_fader_and_applies_nothing(loaded_window: Window, qtbot: QtBot) -> None:
    panel, session = show_room(loaded_window), loaded_window.desk.session
    qtbot.waitUntil(lambda: has_answers(loaded_window), timeout=PATIENCE_MS)
    running = session.applied
    use(panel, "context").click()
    assert session.wanted.ctx_per_slot_tok == 4096
    assert loaded_window.tune.row("ctx_per_slot_tok").value() == 4096
    assert session.applied is running
    assert session.can_undo
    # Once all rests the same question has an answer of its own, and there is nothing left to set.
    finder = loaded_window.gauges.room_wiring.finder
    qtbot.waitUntil(lambda: finder.is_current, timeout=PATIENCE_MS)
    assert not use(panel, "context").isEnabled()
    use(panel, "coarse").click()
    assert (session.wanted.cache_type_k, session.wanted.cache_type_v) == ("q8_0", "q8_0")
    session.undo()
    assert session.wanted.cache_type_k == "f16"


def test_that_a_slot_fills_while_an_answer_is_written(loaded_window: Window, qtbot: QtBot) -> None:
    panel = show_room(loaded_window)
    chats = loaded_window.desk.chats
    conversation = loaded_window.chat.current_id()
    seen: list[tuple[str, int]] = []

    def note() -> None:
        seen.extend(
            (lane.lane.state, lane.lane.used_tok)
            for lane in panel.slots.lanes
            if lane.lane is not None and lane.lane.used_tok
        )

    loaded_window.gauges.room_wiring._slots_timer.timeout.connect(note)
    with qtbot.waitSignal(chats.answer_finished, timeout=PATIENCE_MS):
        chats.send(conversation, "tell me a story " * 20)
    qtbot.waitUntil(lambda: any(state == "idle" for state, _ in seen), timeout=PATIENCE_MS)
    filled = [lane.lane for lane in panel.slots.lanes if lane.lane and lane.lane.used_tok]
    assert len(filled) == 1
    assert filled[0].state == "idle"
    assert filled[0].kept_tok == filled[0].used_tok > 64
    assert filled[0].title.startswith("tell me a story")


def test_that_a_dead_engine_is_told_and_has_no_slots(loaded_window: Window, qtbot: QtBot) -> None:
    panel = show_room(loaded_window)
    qtbot.waitUntil(lambda: has_answers(loaded_window), timeout=PATIENCE_MS)
    client = loaded_window.desk.client
    os.kill(client.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: client.state is EngineState.DEAD, timeout=PATIENCE_MS)
    assert "not running" in panel.fits.text()
    assert panel.slots.lanes == []
    assert not use(panel, "slots").isVisible()


def test_that_a_window_without_a_model_says_what_will_be_there(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    panel = show_room(window)
    assert "not running" in panel.fits.text()
    assert panel.slots.lanes == []
