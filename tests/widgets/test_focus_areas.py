"""The keyboard goes from area to area."""

from __future__ import annotations

from pathlib import Path

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


def test_that_no_source_asks_qt_for_its_focus_chain() -> None:
    # PySide ties what it names to the widget asked, for good: closed tabs stay in memory, and
    # wrappers of what Qt made are declared dead with a widget that they have nothing to do with.
    root = Path(__file__).parents[2]
    sources = [path for folder in ("app", "widgets") for path in (root / folder).rglob("*.py")]
    assert len(sources) > 50
    asking = [path.name for path in sources if "InFocusChain()" in path.read_text("utf-8")]
    assert asking == []
