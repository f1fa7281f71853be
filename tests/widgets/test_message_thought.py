"""What was thought before an answer: folded, counted, copied apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.widgets.chatting import MODEL, answer, answered, shown_text, wait_shown
from widgets.chat_view import ChatView
from widgets.message_record import AnswerRecord, Branch
from widgets.message_text import TextRun
from widgets.message_thought import ThoughtView

pytestmark = pytest.mark.gui
THOUGHT = "<think>\nLet me **see**.\n</think>\n\nIt is 4."


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ChatView:
    view = ChatView()
    view.resize(600, 500)
    shown(view)
    return view


def begun(view: ChatView) -> None:
    view.add_user_message("2 + 2?")
    view.begin_answer(MODEL)


def thought(view: ChatView) -> ThoughtView:
    found = answer(view).thought
    assert found is not None
    return found


def test_that_a_thought_streams_open_and_folds_when_the_answer_begins(
    qtbot: QtBot, view: ChatView
) -> None:
    begun(view)
    view.append_text("<think>\nLet me ")
    view.rows.set_think_tok(3)
    wait_shown(qtbot, view)
    assert thought(view).is_open
    assert thought(view).button.text() == "Thinking · 3 tok"
    assert shown_text(thought(view)) == "Let me"
    view.append_text("**see**.\n</think>\n\nIt is")
    wait_shown(qtbot, view)
    assert not thought(view).is_open
    assert not thought(view).body.isVisible()
    assert thought(view).button.accessibleName() == "Thought · 3 tok, folded"
    assert shown_text(answer(view).body) == "It is"


def test_that_a_user_s_choice_is_kept_when_the_answer_begins(qtbot: QtBot, view: ChatView) -> None:
    begun(view)
    view.append_text("<think>\nLet me ")
    thought(view).button.click()
    thought(view).button.click()
    view.append_text("see.</think>Yes")
    wait_shown(qtbot, view)
    assert thought(view).is_open


@pytest.mark.parametrize("how", ["scrolled", "selected"])
def test_that_a_thought_that_is_read_is_not_folded_away(
    qtbot: QtBot, view: ChatView, how: str
) -> None:
    begun(view)
    view.append_text("<think>\n" + "A line of thought.\n\n" * 60)
    wait_shown(qtbot, view)
    bar = view.messages_area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    if how == "scrolled":
        bar.setValue(20)
    else:
        thought(view).findChildren(TextRun)[0].selectAll()
        view.messages_area.jump_to_end()
    view.append_text("</think>Yes")
    wait_shown(qtbot, view)
    assert thought(view).is_open
    assert thought(view).button.text() == "Thought"


def test_that_a_thought_the_template_opened_is_one(qtbot: QtBot, view: ChatView) -> None:
    begun(view)
    view.rows.start_in_thought()
    view.append_text("Let me see.\n</think>\n\nIt is 4.")
    view.finish_answer("", None, False)
    wait_shown(qtbot, view)
    assert thought(view).text() == "Let me see."
    assert answer(view).answer_text() == "It is 4."
    assert answer(view).record().starts_in_thought


def test_that_an_answer_without_a_thought_has_no_row(qtbot: QtBot, view: ChatView) -> None:
    assert answered(qtbot, view, "It is 4. Not <think> at all.").thought is None
    assert answered(qtbot, view, "<think>\n\n</think>\n\nIt is 4.").thought is None
    assert answer(view).answer_text() == "It is 4."


def test_that_copy_leaves_the_thought_out_and_the_text_keeps_it(
    qtbot: QtBot, view: ChatView
) -> None:
    message = answered(qtbot, view, THOUGHT)
    message.footer.copy_button.click()
    assert QGuiApplication.clipboard().text() == "It is 4."
    assert message.text() == THOUGHT
    thought(view).button.click()
    thought(view).copy_button.click()
    assert QGuiApplication.clipboard().text() == "Let me **see**."


def test_that_a_stored_thought_is_not_rendered_before_it_is_opened(
    qtbot: QtBot, view: ChatView
) -> None:
    view.show_turns([AnswerRecord(MODEL, THOUGHT, False, "", branch=Branch(1), think_tok=5)])
    qtbot.waitUntil(lambda: answer(view).is_settled)
    assert thought(view).button.text() == "Thought · 5 tok"
    assert not thought(view).findChildren(TextRun)
    thought(view).button.click()
    qtbot.waitUntil(lambda: shown_text(thought(view)) == "Let me see.")


def test_that_an_answer_cut_in_its_thought_says_so_and_goes_on(
    qtbot: QtBot, view: ChatView
) -> None:
    begun(view)
    view.append_text("<think>\nLet me ")
    view.finish_answer("", "Stopped.", False)
    wait_shown(qtbot, view)
    assert thought(view).button.text() == "Thought"
    answer(view).resume()
    assert thought(view).button.text() == "Thinking"
    view.append_text("see.</think>Yes")
    view.finish_answer("", None, False)
    wait_shown(qtbot, view)
    assert (thought(view).text(), answer(view).answer_text()) == ("Let me see.", "Yes")


def test_that_the_first_paint_of_a_thought_counts_as_the_first_text(
    qtbot: QtBot, view: ChatView
) -> None:
    begun(view)
    with qtbot.waitSignal(view.first_painted):
        view.append_text("<think>Hm")
    with qtbot.assertNotEmitted(view.first_painted, wait=50):
        view.append_text("</think>Yes")
        wait_shown(qtbot, view)
