"""The chat template: read, changed, tried, its errors found in their lines; by keys alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextCursor, QTextOption
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.protocol import TemplateChecked, TemplateFinding, TemplatePiece
from resources.theme import contrast_ratio, mixed
from resources.tokens import DARK, LIGHT, Palette
from widgets.template_editor import MOST_CHARACTERS, MOST_CHARACTERS_A_LINE
from widgets.template_view import TemplateTrial, TemplateView

OWN = "{% for m in messages %}\n{{ m.content }}\n{% endfor %}"
GOOD = TemplateChecked(
    1,
    (
        TemplatePiece("<s>", "control"),
        TemplatePiece("type ", "text"),
        TemplatePiece("</s>", "typed"),
        TemplatePiece(" here\n", "text"),
    ),
    7,
    findings=(
        TemplateFinding("bos", "good", "Exactly one."),
        TemplateFinding("two_users", "bad", "They are refused."),
    ),
)
BROKEN = TemplateChecked(1, error="A mistake in line 2: no such filter.", line=2)


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> TemplateView:
    made = TemplateView()
    made.resize(1000, 600)
    shown(made)
    return made


def _type(view: TemplateView, text: str) -> None:
    view.editor.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(view.editor, text)


# --- States -----------------------------------------------------------------------------------


def test_that_each_state_says_what_it_is(view: TemplateView) -> None:
    assert "Load a model" in view.message()
    view.set_template("", "Gemma")
    assert "Gemma has no chat template" in view.message()
    view.set_template(OWN, "Toy")
    assert view.message() == ""
    assert view.text() == OWN
    assert view.badge.text() == "the model's own"
    assert not view.apply_button.isEnabled()
    assert not view.reset_button.isEnabled()


def test_that_a_changed_template_is_not_used_before_it_is_said_to(
    view: TemplateView, qtbot: QtBot
) -> None:
    view.set_template(OWN, "Toy")
    _type(view, "x")
    assert view.badge.text() == "not used yet"
    with qtbot.waitSignal(view.template_applied) as applied:
        view.apply_button.click()
    assert applied.args == [OWN + "x"]
    view.set_in_force(OWN + "x")
    assert view.badge.text() == "edited"
    assert view.badge.property("role") == "badge-warning"
    assert "--chat-template-file" in view._state_label.text()


def test_that_reset_brings_the_model_s_own_back_and_can_itself_be_undone(
    view: TemplateView, qtbot: QtBot
) -> None:
    view.set_template(OWN, "Toy")
    _type(view, "x")
    view.set_in_force(OWN + "x")
    with qtbot.waitSignal(view.template_reset):
        view.reset_button.click()
    assert view.text() == OWN
    view.editor.undo()
    assert view.text() == OWN + "x"


def test_that_reset_of_what_was_never_used_tells_nobody(view: TemplateView, qtbot: QtBot) -> None:
    view.set_template(OWN, "Toy")
    _type(view, "x")
    with qtbot.assertNotEmitted(view.template_reset):
        view.reset_button.click()
    assert view.text() == OWN


def test_that_what_was_written_outlives_the_same_model_and_not_another(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    _type(view, "x")
    view.set_no_model()
    view.set_template(OWN, "Toy")
    assert view.text() == OWN + "x"
    view.set_template("other", "Another")
    assert view.text() == "other"
    assert view.badge.text() == "the model's own"


# --- Trials -----------------------------------------------------------------------------------


def test_that_a_loaded_template_is_tried_and_an_edited_one_once_typing_pauses(
    view: TemplateView, qtbot: QtBot
) -> None:
    trials: list[TemplateTrial] = []
    view.trial_requested.connect(trials.append)
    view.set_template(OWN, "Toy")
    assert trials == [TemplateTrial(OWN, False, True, True, True)]
    _type(view, "abc")
    assert len(trials) == 1
    qtbot.waitUntil(lambda: len(trials) == 2)
    assert trials[1].template == OWN + "abc"


def test_that_each_switch_is_a_new_trial(view: TemplateView) -> None:
    trials: list[TemplateTrial] = []
    view.set_template(OWN, "Toy")
    view.trial_requested.connect(trials.append)
    view.system_box.click()
    assert not trials[-1].has_system
    view.generation_box.click()
    assert not trials[-1].add_generation_prompt
    view.show_result(TemplateChecked(1, has_thinking=True))
    assert view.thinking_box.isVisible()
    view.thinking_box.click()
    assert not trials[-1].enable_thinking
    QTest.mouseClick(view.source_choice.findChildren(QPushButton)[1], Qt.MouseButton.LeftButton)
    assert trials[-1].is_conversation
    assert not view.system_box.isEnabled()  # a conversation has the one that it has


def test_that_a_result_tells_tokens_from_text(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    view.show_result(GOOD)
    assert view.result.text.toPlainText() == "<s>type </s> here\n"
    assert view.result.size_label.text() == "7 tokens, 1 of them special"
    cursor = view.result.text.textCursor()
    looks = []
    for at in (1, 5, 10):
        cursor.setPosition(at)
        looks.append(cursor.charFormat().foreground().color().name().upper())
    cursor.setPosition(10)
    assert looks[0] == DARK.accent
    assert looks[1] == looks[2] == DARK.text
    assert (
        cursor.charFormat().underlineStyle() is not cursor.charFormat().UnderlineStyle.NoUnderline
    )
    assert view.result.finding_texts() == [
        "Begin-of-text token, well: Exactly one.",
        "Two user messages in a row, wrong: They are refused.",
    ]
    view.set_palette(LIGHT)
    cursor.setPosition(1)
    assert cursor.charFormat().foreground().color().name().upper() == LIGHT.accent


def test_that_a_cut_sample_and_a_note_are_said(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    view.show_result(
        TemplateChecked(1, (TemplatePiece("a", "text"),), 90_000, is_cut=True, note="Joined.")
    )
    assert "90,000 tokens, at least" in view.result.size_label.text()
    assert "beginning" in view.result.note_label.text()
    assert "Joined." in view.result.note_label.text()


def test_that_an_error_marks_its_line_until_the_text_changes(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    _type(view, "x")
    view.show_result(BROKEN)
    assert "no such filter" in view.error_label.text()
    assert view.editor.extraSelections()[0].cursor.blockNumber() == 1
    assert not view.apply_button.isEnabled()  # no prompt could be made with it
    assert view.result.text.toPlainText() == ""
    view.line_button.click()
    assert view.editor.textCursor().blockNumber() == 1
    assert view.editor.hasFocus()
    _type(view, "y")
    assert view.editor.extraSelections() == []
    assert view.apply_button.isEnabled()
    view.show_result(GOOD)
    assert view.error_label.isHidden()
    assert view.line_button.isHidden()


def test_that_a_template_that_refuses_the_sample_alone_can_be_used(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    _type(view, "x")
    finding = TemplateFinding("system", "note", "It refuses.")
    view.show_result(TemplateChecked(1, error="It refuses.", line=1, findings=(finding,)))
    assert view.apply_button.isEnabled()


def test_that_an_endless_template_cannot_be_used(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    _type(view, "x")
    view.show_result(TemplateChecked(1, error="It did not finish within 2 s and was stopped."))
    assert not view.apply_button.isEnabled()


def test_that_another_s_fault_leaves_the_result_and_the_button(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    view.show_result(GOOD)
    _type(view, "x")
    view.show_problem("The chat template could not be saved: the disk is full.")
    assert view.result.text.toPlainText()
    assert view.apply_button.isEnabled()
    view.ask_trial()
    assert view.error_label.isHidden()
    view.show_problem("The engine is not running.")
    assert view.result.size_label.text() == "Nothing was rendered"


def test_that_a_line_that_is_none_does_no_harm(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    view.show_result(TemplateChecked(1, error="Elsewhere.", line=400))
    view.line_button.click()
    assert view.editor.extraSelections() == []


# --- Bad input --------------------------------------------------------------------------------


def test_that_a_pasted_book_is_not_put_in(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    book = QMimeData()
    book.setText("x" * (MOST_CHARACTERS + 1))
    view.editor.insertFromMimeData(book)
    assert view.text() == OWN
    assert "no chat template" in view.error_label.text()
    line = QMimeData()
    line.setText("a\n" + "字" * (MOST_CHARACTERS_A_LINE + 1))
    view.editor.insertFromMimeData(line)
    assert view.text() == OWN
    assert "a line of" in view.error_label.text()
    short = QMimeData()
    short.setText("y")
    view.editor.insertFromMimeData(short)
    assert "y" in view.text()


def test_that_long_lines_are_not_searched_for_words(view: TemplateView) -> None:
    """Where a line has no word's end, looking for one takes quadratic time."""
    anywhere = QTextOption.WrapMode.WrapAnywhere
    view.set_template("x" * 40_000, "Toy")
    assert view.editor.wordWrapMode() is anywhere
    view.show_result(TemplateChecked(1, (TemplatePiece("x" * 40_000, "text"),), 3))
    assert view.result.text.wordWrapMode() is anywhere
    view.set_template(OWN, "Another")
    assert view.editor.wordWrapMode() is not anywhere


def test_that_odd_texts_are_shown(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    odd = "مرحبا 🚲 a\0b\u2029c" + "x" * 20_000
    view.show_result(TemplateChecked(1, (TemplatePiece(odd, "text"),), 3))
    assert "مرحبا 🚲 a\ufffdb\nc" in view.result.text.toPlainText()
    assert not view.grab().isNull()


# --- For everyone -----------------------------------------------------------------------------


def test_that_keys_alone_reach_everything(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    view.editor.setFocus()
    QTest.keyClick(view.editor, Qt.Key.Key_Tab)
    assert view.text().startswith("  ")  # Tab indents
    QTest.keyClick(view.editor, Qt.Key.Key_Backtab)
    assert not view.editor.hasFocus()
    view.editor.setFocus()
    QTest.keyClick(view.editor, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert not view.editor.hasFocus()


def test_that_every_control_has_a_name(view: TemplateView) -> None:
    view.set_template(OWN, "Toy")
    for widget in (view.editor, view.result.text):
        assert widget.accessibleName()
        assert widget.accessibleDescription()
    for box in view.findChildren(QCheckBox):
        assert box.text()
        assert box.accessibleDescription()
    for button in view.findChildren(QPushButton):
        assert button.accessibleName() or button.text()


@pytest.mark.parametrize("width_px", [500, 1200])
def test_that_a_narrow_view_stacks_its_sides(view: TemplateView, width_px: int) -> None:
    view.set_template(OWN, "Toy")
    view.resize(width_px, 800)
    assert view.width() == width_px
    is_stacked = view.result.mapTo(view, view.result.rect().topLeft()).y() > view.editor.height()
    assert is_stacked == (width_px == 500)


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
def test_that_special_tokens_can_be_read(palette: Palette) -> None:
    ground = mixed(palette.panel, palette.accent, 0.14)
    assert contrast_ratio(palette.accent, ground) >= 4.5
    error = mixed(palette.raised, palette.warning, 0.25)
    assert contrast_ratio(palette.text, error) >= 4.5
