"""The keyboard goes from area to area."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.focus_areas import FocusAreas

pytestmark = pytest.mark.gui


def test_that_the_first_that_can_takes_the_keyboard(qtbot: QtBot, qapp: QApplication) -> None:
    area = QWidget()
    qtbot.addWidget(area)
    layout = QVBoxLayout(area)
    first, second, third = QPushButton("off"), QPushButton("first"), QPushButton("second")
    first.setEnabled(False)
    for widget in (QLabel("words"), first, second, third):
        layout.addWidget(widget)
    areas = FocusAreas(qapp, area)
    areas.add("area", area)
    area.show()
    area.activateWindow()
    qtbot.waitUntil(lambda: areas.go("area") and qapp.focusWidget() is second)
    third.setFocus()
    assert areas.current() == "area"
    assert areas.go("area")
    assert qapp.focusWidget() is third
