"""A page in less height than it needs is scrolled, in more it fills it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from widgets.tall_page import TallPage

pytestmark = pytest.mark.gui


@pytest.fixture
def tall(qtbot: QtBot, themed: QApplication) -> TallPage:
    inner = QWidget()
    needs = QLabel(inner)
    needs.setFixedSize(200, 500)
    column = QVBoxLayout(inner)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(needs)
    made = TallPage(inner)
    qtbot.addWidget(made)
    made.resize(300, 800)
    made.show()
    QApplication.processEvents()
    return made


def test_that_a_page_fills_the_height_there_is(tall: TallPage) -> None:
    assert tall.page.size() == QSize(300, 800)
    assert not tall.verticalScrollBar().isVisible()


def test_that_a_page_is_scrolled_where_there_is_too_little(tall: TallPage) -> None:
    assert tall.minimumSizeHint().height() < 200
    tall.resize(300, 200)
    QApplication.processEvents()
    assert tall.page.height() == 500
    assert tall.verticalScrollBar().maximum() == 300
    # Beside the bar there is still all of its width.
    bar_px = tall.verticalScrollBar().width()
    assert tall.page.width() == 300 - bar_px
    assert tall.minimumSizeHint().width() == 200 + bar_px


def test_that_those_around_learn_of_another_width(qtbot: QtBot, themed: QApplication) -> None:
    around, inner = QWidget(), QWidget()
    label = QLabel("short")
    QVBoxLayout(inner).addWidget(label)
    QVBoxLayout(around).addWidget(TallPage(inner))
    qtbot.addWidget(around)
    around.show()
    QApplication.processEvents()
    before = around.minimumSizeHint().width()
    label.setText("a text that is very much longer than the one before")
    QApplication.processEvents()
    assert around.minimumSizeHint().width() > before
