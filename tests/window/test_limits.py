"""Limits in the whole window: they outlive it, and with both there is goodput after an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.kept_settings import KeptSettings
from app.storage.settings_store import SettingsStore
from app.window import Window
from resources.tokens import DARK
from tests.window.conftest import PATIENCE_MS
from widgets.charts.limit_dialog import LimitDialog

pytestmark = pytest.mark.gui


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "settings"


def start(folder: Path, windows: list[Window]) -> Window:
    kept = KeptSettings(SettingsStore(folder))
    window = Window(Desk(kept.start_config(), kept=kept), DARK)
    windows.append(window)
    window.resize(1600, 1000)  # narrower, the charts are folded away
    window.show()
    return window


def test_that_limits_are_there_again_after_a_restart(
    windows: list[Window], folder: Path, qtbot: QtBot
) -> None:
    first = start(folder, windows)
    assert first.live.limits == (None, None)
    for key, chart in (("0.75", first.live.ttft), ("40", first.live.tpot)):
        with qtbot.waitActive(first):
            first.activateWindow()
        chart.setFocus()
        QTest.keyClick(chart, Qt.Key.Key_L)
        dialog = chart.findChild(LimitDialog)
        assert isinstance(dialog, LimitDialog)
        dialog.field.setText(key)
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)
        QApplication.processEvents()
    first.live.time_view.show_length(600.0)
    first.close()
    second = start(folder, windows)
    assert second.live.limits == (0.75, 0.04)
    assert second.live.time_view.length_s == 600.0
    QApplication.processEvents()
    assert second.live.tpot.grip.value == 0.04
    with qtbot.waitActive(second):
        second.activateWindow()
    second.live.ttft.setFocus()
    QTest.keyClick(second.live.ttft, Qt.Key.Key_L, Qt.KeyboardModifier.ShiftModifier)
    second.close()
    assert start(folder, windows).live.limits == (None, 0.04)


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "1e9", "0"])
def test_that_a_kept_limit_that_is_none_is_not_used(
    windows: list[Window], folder: Path, text: str
) -> None:
    kept = KeptSettings(SettingsStore(folder))
    kept.window_state = {"ttft_limit_s": text, "tpot_limit_s": "0.05"}
    kept.close()
    assert start(folder, windows).live.limits == (None, 0.05)


@pytest.mark.engine
def test_that_goodput_appears_after_an_answer(loaded_window: Window, qtbot: QtBot) -> None:
    live, chats = loaded_window.live, loaded_window.desk.chats
    loaded_window.resize(1600, 1000)
    conversation = chats.conversations()[0]
    with qtbot.waitSignal(chats.answer_finished, timeout=PATIENCE_MS):
        chats.send(conversation.id, "hello")
    qtbot.waitUntil(lambda: "1 request in" in live.figures.text(), timeout=PATIENCE_MS)
    said = live.figures.text()
    assert "Goodput: none, no limits set" in said
    assert "TTFT p50: none" not in said
    assert "Per user p50: none" not in said
    assert "In total: none" not in said
    live.set_limits(60.0, 5.0)  # nothing so small is so slow
    qtbot.waitUntil(lambda: "1 of 1" in live.figures.text(), timeout=PATIENCE_MS)
    live.set_limits(None, 5.0)
    qtbot.waitUntil(lambda: "no TTFT limit" in live.figures.text(), timeout=PATIENCE_MS)
