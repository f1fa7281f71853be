"""Whole conversations, branches, and questions that are put otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.widgets.chatting import MODEL, answer, shown_text
from widgets.attached_text import Attached, message_text
from widgets.chat_view import ChatView
from widgets.message_answer import AnswerView
from widgets.message_record import AnswerRecord, Branch, Record, UserRecord
from widgets.message_user import EDIT_CHARS, UserMessage

pytestmark = pytest.mark.gui
FIGURES = "TTFT 1 s"


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ChatView:
    view = ChatView()
    view.resize(600, 500)
    shown(view)
    return view


def said(count: int) -> list[Record]:
    """A conversation of so many messages."""
    records: list[Record] = []
    for number in range(1, count + 1, 2):
        records.append(UserRecord("You", f"Question {number}", Branch(number)))
        text = f"Answer {number}. " + "Words of it. " * 60
        records.append(AnswerRecord(MODEL, text, False, FIGURES, branch=Branch(number + 1)))
    return records[:count]


def question(view: ChatView, place: int) -> UserMessage:
    view.messages_area.rows[place].wake()
    message = view.messages_area.rows[place].live
    assert isinstance(message, UserMessage)
    return message


def ids(view: ChatView) -> list[int]:
    return [row.branch.turn_id for row in view.messages_area.rows]


# --- Whole conversations -------------------------------------------------------------------------


def test_that_a_stored_conversation_is_shown_at_its_end(qtbot: QtBot, view: ChatView) -> None:
    view.show_turns(said(8))
    qtbot.waitUntil(lambda: answer(view).is_settled)
    assert answer(view).footer.figures_text() == FIGURES
    assert shown_text(answer(view)).startswith("Answer 7.")
    bar = view.messages_area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0)
    qtbot.waitUntil(lambda: all(row.live is not None for row in view.messages_area.rows))


def test_that_of_a_long_conversation_only_what_is_seen_is_built(
    qtbot: QtBot, view: ChatView
) -> None:
    view.show_turns(said(500))
    qtbot.waitUntil(lambda: len(view.messages_area.rows) == 500)
    qtbot.waitUntil(lambda: answer(view).is_settled)
    assert sum(row.live is not None for row in view.messages_area.rows) < 40
    assert ids(view) == list(range(1, 501))
    bar = view.messages_area.verticalScrollBar()
    bar.setValue(0)
    first = view.messages_area.rows[0]
    qtbot.waitUntil(lambda: first.live is not None)


def test_that_the_oldest_messages_come_when_they_are_looked_for(
    qtbot: QtBot, view: ChatView
) -> None:
    view.show_turns(said(800))
    qtbot.waitUntil(lambda: len(view.messages_area.rows) >= 600)
    assert len(view.messages_area.rows) < 800
    bar = view.messages_area.verticalScrollBar()

    def reached() -> bool:
        bar.setValue(0)
        return len(view.messages_area.rows) == 800

    qtbot.waitUntil(reached)
    assert ids(view) == list(range(1, 801))


def test_that_a_question_can_be_asked_before_all_is_there(qtbot: QtBot, view: ChatView) -> None:
    records = said(300)
    view.show_turns(records)
    view.show_turns([*records, UserRecord("You", "new", Branch(301))])
    view.begin_answer(MODEL, Branch(302))
    qtbot.waitUntil(lambda: len(view.messages_area.rows) == 302)
    assert ids(view) == list(range(1, 303))


def test_that_messages_in_view_stay_when_earlier_ones_come(qtbot: QtBot, view: ChatView) -> None:
    view.show_turns(said(800))
    area = view.messages_area
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: len(area.rows) >= 600)
    first = area.rows[0]
    bar.setValue(0)
    qtbot.waitUntil(lambda: len(area.rows) > 600 and not first.is_held)
    QTest.qWait(20)
    assert abs(first.y() - bar.value()) < view.height()


def test_that_a_conversation_can_be_cleared_while_it_is_still_coming(
    qtbot: QtBot, view: ChatView
) -> None:
    view.show_turns(said(800))
    view.show_turns([])
    assert view.empty.isVisible()
    QTest.qWait(20)
    assert not view.messages_area.rows


# --- Branches ------------------------------------------------------------------------------------


def test_that_another_branch_replaces_only_what_differs(qtbot: QtBot, view: ChatView) -> None:
    view.show_turns(said(4))
    kept = view.messages_area.rows[:2]
    view.show_turns(
        [*said(2), UserRecord("You", "Put otherwise", Branch(5, 2, 2)),
         AnswerRecord(MODEL, "Another answer", False, branch=Branch(6))]
    )  # fmt: skip
    assert view.messages_area.rows[:2] == kept
    assert ids(view) == [1, 2, 5, 6]
    assert question(view, 2).switch.label.text() == "2/2"


def test_that_a_switch_says_where_it_is_and_asks_for_others(qtbot: QtBot, view: ChatView) -> None:
    records = said(2)
    records[1] = AnswerRecord(MODEL, "B", False, branch=Branch(3, 2, 3))
    view.show_turns(records)
    switch = answer(view).footer.switch
    assert switch.isVisible()
    assert switch.label.accessibleName() == "Answer 2 of 3"
    asked: list[tuple[int, int]] = []
    view.branch_requested.connect(lambda number, step: asked.append((number, step)))
    switch.previous_button.click()
    switch.next_button.click()
    view.rows.step_branch(1)
    assert asked == [(3, -1), (3, 1), (3, 1)]
    records[1] = AnswerRecord(MODEL, "C", False, branch=Branch(4, 3, 3))
    view.show_turns(records)
    assert not answer(view).footer.switch.next_button.isEnabled()
    view.rows.step_branch(1)
    assert len(asked) == 3


def test_that_the_view_stays_at_the_branch_that_is_chosen(qtbot: QtBot, view: ChatView) -> None:
    view.show_turns(said(12))
    area = view.messages_area
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: all(r.live is not None and not r.is_held for r in area.rows))
    bar.setValue(area.rows[2].y())
    place = bar.value()
    other: list[Record] = [
        UserRecord("You", "Put otherwise", Branch(21, 2, 2)),
        *(AnswerRecord(MODEL, "Words. " * 300, False, branch=Branch(22 + n)) for n in range(6)),
    ]
    view.show_turns([*said(2), *other], stays=True)
    QTest.qWait(50)
    assert bar.value() == place
    assert not area.is_following


def test_that_the_keyboard_stays_at_the_switch(qtbot: QtBot, view: ChatView) -> None:
    def branch(number: int) -> list[Record]:
        return [said(2)[0], AnswerRecord(MODEL, "A", False, branch=Branch(number + 1, number, 3))]

    view.show_turns(branch(1))
    view.branch_requested.connect(lambda number, step: view.show_turns(branch(number - 1 + step)))
    first = answer(view).switch
    first.next_button.setFocus()
    QTest.keyClick(first.next_button, Qt.Key.Key_Space)
    second = answer(view).switch
    assert second is not first
    assert second.next_button.hasFocus()
    QTest.keyClick(second.next_button, Qt.Key.Key_Space)
    assert answer(view).switch.branch.number == 3
    assert answer(view).switch.previous_button.hasFocus()


def test_that_a_lone_message_has_no_switch(view: ChatView) -> None:
    view.show_turns(said(2))
    assert not answer(view).footer.switch.isVisible()
    assert not question(view, 0).switch.isVisible()


def test_that_another_answer_can_be_asked_for_while_none_is_written(view: ChatView) -> None:
    asked: list[int] = []
    view.again_requested.connect(asked.append)
    view.show_turns(said(2))
    answer(view).footer.again_button.click()
    view.rows.ask_again()
    assert asked == [2, 2]
    view.begin_answer(MODEL, Branch(3, 2, 2))
    assert not view.messages_area.rows[1].live.footer.again_button.isEnabled()  # type: ignore[union-attr]
    view.rows.ask_again()
    view.finish_answer("", None, False)
    view.set_enabled_reason("No model.")
    view.rows.ask_again()
    assert asked == [2, 2]


def test_that_an_answer_nobody_numbered_cannot_be_given_again(view: ChatView) -> None:
    view.add_user_message("q")
    view.begin_answer(MODEL)
    view.finish_answer("", None, False)
    assert not answer(view).footer.again_button.isVisible()
    assert not question(view, 0).edit_button.isVisible()


def test_that_the_answer_under_way_is_taken_up_by_its_number(view: ChatView) -> None:
    view.show_turns(said(2))
    view.begin_answer(MODEL, Branch(2))
    assert view.is_streaming
    assert ids(view) == [1, 2]


# --- Editing -------------------------------------------------------------------------------------


def test_that_a_question_is_edited_in_its_place(qtbot: QtBot, view: ChatView) -> None:
    sent: list[tuple[int, str]] = []
    view.edit_sent.connect(lambda number, text: sent.append((number, text)))
    view.show_turns(said(4))
    message = question(view, 2)
    message.edit_button.click()
    editor = message.editor
    assert editor is not None
    assert editor.editor.hasFocus()
    assert editor.editor.toPlainText() == "Question 3"
    QTest.keyClicks(editor.editor, " again")
    QTest.keyClick(editor.editor, Qt.Key.Key_Return)
    assert sent == [(3, "Question 3 again")]
    assert message.editor is None


def test_that_esc_gives_an_edit_up_and_stops_nothing(view: ChatView) -> None:
    sent: list[object] = []
    view.edit_sent.connect(lambda *words: sent.append(words))
    view.stop_requested.connect(lambda: sent.append("stop"))
    view.show_turns(said(2))
    view.rows.edit_last()
    editor = question(view, 0).editor
    assert editor is not None
    QTest.keyClicks(editor.editor, "x")
    QTest.keyClick(editor.editor, Qt.Key.Key_Escape)
    assert question(view, 0).editor is None
    assert shown_text(question(view, 0)) == "Question 1"
    assert not sent


def test_that_an_unchanged_or_empty_question_is_not_sent_again(view: ChatView) -> None:
    sent: list[object] = []
    view.edit_sent.connect(lambda *words: sent.append(words))
    view.show_turns(said(2))
    question(view, 0).start_edit()
    editor = question(view, 0).editor
    assert editor is not None
    editor.editor.setPlainText("   ")
    assert not editor.send_button.isEnabled()
    QTest.keyClick(editor.editor, Qt.Key.Key_Return)
    assert question(view, 0).editor is editor
    editor.editor.setPlainText("Question 1")
    editor.send_button.click()
    assert question(view, 0).editor is None
    assert not sent


def test_that_files_stay_with_a_question_that_is_edited(view: ChatView) -> None:
    sent: list[str] = []
    view.edit_sent.connect(lambda _, text: sent.append(text))
    files = [Attached("notes.txt", "one\ntwo\n")]
    view.show_turns([UserRecord("You", message_text(files, "What?"), Branch(1))])
    message = question(view, 0)
    assert shown_text(message) == "What?"
    [chip] = [chip for chip in message._chips if chip.isVisible()]
    assert chip.preview_button.text() == "notes.txt · 7 B · 2 lines"
    assert not chip.remove_button.isVisible()
    message.start_edit()
    assert message.editor is not None
    message.editor.editor.setPlainText("Why?")
    message.editor.send_button.click()
    assert sent == [message_text([Attached("notes.txt", "one\ntwo")], "Why?")]


def test_that_a_text_too_long_to_be_edited_says_so(view: ChatView) -> None:
    view.show_turns([UserRecord("You", "x" * (EDIT_CHARS + 1), Branch(1))])
    button = question(view, 0).edit_button
    assert not button.isEnabled()
    assert "Too long" in button.toolTip()


def test_that_a_message_being_edited_is_not_given_up(qtbot: QtBot, view: ChatView) -> None:
    view.show_turns(said(80))
    area = view.messages_area
    qtbot.waitUntil(lambda: len(area.rows) == 80 and answer(view).is_settled)
    message = question(view, 0)
    message.start_edit()
    area.rows[2].wake()
    area.jump_to_end()
    qtbot.waitUntil(lambda: area.rows[2].live is None)
    assert area.rows[0].live is message


def test_that_built_messages_know_whether_they_may_change(qtbot: QtBot, view: ChatView) -> None:
    view.set_enabled_reason("No model.")
    view.show_turns(said(2))
    assert not question(view, 0).edit_button.isEnabled()
    view.set_enabled_reason(None)
    assert question(view, 0).edit_button.isEnabled()
    assert isinstance(view.messages_area.rows[1].live, AnswerView)
