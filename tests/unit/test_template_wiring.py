"""The template view and the engine: what is tried, set, kept over reloads, and said on export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.command_wiring import CommandWiring
from app.desk import Desk
from app.template_wiring import TemplateWiring
from engine_bridge.protocol import (
    CheckTemplate,
    SetTemplate,
    TemplateChecked,
    TemplatePiece,
    TemplateSet,
    Unloaded,
)
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import FakeClient, applied, model_facts
from tests.widgets.finding import child
from widgets.command_bar import CommandBar

OWN = "{{ messages[0].content }}"


class Bench(QWidget):
    """A window with a template view over an engine that only writes down what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.client = FakeClient()
        self.desk = Desk(EngineConfig(), self.client, self)  # type: ignore[arg-type]
        self.current = ""
        self.wiring = TemplateWiring(self.desk, lambda: self.current, self)
        self.view = self.wiring.view
        self.notes: list[tuple[str, ...]] = []
        self.wiring.notes_changed.connect(self.notes.append)

    def load(self, template: str = OWN, path: str = "/m.gguf") -> None:
        model = model_facts(chat_template=template, path=path)
        self.client.event_received.emit(applied(EngineConfig(model_path=path), model=model))

    def sent(self, kind: type) -> list[object]:
        return [command for command in self.client.sent if isinstance(command, kind)]

    def last_check(self) -> CheckTemplate:
        check = self.sent(CheckTemplate)[-1]
        assert isinstance(check, CheckTemplate)
        return check

    def edit(self, text: str) -> None:
        self.view.editor.setPlainText(text)

    def use(self, text: str) -> None:
        """Edit, apply, and have the engine confirm it."""
        self.edit(text)
        self.view.apply_button.click()
        self.client.event_received.emit(TemplateSet(is_edited=True))


@pytest.fixture
def bench(qtbot: QtBot) -> Bench:
    made = Bench()
    qtbot.addWidget(made)
    made.show()
    made.load()
    return made


def test_that_nothing_is_tried_before_somebody_looks(bench: Bench) -> None:
    assert bench.sent(CheckTemplate) == []
    bench.wiring.open()
    check = bench.last_check()
    assert check.template == OWN
    assert [message.role for message in check.messages] == ["system", "user", "assistant", "user"]
    bench.view.system_box.click()
    assert bench.last_check().messages[0].role == "user"


def test_that_the_answer_to_the_newest_trial_alone_is_shown(bench: Bench) -> None:
    bench.wiring.open()
    old = bench.last_check().check_id
    bench.view.generation_box.click()
    answer = bench.client.event_received.emit
    pieces = (TemplatePiece("new", "text"),)
    answer(TemplateChecked(bench.last_check().check_id, pieces, 1))
    answer(TemplateChecked(old, (TemplatePiece("old", "text"),), 1))
    assert bench.view.result.text.toPlainText() == "new"


def test_that_the_conversation_in_front_can_be_tried(bench: Bench) -> None:
    bench.wiring.open()
    bench.view.source_choice.index_chosen.emit(1)
    bench.view.source_choice.set_index(1)
    bench.view.ask_trial()
    assert "Nothing was said" in bench.view.error_label.text()
    conversation = bench.desk.chats.open()
    bench.current = conversation.id
    conversation.ask("hello there")
    bench.view.ask_trial()
    assert [message.content for message in bench.last_check().messages] == ["hello there"]
    conversation.append("general")
    QApplication.sendEvent(bench.wiring.dialog, QEvent(QEvent.Type.WindowActivate))
    assert bench.last_check().messages[-1].content == "general"


def test_that_an_edited_template_is_used_and_said_on_export(bench: Bench) -> None:
    bench.use("edited")
    assert bench.sent(SetTemplate) == [SetTemplate("edited")]
    assert bench.view.badge.text() == "edited"
    assert bench.wiring.is_edited
    assert "--chat-template-file" in bench.notes[-1][0]
    bench.view.reset_button.click()
    bench.client.event_received.emit(TemplateSet(is_edited=False))
    assert bench.sent(SetTemplate)[-1] == SetTemplate("")
    assert bench.view.badge.text() == "the model's own"
    assert bench.notes[-1] == ()


def test_that_the_command_line_says_what_it_cannot_carry(bench: Bench, qtbot: QtBot) -> None:
    bar = CommandBar(parent=bench)
    commands = CommandWiring(bench.desk, bar, bench)
    bench.wiring.notes_changed.connect(commands.set_notes)
    bench.use("edited")
    said = bar.notes.label.accessibleName()
    assert "--chat-template-file" in said
    bench.view.reset_button.click()
    bench.client.event_received.emit(TemplateSet(is_edited=False))
    said = bar.notes.label.accessibleName()
    assert "--chat-template-file" not in said


def test_that_a_new_engine_is_told_of_the_edit_for_the_same_model(bench: Bench) -> None:
    bench.use("edited")
    bench.client.engine_died.emit(None)
    bench.load()
    assert bench.sent(SetTemplate) == [SetTemplate("edited")] * 2
    assert bench.view.text() == "edited"
    assert bench.view.badge.text() == "edited"


def test_that_an_edit_outlives_making_room_for_a_model_that_failed(bench: Bench) -> None:
    bench.use("edited")
    bench.client.event_received.emit(Unloaded("There is no memory for two models."))
    assert "Load a model" in bench.view.message()
    bench.load()
    assert bench.view.message() == ""
    assert bench.wiring.is_edited
    assert bench.sent(SetTemplate)[-1] == SetTemplate("edited")


def test_that_an_edit_ends_with_another_model(bench: Bench) -> None:
    bench.use("edited")
    bench.load("another", "/n.gguf")
    assert bench.view.text() == "another"
    assert not bench.wiring.is_edited
    assert bench.notes[-1] == ()
    bench.load("", "/base.gguf")
    assert "base model" in bench.view.message()


def test_that_a_dead_engine_is_said(bench: Bench) -> None:
    bench.wiring.open()
    bench.client.is_alive = False
    bench.view.ask_trial()
    assert "not running" in bench.view.error_label.text()
    bench.client.engine_died.emit(None)
    assert "not running" in bench.view.error_label.text()


def test_that_a_saved_template_is_named_in_the_note(
    bench: Bench, qtbot: QtBot, tmp_path: Path
) -> None:
    bench.use("edited {{ 'ä' }}")
    bench.view.save_button.click()
    dialog = child(bench.wiring.dialog, QFileDialog)
    target = tmp_path / "mine.jinja"
    dialog.fileSelected.emit(str(target))
    qtbot.waitUntil(lambda: str(target) in bench.notes[-1][0])
    dialog.reject()
    assert target.read_text(encoding="utf-8") == "edited {{ 'ä' }}"


def test_that_a_template_that_cannot_be_saved_is_a_sentence(
    bench: Bench, qtbot: QtBot, tmp_path: Path
) -> None:
    bench.wiring.save_to(tmp_path, "edited")  # a folder
    qtbot.waitUntil(lambda: bool(bench.view.error_label.text()))
    assert "could not be saved" in bench.view.error_label.text()


@pytest.mark.parametrize("close", [lambda dialog: dialog.reject(), lambda dialog: dialog.close()])
def test_that_the_dialog_comes_back_as_it_was(
    bench: Bench, close: Callable[[QWidget], object]
) -> None:
    bench.wiring.open()
    bench.edit("half")
    close(bench.wiring.dialog)
    bench.wiring.open()
    assert bench.view.text() == "half"
    assert bench.last_check().template == "half"
