"""The keyboard goes from area to area, and nothing that was closed stays because of it."""

from __future__ import annotations

import gc

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.focus_areas import FocusAreas

pytestmark = pytest.mark.gui


class _Leaf(QPushButton):
    """One that can be told from all other widgets."""


def _leaves() -> list[_Leaf]:
    gc.collect()
    return [thing for thing in gc.get_objects() if isinstance(thing, _Leaf)]


def test_that_a_closed_widget_goes_although_the_keyboard_was_near_it(
    qtbot: QtBot, qapp: QApplication
) -> None:
    area = QWidget()
    qtbot.addWidget(area)
    layout = QVBoxLayout(area)
    areas = FocusAreas(qapp, area)
    areas.add("area", area)
    layout.addWidget(QPushButton("stays"))
    area.show()
    for _ in range(3):
        leaf = _Leaf("goes")
        layout.insertWidget(0, leaf)
        assert areas.go("area")
        leaf.hide()
        leaf.deleteLater()
        del leaf
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert _leaves() == []


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
