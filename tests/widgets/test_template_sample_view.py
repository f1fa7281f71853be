"""The section of the picker that shows a file's chat template on a sample."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QWidget

from engine_bridge.protocol import TemplateChecked, TemplateFinding, TemplatePiece
from engine_bridge.template_sheet import TemplateSheet
from resources.tokens import DARK
from widgets.template_sample_view import TemplateSampleView

pytestmark = pytest.mark.gui

PIECES = (
    TemplatePiece("<|im_start|>", "control"),
    TemplatePiece("user\nHi ", "text"),
    TemplatePiece("</s>", "typed"),
)
FINDING = TemplateFinding("tools", "note", "Tools are left out.")
GOOD = TemplateSheet(2_507, checked=TemplateChecked(0, PIECES, findings=(FINDING,)))


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> TemplateSampleView:
    made = TemplateSampleView()
    made.set_palette(DARK)
    shown(made)
    made.set_open(True)
    return made


def test_that_the_sample_is_shown_with_its_size_and_findings(view: TemplateSampleView) -> None:
    view.show_sheet(GOOD)
    assert view.result.text.toPlainText() == "<|im_start|>user\nHi </s>"
    assert view.result.text.isReadOnly()
    assert view.result.size_label.text() == "24 characters, 1 special token among them"
    assert view.result.finding_texts() == ["Tools, to know: Tools are left out."]
    assert "2,507 characters" in view.words.text()


def test_that_a_long_sample_is_said_to_be_cut(view: TemplateSampleView) -> None:
    checked = TemplateChecked(0, (TemplatePiece("x\n" * 20_000, "text"),), is_cut=True)
    view.show_sheet(TemplateSheet(10, checked=checked))
    assert view.result.note_label.text() == "Only the beginning is shown. "
    assert view.result.size_label.text().startswith("At least 40,000 characters")
    assert view.result.text.height() < 40 * view.fontMetrics().lineSpacing()


def test_that_a_base_model_is_told_what_happens_without_a_template(
    view: TemplateSampleView,
) -> None:
    view.show_sheet(GOOD)
    view.show_sheet(TemplateSheet())
    assert "no chat template: a base model" in view.words.text()
    assert "ChatML" in view.words.text()
    assert view.result.isHidden()


def test_that_further_templates_are_named(view: TemplateSampleView) -> None:
    view.show_sheet(TemplateSheet(10, "", ("tool_use", "rag"), TemplateChecked(0, PIECES)))
    assert "It also has the templates tool_use, rag." in view.words.text()
    view.show_sheet(TemplateSheet(10, "tool_use", (), TemplateChecked(0, PIECES)))
    assert "only the template tool_use" in view.words.text()
    assert not view.result.isHidden()


def test_that_a_failure_is_a_sentence_and_shows_nothing_of_before(
    view: TemplateSampleView,
) -> None:
    view.show_sheet(GOOD)
    view.show_sheet(TemplateSheet(10, checked=TemplateChecked(0, error="It did not finish.")))
    assert view.words.text() == "It did not finish."
    assert view.result.isHidden()
    view.show_sheet(TemplateSheet(problem="It cannot be read."))
    assert view.words.text() == "It cannot be read."


def test_that_a_refused_sample_still_shows_what_was_found(view: TemplateSampleView) -> None:
    checked = TemplateChecked(0, error="It refuses.", findings=(FINDING,))
    view.show_sheet(TemplateSheet(10, checked=checked))
    assert not view.result.isHidden()
    assert view.result.text.isHidden()
    assert view.result.finding_texts() == ["Tools, to know: Tools are left out."]


def test_that_waiting_and_nothing_are_told_apart(view: TemplateSampleView) -> None:
    view.show_waiting()
    assert "Trying" in view.words.text()
    view.clear()
    assert view.words.isHidden()
