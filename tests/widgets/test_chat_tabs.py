"""Conversations as tabs: opening, closing, switching by keyboard, marks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QTabBar, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from resources.tokens import DARK, LIGHT
from widgets.chat_tabs import ChatTabs
from widgets.theme import apply_theme

pytestmark = pytest.mark.gui
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
NO_ARROW = Qt.ArrowType.NoArrow


@pytest.fixture
def tabs(shown: Callable[[QWidget], None]) -> ChatTabs:
    tabs = ChatTabs()
    tabs.resize(700, 500)
    for name in "abc":
        tabs.add_conversation(name, f"Chat {name.upper()}")
    shown(tabs)
    return tabs


def words(tabs: ChatTabs) -> list[str]:
    return [tabs.bar.tabText(index) for index in range(tabs.bar.count())]


def test_that_a_new_conversation_is_in_front_and_ready_to_write(tabs: ChatTabs) -> None:
    assert tabs.current_id() == "c"
    assert tabs.conversation_ids() == ("a", "b", "c")
    assert tabs.conversation("c").isVisible()
    assert not tabs.conversation("a").isVisible()
    assert tabs.conversation("c").composer.editor.hasFocus()
    with pytest.raises(ValueError, match="already"):
        tabs.add_conversation("a", "again")
    with pytest.raises(KeyError):
        tabs.conversation("z")


def test_that_plus_and_ctrl_t_ask_for_a_conversation(qtbot: QtBot, tabs: ChatTabs) -> None:
    with qtbot.waitSignal(tabs.conversation_opened):
        tabs.new_button.click()
    with qtbot.waitSignal(tabs.conversation_opened):
        QTest.keyClick(tabs.conversation("c").composer.editor, Qt.Key.Key_T, CTRL)
    assert len(tabs.conversation_ids()) == 3  # the owner decides


def test_that_the_cross_and_ctrl_w_ask_to_close(tabs: ChatTabs) -> None:
    closed: list[str] = []
    tabs.conversation_closed.connect(closed.append)
    cross = tabs.bar.tabButton(0, QTabBar.ButtonPosition.RightSide)
    assert isinstance(cross, QAbstractButton)
    cross.click()
    QTest.keyClick(tabs.conversation("c").composer.editor, Qt.Key.Key_W, CTRL)
    assert closed == ["a", "c"]
    tabs.remove_conversation("c")
    assert tabs.current_id() == "b"
    assert tabs.conversation("b").isVisible()
    tabs.remove_conversation("a")
    tabs.remove_conversation("b")
    assert tabs.current_id() == ""


@pytest.mark.parametrize(
    ("key", "modifiers", "expected"),
    [
        (Qt.Key.Key_Tab, CTRL, "a"),
        (Qt.Key.Key_Backtab, CTRL | SHIFT, "b"),
        (Qt.Key.Key_PageDown, CTRL, "a"),
        (Qt.Key.Key_PageUp, CTRL, "b"),
        (Qt.Key.Key_2, CTRL, "b"),
        (Qt.Key.Key_9, CTRL, "c"),
    ],
)
def test_that_keys_switch(
    tabs: ChatTabs, key: Qt.Key, modifiers: Qt.KeyboardModifier, expected: str
) -> None:
    changed: list[str] = []
    tabs.current_changed.connect(changed.append)
    QTest.keyClick(tabs.conversation("c").composer.editor, key, modifiers)
    assert tabs.current_id() == expected
    assert changed == ([expected] if expected != "c" else [])


def test_that_marks_say_who_streams_and_who_waits(tabs: ChatTabs) -> None:
    for name in "ab":
        tabs.conversation(name).add_user_message("q")
    tabs.conversation("a").begin_answer("Model")
    tabs.conversation("b").set_queued(2)
    assert words(tabs) == ["● Chat A", "○ 2 Chat B", "Chat C"]
    assert tabs.bar.tabToolTip(0) == "Chat A · streaming"
    assert tabs.bar.accessibleTabName(1) == "Chat B · queued 2"
    tabs.conversation("a").finish_answer("", None, False)
    tabs.conversation("b").set_queued(None)
    assert words(tabs) == ["Chat A", "Chat B", "Chat C"]


def test_that_a_mark_does_not_move_the_tabs(tabs: ChatTabs) -> None:
    QTest.qWait(1)
    before = [tabs.bar.tabRect(index) for index in range(3)]
    tabs.conversation("a").begin_answer("Model")
    tabs.set_title("b", "A title that is much too long for the width of a tab & more")
    QTest.qWait(1)
    assert [tabs.bar.tabRect(index) for index in range(3)] == before
    assert tabs.bar.tabToolTip(1).endswith("tab & more")
    assert len(words(tabs)[1]) < 30


def test_that_several_conversations_stream_at_once(qtbot: QtBot, tabs: ChatTabs) -> None:
    for name in "abc":
        view = tabs.conversation(name)
        view.add_user_message("q")
        view.begin_answer("Model")
    for _ in range(20):
        for name in "abc":
            tabs.conversation(name).append_text(f"word of {name} ")
        QTest.qWait(5)
    for name in "abc":
        tabs.conversation(name).finish_answer("TTFT 1 s", None, False)
    for name in "abc":
        tabs.set_current(name)
        answer = tabs.conversation(name).messages_area.rows[-1].live
        assert answer is not None
        qtbot.waitUntil(partial(getattr, answer, "is_settled"))
        assert answer.text() == f"word of {name} " * 20


def test_that_the_slots_are_explained(tabs: ChatTabs) -> None:
    tabs.set_slot_count(4)
    assert "4 can stream at once" in tabs.new_button.toolTip()
    tabs.set_slot_count(1)
    assert "one at a time streams" in tabs.new_button.accessibleDescription()


def test_that_tabs_shrink_in_a_narrow_window(tabs: ChatTabs) -> None:
    tabs.resize(380, 400)
    QTest.qWait(1)
    assert tabs.bar.tabRect(2).right() <= tabs.width()
    assert tabs.new_button.geometry().right() <= tabs.width()


def test_that_a_palette_reaches_new_and_old_conversations(tabs: ChatTabs) -> None:
    tabs.set_palette(LIGHT)
    tabs.add_conversation("d", "D")
    assert tabs.conversation("d").composer.button.isVisible()


def test_that_hidden_conversations_change_colours_when_they_are_seen(
    tabs: ChatTabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    dressed: list[str] = []
    for name in "abc":
        monkeypatch.setattr(
            tabs.conversation(name), "set_palette", lambda _, name=name: dressed.append(name)
        )
    tabs.set_palette(LIGHT)
    assert dressed == ["c"]
    tabs.set_current("a")
    tabs.set_current("c")
    tabs.set_current("a")
    assert dressed == ["c", "a"]
    tabs.remove_conversation("b")
    assert dressed == ["c", "a"]


@pytest.mark.parametrize("count", [4, 6])
def test_that_titles_are_shortened_at_their_end_only(tabs: ChatTabs, count: int) -> None:
    tabs.resize(560, 400)
    for place in range(3, count):
        tabs.add_conversation(str(place), "Write a python function that sorts")
    for name in tabs.conversation_ids():
        tabs.set_title(name, "Write a python function that sorts")
        tabs.set_streaming(name, True)
    QTest.qWait(1)
    for index, shown in enumerate(words(tabs)):
        assert shown.startswith("● Wri")
        assert shown.endswith("…")
        room = tabs.bar.tabRect(index).width()
        cross = tabs.bar.tabButton(index, QTabBar.ButtonPosition.RightSide)
        assert isinstance(cross, QAbstractButton)
        assert tabs.bar.fontMetrics().horizontalAdvance(shown) + cross.width() < room


def test_that_tabs_that_do_not_fit_can_be_scrolled_to(tabs: ChatTabs) -> None:
    tabs.resize(400, 400)
    for place in range(3, 9):
        tabs.add_conversation(str(place), "A title")
    QTest.qWait(1)
    arrows = [b for b in tabs.bar.findChildren(QToolButton) if b.arrowType() != NO_ARROW]
    assert len(arrows) == 2
    assert all(arrow.isVisible() for arrow in arrows)
    assert tabs.new_button.geometry().right() <= tabs.width()


def test_that_type_that_was_large_for_a_while_leaves_the_tabs_as_high_as_they_were(
    qapp: QApplication, tabs: ChatTabs
) -> None:
    heights = []
    for scale in (1.0, 1.5, 1.0):
        apply_theme(qapp, DARK, scale)
        QApplication.processEvents()
        heights.append(tabs.bar.height())
    assert heights[0] == heights[2] < heights[1]
