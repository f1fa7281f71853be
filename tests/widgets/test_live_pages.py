"""The pages of the live column."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from widgets.live_pages import LivePages


@pytest.fixture
def pages(qtbot: QtBot) -> LivePages:
    found = LivePages(
        (("Charts", QLabel("one")), ("Ceiling", QLabel("two")), ("Room", QLabel("3")))
    )
    qtbot.addWidget(found)
    with qtbot.waitExposed(found):
        found.show()
    return found


def _seen(pages: LivePages) -> list[str]:
    words = {"one", "two", "3"}
    return [
        each.text()
        for each in pages.findChildren(QLabel)
        if each.text() in words and each.isVisible()
    ]


def test_that_the_first_page_is_in_front_and_the_only_one_seen(pages: LivePages) -> None:
    assert pages.index == 0
    assert _seen(pages) == ["one"]


def test_that_a_page_comes_to_the_front_with_its_word(pages: LivePages, qtbot: QtBot) -> None:
    with qtbot.waitSignal(pages.page_shown) as shown:
        pages.show_page(2)
    assert shown.args == [2]
    assert pages.choice.index() == 2
    assert _seen(pages) == ["3"]


def test_that_the_keyboard_reaches_every_page(pages: LivePages) -> None:
    pages.choice.setFocus()
    focused = pages.choice.focusProxy()
    assert focused is not None
    QTest.keyClick(focused, Qt.Key.Key_Right)
    current = pages.focusWidget()
    assert current is not None
    QTest.keyClick(current, Qt.Key.Key_Return)
    assert pages.index == 1


def test_that_the_page_in_front_stays_without_a_word(pages: LivePages, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(pages.page_shown):
        pages.show_page(0)


def test_that_a_page_is_explained_where_its_word_stands(pages: LivePages) -> None:
    pages.explain(1, "How fast it could be, and how fast it is.")
    buttons = pages.choice.findChildren(QPushButton)
    assert "How fast it could be" in buttons[1].toolTip()
    assert buttons[1].accessibleDescription() == "How fast it could be, and how fast it is."
    assert buttons[1].accessibleName() == "Page: Ceiling"
    assert buttons[0].toolTip() == ""
