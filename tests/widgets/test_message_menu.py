"""What the context menu of a message offers, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from tests.widgets.chatting import answered, code_blocks, runs
from widgets.chat_view import ChatView
from widgets.message_record import Branch, UserRecord
from widgets.message_user import UserMessage

pytestmark = pytest.mark.gui
ANSWER = (
    "<think>Hm.</think>First [link](https://example.org/a) here.\n\nSecond.\n\n```py\nx = 1\n```\n"
)


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ChatView:
    view = ChatView()
    view.resize(600, 500)
    shown(view)
    return view


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[QMenu]:
    """The menus that would have opened: without a screen there is no keyboard to grab."""
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, *_: menus.append(menu))
    return menus


@pytest.fixture
def menu_at(opened: list[QMenu]) -> Callable[..., QMenu]:
    """Ask for the menu at a place of a widget."""

    def ask(
        widget: QWidget,
        at: QPoint,
        reason: QContextMenuEvent.Reason = QContextMenuEvent.Reason.Mouse,
    ) -> QMenu:
        opened.clear()
        QApplication.sendEvent(widget, QContextMenuEvent(reason, at, widget.mapToGlobal(at)))
        [menu] = opened
        return menu

    return ask


def words(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def choose(menu: QMenu, text: str) -> str:
    """What is on the clipboard after that entry."""
    [action] = [action for action in menu.actions() if action.text() == text]
    action.trigger()
    return QGuiApplication.clipboard().text()


def place_of(run: QWidget, cursor: QTextCursor) -> QPoint:
    return run.cursorRect(cursor).center()  # type: ignore[attr-defined, no-any-return]


def test_that_a_paragraph_and_a_link_can_be_copied(
    qtbot: QtBot, view: ChatView, menu_at: Callable[..., QMenu]
) -> None:
    message = answered(qtbot, view, ANSWER)
    run = runs(message.body)[0]
    cursor = run.document().find("link")
    menu = menu_at(run.viewport(), place_of(run, cursor))
    assert words(menu)[:2] == ["Copy the link's address", "Copy this paragraph"]
    assert choose(menu, "Copy the link's address") == "https://example.org/a"
    menu = menu_at(run.viewport(), place_of(run, run.document().find("Second")))
    assert choose(menu, "Copy this paragraph") == "Second."


def test_that_the_keyboard_opens_it_for_where_the_cursor_stands(
    qtbot: QtBot, view: ChatView, menu_at: Callable[..., QMenu]
) -> None:
    message = answered(qtbot, view, ANSWER)
    run = runs(message.body)[0]
    run.setFocus()
    run.setTextCursor(run.document().find("Second"))
    reason = QContextMenuEvent.Reason.Keyboard
    menu = menu_at(run.viewport(), QPoint(0, 0), reason)
    assert words(menu)[0] == "Copy"  # there is a selection
    assert choose(menu, "Copy this paragraph") == "Second."


def test_that_a_code_block_is_copied_whole(
    qtbot: QtBot, view: ChatView, menu_at: Callable[..., QMenu]
) -> None:
    message = answered(qtbot, view, ANSWER)
    [block] = code_blocks(message.body)
    menu = menu_at(block.text.viewport(), QPoint(4, 4))
    assert choose(menu, "Copy this code block") == "x = 1"


def test_that_an_answer_is_copied_with_or_without_its_thought(
    qtbot: QtBot, view: ChatView, menu_at: Callable[..., QMenu]
) -> None:
    message = answered(qtbot, view, ANSWER)
    menu = menu_at(message, QPoint(2, 2))
    assert choose(menu, "Copy the answer").startswith("First")
    menu = menu_at(message, QPoint(2, 2))
    assert choose(menu, "Copy the answer with its thought") == ANSWER
    menu = menu_at(message, QPoint(2, 2))
    assert choose(menu, "Copy the thought") == "Hm."
    with qtbot.waitSignal(view.conversation_copy_requested):
        choose(menu_at(message, QPoint(2, 2)), "Copy the conversation")


def test_that_a_question_is_copied_and_edited(
    qtbot: QtBot, view: ChatView, menu_at: Callable[..., QMenu]
) -> None:
    view.show_turns([UserRecord("You", "What?", Branch(1))])
    view.messages_area.rows[0].wake()
    message = view.messages_area.rows[0].live
    assert isinstance(message, UserMessage)
    assert choose(menu_at(message, QPoint(2, 2)), "Copy the message") == "What?"
    choose(menu_at(message, QPoint(2, 2)), "Edit the message")
    assert message.editor is not None
