"""What Apply says is so."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.window import Window
from widgets.fader_control import NumberControl

pytestmark = [pytest.mark.gui, pytest.mark.engine]


def test_that_a_refused_text_is_not_said_to_run(loaded_window: Window, qtbot: QtBot) -> None:
    window = loaded_window
    button = window.top.apply_button
    qtbot.waitUntil(lambda: button.toolTip() == "The engine runs the settings as they are shown.")
    window.show_setting("top_p")
    control = window.tune.row("top_p").control
    assert isinstance(control, NumberControl)
    control.field.setFocus()
    control.field.selectAll()
    QTest.keyClicks(control.field, "much")
    QTest.keyClick(control.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "What stands in Top-p is no value" in button.toolTip())
    assert window.actions_of_window.action("settings.apply").why_not() == button.toolTip()
    assert "Write it with a point" in window.tune.row("top_p").hint()
    QTest.keyClick(control.field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: button.toolTip() == "The engine runs the settings as they are shown.")
