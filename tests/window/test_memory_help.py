"""Too little memory as the window tells it: what would fit is one click away."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.window import Window
from engine_bridge import engine_life
from engine_bridge.engine_state import EngineState
from engine_bridge.protocol import Refused
from engine_bridge.settings.rules import Problem
from tests import models
from tests.window.conftest import PATIENCE_MS

pytestmark = [pytest.mark.gui, pytest.mark.engine]

LARGE = {"ctx_per_slot_tok": 32_768, "slots": 8, "load_mode": "none"}


def offers(window: Window) -> list[QPushButton]:
    """The buttons of the banner that change settings."""
    buttons = window.banner.findChildren(QPushButton)
    return [b for b in buttons if b.text().startswith(("Load with", "Set ")) and b.isVisible()]


def load(window: Window, path: Path, qtbot: QtBot) -> None:
    window.engine_wiring.load(str(path))
    qtbot.waitUntil(lambda: window.desk.session.applied is not None, timeout=PATIENCE_MS)


def test_that_an_engine_that_the_system_ended_for_memory_comes_back_smaller(
    open_window: Callable[..., Window], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    kills = [0]
    monkeypatch.setattr(engine_life, "oom_kills", lambda: kills[0])
    window = open_window(**LARGE)
    load(window, models.gemma_path(), qtbot)
    session, client = window.desk.session, window.desk.client
    kills[0] = 1
    os.kill(client.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: client.state is EngineState.DEAD, timeout=PATIENCE_MS)
    assert "System memory had run out" in window.banner.sentence()
    qtbot.waitUntil(lambda: bool(offers(window)), timeout=PATIENCE_MS)
    (button,) = offers(window)
    assert button.text().startswith("Load with context per slot ")
    with qtbot.waitSignal(session.applied_changed, timeout=PATIENCE_MS):
        button.click()
    assert session.applied is not None
    assert 4096 <= session.applied.config.ctx_per_slot_tok < 32_768
    assert session.applied.config.slots == LARGE["slots"]
    assert session.wanted == session.applied.config
    assert window.banner.sentence() == ""


def test_that_an_engine_that_was_ended_for_another_reason_is_not_made_smaller(
    loaded_window: Window, qtbot: QtBot
) -> None:
    os.kill(loaded_window.desk.client.pid, signal.SIGSEGV)
    qtbot.waitUntil(
        lambda: loaded_window.desk.client.state is EngineState.DEAD, timeout=PATIENCE_MS
    )
    assert "SIGSEGV" in loaded_window.banner.sentence()
    assert not loaded_window.engine_wiring.memory_help.is_asking
    assert not offers(loaded_window)


def test_that_the_repair_of_a_refused_change_is_applied_by_one_click(
    loaded_window: Window, qtbot: QtBot
) -> None:
    session = loaded_window.desk.session
    session.commit("ctx_per_slot_tok", 2048)
    problem = Problem(("ctx_per_slot_tok",), "Memory ran out.", {"ctx_per_slot_tok": 1024})
    session.refused.emit(Refused("apply", 1, problem))
    (button,) = offers(loaded_window)
    assert button.text() == "Set Context per slot to 1,024"
    with qtbot.waitSignal(session.applied_changed, timeout=PATIENCE_MS):
        button.click()
    assert session.applied is not None
    assert session.applied.config.ctx_per_slot_tok == 1024
