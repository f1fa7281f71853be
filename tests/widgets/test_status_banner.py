"""What went wrong: a sentence, the lines behind it, the ways on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from resources.tokens import DARK
from tests.widgets.finding import child
from widgets.status_banner import StatusBanner

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
SENTENCE = (
    "The engine was ended by SIGKILL while loading. The system does that when memory runs out."
)
STDERR = "\n".join(f"line {number}" for number in range(40))


@pytest.fixture
def banner(shown: Callable[[QWidget], None]) -> StatusBanner:
    made = StatusBanner()
    made.set_palette(DARK)
    made.resize(900, 60)
    shown(made)
    return made


def button(banner: StatusBanner, text: str) -> QPushButton:
    return next(b for b in banner.findChildren(QPushButton) if b.text() == text)


def test_that_it_is_hidden_while_all_is_well(qtbot: QtBot, themed: QApplication) -> None:
    banner = StatusBanner()
    qtbot.addWidget(banner)
    assert banner.isHidden()
    assert banner.sentence() == ""


def test_that_a_problem_offers_its_ways_on(banner: StatusBanner, qtbot: QtBot) -> None:
    banner.show_problem(SENTENCE, "", [("restart", "Restart the engine"), ("open", "Open…")])
    assert banner.sentence() == SENTENCE
    assert banner.accessibleName() == SENTENCE
    with qtbot.waitSignal(banner.action_requested) as asked:
        QTest.mouseClick(button(banner, "Restart the engine"), LEFT)
    assert asked.args == ["restart"]
    with qtbot.waitSignal(banner.action_requested) as asked:
        QTest.mouseClick(button(banner, "Open…"), LEFT)
    assert asked.args == ["open"]


def test_that_the_lines_behind_it_unfold_at_their_end_and_can_be_selected(
    banner: StatusBanner,
) -> None:
    banner.show_problem(SENTENCE, STDERR, [])
    detail = child(banner, QPlainTextEdit)
    assert not detail.isVisible()
    QTest.mouseClick(button(banner, "Details"), LEFT)
    QApplication.processEvents()
    assert detail.isVisible()
    assert detail.toPlainText() == STDERR
    assert detail.verticalScrollBar().value() == detail.verticalScrollBar().maximum() > 0
    assert detail.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_that_a_problem_without_lines_offers_none(banner: StatusBanner) -> None:
    banner.show_problem(SENTENCE, "", [])
    assert not button(banner, "Details").isVisible()


def test_that_a_new_problem_takes_the_place_of_the_old(banner: StatusBanner) -> None:
    banner.show_problem(SENTENCE, STDERR, [("restart", "Restart the engine")])
    QTest.mouseClick(button(banner, "Details"), LEFT)
    banner.show_problem("Another.", "one line", [("open", "Open…")])
    visible = [b.text() for b in banner.findChildren(QPushButton) if b.isVisible()]
    assert "Restart the engine" not in visible
    assert "Open…" in visible
    assert not child(banner, QPlainTextEdit).isVisible()


def test_that_it_can_be_dismissed_by_mouse_and_by_key(banner: StatusBanner, qtbot: QtBot) -> None:
    banner.show_problem(SENTENCE, "", [])
    with qtbot.waitSignal(banner.dismissed):
        QTest.mouseClick(child(banner, QToolButton), LEFT)
    assert banner.isHidden()
    banner.show_problem(SENTENCE, "", [("restart", "Restart the engine")])
    with qtbot.waitSignal(banner.dismissed):
        QTest.keyClick(button(banner, "Restart the engine"), Qt.Key.Key_Escape)
    assert banner.isHidden()


def test_that_untrusted_words_are_shown_as_they_are(banner: StatusBanner) -> None:
    banner.show_problem("<b>bold</b> <img src='file:///etc/passwd'>", "", [])
    assert banner.sentence().startswith("<b>")
    assert banner.sizeHint().width() > 0
