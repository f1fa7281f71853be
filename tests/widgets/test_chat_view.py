"""One conversation: states, scrolling, long ones, and every widget within reach."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QTextCursor, QTextLayout
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from resources.chat_tokens import COLUMN_MAX_PX
from resources.prompts import CHAT_PROMPTS, COMPLETION_PROMPTS
from tests.widgets.chatting import MODEL, answer, answered, runs, shown_text, wait_shown
from tests.widgets.finding import child
from widgets.chat_scroll import ALWAYS_LIVE
from widgets.chat_view import ChatView
from widgets.message_answer import AnswerView
from widgets.message_notice import NoticeView
from widgets.message_text import TextRun
from widgets.message_user import UserMessage

pytestmark = pytest.mark.gui
LONG = "A paragraph of an answer that takes some room in the column.\n\n" * 40


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ChatView:
    view = ChatView()
    view.resize(600, 500)
    shown(view)
    return view


def wheel(view: ChatView, widget: QWidget, delta: int) -> None:
    """Turn the wheel over the visible middle of ``widget``; as the window gets it, so that an
    event that is ignored goes on to the parents."""
    at = widget.mapTo(view, widget.visibleRegion().boundingRect().center())
    QTest.wheelEvent(view.windowHandle(), QPointF(at), QPoint(0, delta))


def streams(view: ChatView) -> bool:
    return view.is_streaming


def visible_words(view: ChatView) -> list[str]:
    shown = [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
    return [text.replace("\u00a0", " ").replace("\u2060", "") for text in shown]


# --- States --------------------------------------------------------------------------------------


def test_that_an_empty_conversation_offers_prompts(view: ChatView) -> None:
    buttons = view.empty.buttons()
    assert [button.text() for button in buttons] == [prompt.title for prompt in CHAT_PROMPTS]
    buttons[1].click()
    assert view.draft() == CHAT_PROMPTS[1].text
    assert view.composer.editor.hasFocus()


def test_that_prompts_look_as_if_they_could_be_sent_only_when_they_can(view: ChatView) -> None:
    view.set_enabled_reason("Load a model first.")
    view.set_mode(True, "A base model.")
    assert not any(button.isEnabled() for button in view.empty.buttons())
    assert {button.toolTip() for button in view.empty.buttons()} == {"Load a model first."}
    view.set_enabled_reason(None)
    assert all(button.isEnabled() for button in view.empty.buttons())
    assert view.empty.buttons()[0].toolTip() == COMPLETION_PROMPTS[0].text


@pytest.mark.parametrize("width", range(300, 640, 30))
def test_that_figures_break_between_items_only(view: ChatView, width: int) -> None:
    view.resize(width, 500)
    items = ["TTFT 1.24 s", "2.5 tok/s", "prompt 18 (0 reused, 18 computed)", "304 new"]
    view.add_user_message("q")
    view.begin_answer(MODEL)
    view.append_text("a")
    view.finish_answer(" · ".join(items), None, False)
    QApplication.processEvents()
    label = answer(view).footer.figures
    layout = QTextLayout(label.text(), label.font())
    layout.beginLayout()
    lines = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(label.width())
        lines.append(label.text()[line.textStart() :][: line.textLength()])
    layout.endLayout()
    shown = [item for text in lines for item in text.split("·")]
    plain = [item.replace("\u00a0", " ").replace("\u2060", "").strip() for item in shown]
    assert [item for item in plain if item] == items


def test_that_the_reason_stands_where_the_user_looks(view: ChatView) -> None:
    view.set_enabled_reason("Load a model first: Ctrl+O opens a file.")
    assert view.empty.reason_label.isVisible()
    assert not view.composer.reason_label.isVisible()
    view.set_enabled_reason(None)
    view.add_user_message("Hello")
    view.set_enabled_reason("The engine is not running.")
    assert view.composer.reason_label.isVisible()
    view.clear()
    assert view.empty.reason_label.isVisible()


def test_that_a_base_model_is_said_to_continue_text(view: ChatView) -> None:
    view.set_system_prompt("Be brief.")
    assert view.system_prompt() == "Be brief."
    view.set_mode(True, "This model has no template.")
    assert "Text completion" in visible_words(view)
    assert "This model has no template." in visible_words(view)
    assert view.system_prompt() == ""
    assert not view.header.fold_button.isVisible()
    assert view.empty.buttons()[0].text() == COMPLETION_PROMPTS[0].title
    view.add_user_message("Once upon")
    assert "Text" in visible_words(view)
    view.set_mode(False, "")
    assert view.system_prompt() == "Be brief."


def test_that_the_system_prompt_unfolds_and_tells_of_changes(qtbot: QtBot, view: ChatView) -> None:
    assert not view.header.editor.isVisible()
    view.header.fold_button.click()
    assert view.header.editor.hasFocus()
    with qtbot.waitSignal(view.system_prompt_changed):
        QTest.keyClicks(view.header.editor, "Answer in rhymes.")
    view.header.fold_button.click()
    assert view.header.summary.full_text() == "Answer in rhymes."


def test_that_the_context_is_shown_and_warned_of(view: ChatView) -> None:
    view.composer.set_context_text("context 3,700 of 4,096 · 396 left", is_warning=True)
    view.composer.set_notice("The context is nearly full.", is_warning=True)
    for label, text in (
        (view.composer.context_label, "context 3,700 of 4,096 · 396 left"),
        (view.composer.notice_label, "The context is nearly full."),
    ):
        assert label.isVisible()
        assert label.text() == text
        assert label.property("role") == "hint-warning"
    view.composer.set_notice("", is_warning=False)
    assert not view.composer.notice_label.isVisible()


def test_that_sending_answering_and_stopping_follow_each_other(
    qtbot: QtBot, view: ChatView
) -> None:
    sent: list[str] = []
    view.sent.connect(sent.append)
    view.submit("Hello")
    assert sent == ["Hello"]
    view.add_user_message("Hello")
    view.begin_answer(MODEL)
    assert streams(view)
    assert "Reading the prompt…" in visible_words(view)
    view.append_text("Hi")
    wait_shown(qtbot, view)
    assert "Reading the prompt…" not in visible_words(view)
    with qtbot.waitSignal(view.stop_requested):
        QTest.keyClick(view.composer.editor, Qt.Key.Key_Escape)
    view.finish_answer("TTFT 0.31 s · TPOT 17.1 ms", "Stopped by you.", False)
    assert not streams(view)
    assert {"TTFT 0.31 s · TPOT 17.1 ms", "Stopped by you."} <= set(visible_words(view))
    with qtbot.assertNotEmitted(view.stop_requested):
        QTest.keyClick(view.composer.editor, Qt.Key.Key_Escape)


def test_that_a_reason_that_needs_a_person_is_marked(qtbot: QtBot, view: ChatView) -> None:
    message = answered(qtbot, view, "x")
    view.begin_answer(MODEL)
    view.finish_answer("", "The context is full.", True)
    assert answer(view) is not message
    assert answer(view).footer.reason.property("role") == "hint-warning"


def test_that_a_place_in_the_queue_is_shown_and_can_be_left(qtbot: QtBot, view: ChatView) -> None:
    view.add_user_message("Hello")
    view.set_queued(3)
    assert "Waiting for a free slot · 2 ahead of it" in visible_words(view)
    assert view.composer.button.text() == "Stop"
    with qtbot.waitSignal(view.stop_requested):
        view.composer.button.click()
    view.set_queued(1)
    assert "Waiting for a free slot · next in line" in visible_words(view)
    view.begin_answer(MODEL)
    QTest.qWait(1)
    assert visible_words(view).count("Waiting for a free slot · next in line") == 1
    assert "Reading the prompt…" not in visible_words(view)
    view.set_queued(None)
    assert "Reading the prompt…" in visible_words(view)
    view.finish_answer("", None, False)
    assert view.composer.button.text() == "Send"


def test_that_an_error_is_shown_and_retried_in_the_same_answer(
    qtbot: QtBot, view: ChatView
) -> None:
    view.add_user_message("Hello")
    view.begin_answer(MODEL)
    view.append_text("Half")
    wait_shown(qtbot, view)
    view.set_error("The engine ended. Start it again.")
    assert not view.is_streaming
    [notice] = view.findChildren(NoticeView)
    assert notice.accessibleDescription() == "The engine ended. Start it again."
    with qtbot.waitSignal(view.retry_requested):
        notice.retry_button.click()
    view.begin_answer(MODEL)
    view.append_text(" and half")
    wait_shown(qtbot, view)
    assert not view.findChildren(NoticeView)
    assert len(view.messages_area.rows) == 2
    assert shown_text(answer(view)) == "Half and half"


def test_that_an_error_offers_its_repair(qtbot: QtBot, view: ChatView) -> None:
    view.add_user_message("q")
    view.set_error("It does not fit.", can_retry=False, repair_text="Set context to 8,192")
    notice = child(view, NoticeView)
    assert notice.repair_button.isVisibleTo(notice)
    assert not notice.retry_button.isVisibleTo(notice)
    with qtbot.waitSignal(view.repair_requested):
        notice.repair_button.click()
    view.set_error("The engine stopped.")
    notice = view.findChildren(NoticeView)[-1]
    assert not notice.repair_button.isVisibleTo(notice)
    assert notice.retry_button.isVisibleTo(notice)


def test_that_what_was_written_meanwhile_is_kept(view: ChatView) -> None:
    assert view.set_draft_text("x" * 20_000)
    assert len(view.composer.chips()) == 1
    assert view.draft() == "x" * 20_000
    assert not view.set_draft_text("other")
    assert view.draft() == "x" * 20_000


def test_that_text_for_no_answer_is_refused(view: ChatView) -> None:
    with pytest.raises(RuntimeError, match="no answer is under way"):
        view.append_text("x")


def test_that_continue_is_offered_for_the_last_answer_only(qtbot: QtBot, view: ChatView) -> None:
    message = answered(qtbot, view, "Cut of")
    view.set_can_continue(True)
    assert message.footer.continue_button.isVisible()
    view.add_user_message("Something else")
    view.begin_answer(MODEL)
    assert not message.footer.continue_button.isVisible()
    assert answer(view) is not message


# --- The user's own messages ---------------------------------------------------------------------


def test_that_what_the_user_wrote_is_not_markdown(view: ChatView) -> None:
    text = "# no *heading* <b>here</b>\n\n![x](file:///etc/hostname)"
    view.add_user_message(text)
    [run] = runs(view.messages_area)
    assert run.toPlainText() == text


def test_that_a_huge_message_is_folded_and_shows_both_ends(view: ChatView) -> None:
    text = "beginning\n" + "line of text\n" * 400_000 + "the question at the end"
    start_s = time.thread_time()
    view.add_user_message(text)
    assert time.thread_time() - start_s < 0.2
    shown = shown_text(view.messages_area)
    assert shown.startswith("beginning")
    assert shown.endswith("the question at the end")
    assert len(shown) < 2_000
    assert "… 5.0 MiB · 399,986 lines folded …" in visible_words(view)


def test_that_a_folded_message_can_be_unfolded(view: ChatView) -> None:
    text = "\n".join(f"line {n}" for n in range(500))
    view.add_user_message(text)
    [button] = [b for b in view.findChildren(QAbstractButton) if b.text() == "Show all"]
    button.click()
    QTest.qWait(1)
    assert shown_text(view.messages_area) == text


# --- Scrolling (S47) -----------------------------------------------------------------------------


def stream(qtbot: QtBot, view: ChatView) -> None:
    view.add_user_message("q")
    view.begin_answer(MODEL)
    view.append_text(LONG)
    wait_shown(qtbot, view)
    QTest.qWait(20)


@pytest.mark.parametrize("how", ["wheel", "page key", "scroll bar"])
def test_that_scrolling_up_is_left_alone_while_text_comes(
    qtbot: QtBot, view: ChatView, how: str
) -> None:
    stream(qtbot, view)
    area = view.messages_area
    bar = area.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    if how == "wheel":
        wheel(view, runs(area)[-1].viewport(), 240)
    elif how == "page key":
        QTest.keyClick(view.composer.editor, Qt.Key.Key_PageUp)
    else:
        bar.triggerAction(bar.SliderAction.SliderPageStepSub)
    place = bar.value()
    assert place < bar.maximum()
    assert area.jump_button.isVisible()
    for _ in range(5):
        view.append_text(LONG)
        wait_shown(qtbot, view)
        QTest.qWait(10)
        assert bar.value() == place
    area.jump_button.click()
    assert bar.value() == bar.maximum()
    assert not area.jump_button.isVisible()
    view.append_text(LONG)
    wait_shown(qtbot, view)
    QTest.qWait(20)
    assert bar.value() == bar.maximum()


def test_that_a_selection_keeps_the_view_where_it_is(qtbot: QtBot, view: ChatView) -> None:
    stream(qtbot, view)
    area = view.messages_area
    run = runs(area)[-1]
    cursor = run.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.Start)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfWord, QTextCursor.MoveMode.KeepAnchor)
    run.setTextCursor(cursor)
    place = area.verticalScrollBar().value()
    view.append_text(LONG)
    wait_shown(qtbot, view)
    QTest.qWait(20)
    assert area.verticalScrollBar().value() == place
    assert run.selected_text() == "A"


def test_that_sending_goes_to_the_end(qtbot: QtBot, view: ChatView) -> None:
    stream(qtbot, view)
    view.finish_answer("", None, False)
    view.messages_area.verticalScrollBar().setValue(0)
    view.add_user_message("next")
    qtbot.waitUntil(
        lambda: (
            view.messages_area.verticalScrollBar().value()
            == view.messages_area.verticalScrollBar().maximum()
        )
    )


# --- Long conversations --------------------------------------------------------------------------


def test_that_only_messages_near_the_viewport_are_built(qtbot: QtBot, view: ChatView) -> None:
    for number in range(60):
        answered(qtbot, view, f"Answer {number}.\n\n" + "Words of it. " * 60, f"Question {number}")
    area = view.messages_area
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: len(view.findChildren(AnswerView)) < 30)
    assert len(area.rows) == 120
    bar.setValue(0)
    first = area.rows[1]
    qtbot.waitUntil(lambda: first.live is not None and first.live.is_settled)
    assert isinstance(first.live, AnswerView)
    assert shown_text(first.live).startswith("Answer 0.")
    assert first.live.footer.figures_text() == "TTFT 1 s"
    assert isinstance(area.rows[0].live, UserMessage)
    assert area.rows[60].live is None
    qtbot.waitUntil(lambda: not first.is_held)
    assert len(area.rows) > ALWAYS_LIVE


def test_that_the_words_in_view_stay_when_something_above_is_built_again(
    qtbot: QtBot, view: ChatView
) -> None:
    for number in range(40):
        answered(qtbot, view, f"Answer {number}.\n\n" + "Words of it. " * 60)
    area = view.messages_area
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: area.rows[20].live is None)
    view.resize(420, 500)  # what is parked keeps the height of the wider column
    QTest.qWait(20)
    row = area.rows[30]
    bar.setValue(row.y())
    qtbot.waitUntil(lambda: row.live is not None and not row.is_held)
    above = area.rows[29]
    qtbot.waitUntil(lambda: above.live is not None and not above.is_held)
    QTest.qWait(50)
    assert abs(row.y() - bar.value()) < view.height()
    assert all(r.height() > 0 for r in area.rows)


# --- Look and reach ------------------------------------------------------------------------------


def test_that_lines_stay_readable_in_a_wide_window(qtbot: QtBot, view: ChatView) -> None:
    view.resize(1400, 500)
    answered(qtbot, view, "Words. " * 200)
    QTest.qWait(1)
    [*_, run] = runs(view.messages_area)
    assert COLUMN_MAX_PX - 40 <= run.width() <= COLUMN_MAX_PX
    left = run.mapTo(view, QPoint(0, 0)).x()
    editor_left = view.composer.editor.mapTo(view, QPoint(0, 0)).x()
    assert abs(left - editor_left) <= 8


def test_that_a_narrow_window_cuts_nothing_off(qtbot: QtBot, view: ChatView) -> None:
    view.resize(380, 500)
    answered(qtbot, view, "Words. " * 50 + "x" * 300)
    QTest.qWait(1)
    column = view.messages_area.widget()
    assert column is not None
    assert column.width() <= view.messages_area.viewport().width()
    [*_, run] = runs(view.messages_area)
    assert run.document().idealWidth() <= run.width() + 1


def test_that_every_control_has_a_name_and_can_be_reached(qtbot: QtBot, view: ChatView) -> None:
    answered(qtbot, view, "x\n\n```py\ny\n```\n")
    view.set_can_continue(True)
    view.set_error("It failed. Try again.")
    for button in view.findChildren(QAbstractButton):
        assert button.accessibleName() or button.text()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    for editor in [*view.findChildren(QPlainTextEdit), *view.findChildren(TextRun)]:
        assert editor.accessibleName()
    QTest.qWait(10)
    view.header.fold_button.setFocus()
    reached: list[str] = []
    for _ in range(7):
        focus = QApplication.focusWidget()
        assert focus is not None
        reached.append(focus.accessibleName() or getattr(focus, "text", str)())
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    assert reached == [
        "System prompt, folded",
        "Conversation",
        "Copy this code block",
        "Continue",
        "Copy the whole answer",
        "Try again",
        "Message",
    ]


@pytest.mark.parametrize("width", [300, 420, 900])
def test_that_the_way_back_to_the_end_covers_nothing(
    qtbot: QtBot, view: ChatView, width: int
) -> None:
    view.resize(width, 500)
    answered(qtbot, view, "words " * 900)
    area = view.messages_area
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0, timeout=60_000)
    bar.setValue(bar.maximum() - 40)
    button = area.jump_button
    assert button.isVisible()
    assert not button.geometry().intersects(area.viewport().geometry())
    assert area.rect().contains(button.geometry())
    at_px = bar.value()
    QApplication.processEvents()
    assert bar.value() == at_px  # what is read stays where it is
    button.click()
    assert not button.isVisible()
    assert bar.value() == bar.maximum()
    QApplication.processEvents()
    assert area.is_following
