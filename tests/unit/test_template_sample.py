"""A file's chat template asked of a process: answered, dropped, dead or silent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app import template_answer, template_sample
from app.template_sample import TemplateSample
from engine_bridge.template_sheet import TemplateSheet
from tests.bridge.test_template_once import write

PATIENCE_MS = 60_000


@pytest.fixture
def sample(qtbot: QtBot) -> Iterator[TemplateSample]:
    parent = QObject()
    made = TemplateSample(parent)
    yield made
    made.close()
    parent.deleteLater()


def answer(sample: TemplateSample, qtbot: QtBot, path: Path) -> TemplateSheet:
    with qtbot.waitSignal(sample.answered, timeout=PATIENCE_MS) as answered:
        sample.ask(str(path))
    assert answered.args is not None
    assert answered.args[0] == str(path)
    sheet = answered.args[1]
    assert isinstance(sheet, TemplateSheet)
    return sheet


def test_that_a_template_is_tried(sample: TemplateSample, qtbot: QtBot, tmp_path: Path) -> None:
    sheet = answer(sample, qtbot, write(tmp_path / "m.gguf"))
    assert sheet.checked is not None
    text = "".join(piece.text for piece in sheet.checked.pieces)
    assert "What does a slot hold?" in text
    assert not sample.is_asking


def test_that_the_newest_question_wins(
    sample: TemplateSample, qtbot: QtBot, tmp_path: Path
) -> None:
    answers: list[str] = []
    sample.answered.connect(lambda path, _: answers.append(path))
    sample.ask(str(write(tmp_path / "old.gguf")))
    answer(sample, qtbot, write(tmp_path / "new.gguf"))
    assert answers == [str(tmp_path / "new.gguf")]


def test_that_a_dropped_question_has_no_answer(
    sample: TemplateSample, qtbot: QtBot, tmp_path: Path
) -> None:
    answers: list[str] = []
    sample.answered.connect(lambda path, _: answers.append(path))
    sample.ask(str(write(tmp_path / "m.gguf")))
    sample.close()
    assert not sample.is_asking
    assert answers == []


def test_that_a_process_that_dies_is_a_sentence(
    sample: TemplateSample, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_sample, "MODULE", "tests.unit.children.no_such_module")
    sheet = answer(sample, qtbot, tmp_path / "m.gguf")
    assert "failed by itself" in sheet.problem
    assert "m.gguf" in sheet.problem


def test_that_a_process_that_says_nothing_is_killed_with_a_sentence(
    sample: TemplateSample, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_sample, "MODULE", "tests.unit.children.stuck")
    sample._timeout.setInterval(10)
    sheet = answer(sample, qtbot, tmp_path / "m.gguf")
    assert "could not be tried within 30 s" in sheet.problem


def test_that_an_answer_that_cannot_be_read_is_a_sentence() -> None:
    assert "cannot be read" in template_answer.sheet_in(b"[]").problem


def test_that_a_crash_is_told_with_its_last_line() -> None:
    sheet = template_answer.sheet_of_end(-11, "boom", "/models/m.gguf")
    assert "m.gguf ended (status -11)" in sheet.problem
    assert "boom" in sheet.problem
