"""What a base model goes on with is shown as it came: it may be code, and is no Markdown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtGui import QFontInfo, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from resources.tokens import DARK, LIGHT
from tests.widgets.chatting import MODEL, answer, blocks, code_blocks, lay_out, runs, wait_shown
from widgets.chat_view import ChatView
from widgets.message_answer import AnswerView
from widgets.message_record import AnswerRecord
from widgets.message_selection import SelectionGroup
from widgets.message_text import MAX_RUN_CHARS

pytestmark = pytest.mark.gui

CODE = """(n):
    if n < 2:
        return n
    # *twice*
    return f(n - 1) + f(n - 2)

1. no list
<think>no thought</think>
```
no fence
"""


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ChatView:
    view = ChatView()
    view.resize(600, 500)
    view.set_mode(is_completion=True, note="A base model.")
    shown(view)
    return view


def streamed(qtbot: QtBot, view: ChatView, text: str, size: int) -> AnswerView:
    """An answer that comes in pieces, each of which is shown before the next one comes."""
    view.add_user_message("def f")
    view.begin_answer(MODEL)
    for start in range(0, len(text), size):
        view.append_text(text[start : start + size])
        if start < 20 * size:
            answer(view).show_now()
    wait_shown(qtbot, view)
    view.finish_answer("TTFT 1 s", None, False)
    qtbot.waitUntil(lambda: answer(view).is_settled, timeout=20_000)
    lay_out(view)
    return answer(view)


def shown_lines(message: AnswerView) -> list[str]:
    return [line for run in runs(message) for line in run.toPlainText().split("\n")]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_that_every_line_stays_a_line(qtbot: QtBot, view: ChatView, size: int) -> None:
    message = streamed(qtbot, view, CODE, size)
    assert shown_lines(message) == CODE.split("\n")
    assert code_blocks(message) == []
    assert message.thought is None
    assert message.answer_text() == message.text() == CODE
    assert QFontInfo(runs(message)[0].font()).fixedPitch()


def test_that_a_chat_model_s_answer_is_markdown_still(qtbot: QtBot, view: ChatView) -> None:
    view.set_mode(is_completion=False, note="")
    message = streamed(qtbot, view, "soft\nbreak\n\n**bold**", 3)
    assert shown_lines(message) == ["soft break", "bold"]


def test_that_a_stored_one_looks_like_the_one_that_came(qtbot: QtBot, view: ChatView) -> None:
    came = streamed(qtbot, view, CODE, 5)
    stored = AnswerView(came.record(), DARK, SelectionGroup(view))
    qtbot.addWidget(stored)
    stored.show()
    qtbot.waitUntil(lambda: stored.is_settled, timeout=20_000)
    assert stored.record().is_plain
    assert shown_lines(stored) == shown_lines(came)


def test_that_lines_are_not_parted_in_other_colours(qtbot: QtBot, view: ChatView) -> None:
    message = streamed(qtbot, view, CODE, 9)
    [run] = runs(message)
    before_px = run.height()
    message.set_palette(LIGHT)
    lay_out(view)
    assert run.height() == before_px
    assert {block.blockFormat().topMargin() for block in blocks(run)} == {0.0}


def test_that_a_long_text_begins_a_new_run_at_a_line_end(qtbot: QtBot, view: ChatView) -> None:
    line = "x = 1  # " + 70 * "." + "\n"
    text = line * (3 * MAX_RUN_CHARS // len(line))
    message = streamed(qtbot, view, text, 400)
    assert len(runs(message)) > 1
    assert shown_lines(message) == text.split("\n")


def test_that_a_line_without_an_end_is_broken_before_it_holds_up_the_window(
    qtbot: QtBot, view: ChatView
) -> None:
    text = "abc " * MAX_RUN_CHARS
    message = streamed(qtbot, view, text, 500)
    assert max(len(run.toPlainText()) for run in runs(message)) < 3 * MAX_RUN_CHARS
    assert "".join(shown_lines(message)) == text


def test_that_a_selection_stays_while_text_comes(qtbot: QtBot, view: ChatView) -> None:
    view.add_user_message("def f")
    view.begin_answer(MODEL)
    view.append_text("(n):\n")
    answer(view).show_now()
    [run] = runs(answer(view))
    run.selectAll()
    view.append_text("    pass")
    answer(view).show_now()
    assert run.selected_text() == "(n):\n"
    cursor = run.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    assert run.toPlainText() == "(n):\n    pass"
    message = answer(view)
    message._selection.copy()
    assert QGuiApplication.clipboard().text() == "(n):\n"


def test_that_a_record_says_so(view: ChatView) -> None:
    view.add_user_message("def f")
    view.begin_answer(MODEL)
    assert answer(view).record() == AnswerRecord(MODEL, is_plain=True)
