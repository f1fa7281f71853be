"""A message that a search found comes into view, whatever had to be built for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.storage.conversation_search import places_of
from resources.tokens import LIGHT
from tests.widgets.chatting import MODEL
from widgets.chat_view import ChatView
from widgets.message_code import CodeText
from widgets.message_record import AnswerRecord, Branch, Record, UserRecord
from widgets.message_text import TextRun

pytestmark = pytest.mark.gui


def find(text: str) -> list[tuple[int, int]]:
    return places_of(text, ("zebra",))


def said(count: int, zebra: int, text: str) -> list[Record]:
    """So many messages; ``text`` is that of message ``zebra``."""
    records: list[Record] = []
    for number in range(1, count + 1):
        words = text if number == zebra else f"Message {number}. " + "Words of it. " * 60
        if number % 2:
            records.append(UserRecord("You", words, Branch(number)))
        else:
            records.append(AnswerRecord(MODEL, words, False, "TTFT 1 s", branch=Branch(number)))
    return records


def marked(view: ChatView) -> list[str]:
    """What is marked, in order."""
    return [
        QTextCursor(selection.cursor).selectedText()
        for part in parts(view)
        for selection in part.extraSelections()
    ]


def parts(view: ChatView) -> list[TextRun | CodeText]:
    return [*view.findChildren(TextRun), *view.findChildren(CodeText)]


def is_mark_in_view(view: ChatView) -> bool:
    """Whether the first mark can be seen."""
    area = view.messages_area
    for part in parts(view):
        for selection in part.extraSelections():
            begin = QTextCursor(selection.cursor)
            begin.setPosition(begin.selectionStart())
            rect = part.cursorRect(begin)
            top = part.viewport().mapTo(area, rect.topLeft())
            is_within_part = part.viewport().rect().intersects(rect)
            seen = QRect(area.viewport().mapTo(area, QPoint()), area.viewport().size())
            return is_within_part and seen.contains(top)
    return False


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ChatView:
    view = ChatView()
    view.resize(420, 500)
    shown(view)
    return view


@pytest.mark.parametrize("zebra", [1, 2, 301, 900, 999, 1000])
def test_that_a_message_far_up_comes_into_view_with_its_words_marked(
    qtbot: QtBot, view: ChatView, zebra: int
) -> None:
    view.show_turns(
        said(1000, zebra, "Many words. " * 200 + "A Zebra and a zébra. " + "End. " * 50)
    )
    view.rows.reveal(zebra, find)
    qtbot.waitUntil(lambda: is_mark_in_view(view), timeout=20_000)
    assert marked(view) == ["Zebra", "zébra"]


@pytest.mark.parametrize(
    "text",
    [
        "<think>\n" + "Thought. " * 100 + "zebra\n</think>\nSaid.",
        "Code:\n\n```\n" + "x = 1\n" * 40 + " " * 300 + "zebra\n```\n",
        "🦓 is a **zebra**, they say",
    ],
)
def test_that_a_word_in_a_thought_or_in_code_comes_into_view(
    qtbot: QtBot, view: ChatView, text: str
) -> None:
    view.show_turns(said(30, 4, text))
    view.rows.reveal(4, find)
    qtbot.waitUntil(lambda: is_mark_in_view(view), timeout=20_000)
    assert marked(view) == ["zebra"]


def test_that_a_word_in_a_folded_question_comes_into_view(qtbot: QtBot, view: ChatView) -> None:
    view.show_turns(said(30, 5, "line\n" * 300 + "zebra\n" + "line\n" * 300))
    view.rows.reveal(5, find)
    qtbot.waitUntil(lambda: is_mark_in_view(view), timeout=20_000)
    for _ in range(60):  # later turns do not take it away again: one built anew would be folded
        QApplication.processEvents()
    assert is_mark_in_view(view)


def test_that_a_message_comes_into_view_when_its_words_are_not_shown_as_they_were_found(
    qtbot: QtBot, view: ChatView
) -> None:
    view.show_turns(said(30, 4, "ze**bra**z e b r a"))
    view.rows.reveal(4, lambda _: [])
    row = next(r for r in view.messages_area.rows if r.branch.turn_id == 4)
    qtbot.waitUntil(lambda: not row.visibleRegion().isEmpty(), timeout=20_000)
    assert marked(view) == []


def test_that_marks_stay_in_another_theme_and_go_when_the_search_ends(
    qtbot: QtBot, view: ChatView
) -> None:
    view.show_turns(said(6, 4, "A zebra."))
    view.rows.reveal(4, find)
    qtbot.waitUntil(lambda: is_mark_in_view(view), timeout=20_000)
    view.set_palette(LIGHT)
    qtbot.waitUntil(lambda: marked(view) == ["zebra"])
    view.rows.unmark()
    assert marked(view) == []


def test_that_the_user_can_scroll_away_from_what_was_found(qtbot: QtBot, view: ChatView) -> None:
    view.show_turns(said(60, 4, "A zebra."))
    view.rows.reveal(4, find)
    qtbot.waitUntil(lambda: is_mark_in_view(view), timeout=20_000)
    view.messages_area.jump_to_end()
    last = view.messages_area.rows[-1]
    qtbot.waitUntil(lambda: last.live is not None and not last.is_held, timeout=20_000)
    assert not is_mark_in_view(view)
    assert view.messages_area.is_following
