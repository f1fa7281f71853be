"""The export view in the window: it follows the settings, saves, and replaces nothing unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from app.export.targets import TARGETS
from app.export_wiring import ExportWiring
from app.window import Window
from resources.tokens import LIGHT
from tests.window.conftest import PATIENCE_MS
from widgets.export_sheet import ExportPart

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
PARTS = (
    ExportPart("Command", "run it", "", "run.sh", is_command=True),
    ExportPart("compose.yaml", "services: {}\n", "", "compose.yaml"),
)


@pytest.fixture
def window(make_window: Callable[..., Window]) -> Window:
    made = make_window()
    made.desk.session.want({"model_path": "/models/my model.gguf", "slots": 4})
    made.tune_wiring.command_wiring.refresh()
    return made


@pytest.fixture
def export(window: Window) -> ExportWiring:
    window.actions_of_window.run("command.export")
    QApplication.processEvents()
    found = window.findChild(ExportWiring)
    assert found is not None
    return found


def toast(window: Window) -> str:
    return window.toast.text()


def test_that_the_button_opens_it_and_every_engine_is_there(window: Window) -> None:
    QTest.mouseClick(window.command.export_button, LEFT)
    found = window.findChild(ExportWiring)
    assert found is not None
    assert found.dialog.isVisible()
    assert set(found.view.engines.keys()) == set(TARGETS)
    assert found.dialog.width() <= window.width()
    assert found.dialog.height() <= window.height()


def test_that_it_follows_the_settings_while_it_is_open(
    window: Window, export: ExportWiring
) -> None:
    window.desk.session.want({"slots": 3})
    window.tune_wiring.command_wiring.refresh()
    assert "-np 3" in export.view.files.parts()[0].text.replace("\\\n", "")
    slots = next(s for s in export.view.settings.model.settings() if s.key == "slots")
    assert (slots.value, slots.is_changed) == ("3", True)


def test_that_engine_and_shell_are_those_of_the_command_bar(
    window: Window, export: ExportWiring
) -> None:
    export.view.engines.setFocus()
    export.view.target_chosen.emit("llama-server")
    assert window.command.text().startswith("llama-server ")
    assert export.view.engines.chosen() == "llama-server"
    export.view.shell_chosen.emit("powershell")
    assert export.view.shells.currentText() == "PowerShell"
    assert export.view.files.parts()[0].file_name == "llama-server.ps1"
    window.command.target_changed.emit("llama serve")
    assert export.view.engines.chosen() == "llama serve"


@pytest.mark.parametrize("target", list(TARGETS))
def test_that_every_engine_can_be_shown(window: Window, export: ExportWiring, target: str) -> None:
    export.view.target_chosen.emit(target)
    assert export.view.engines.chosen() == target
    assert export.view.files.parts()
    assert export.view.name_label.text()


def test_that_one_file_is_saved_where_it_was_told(
    window: Window, export: ExportWiring, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "other name.yaml"
    export.save(path, PARTS[1])
    qtbot.waitUntil(lambda: "Saved to" in toast(window), timeout=PATIENCE_MS)
    assert path.read_text() == PARTS[1].text


def test_that_all_are_saved_at_once_and_a_file_that_is_there_is_asked_for(
    window: Window, export: ExportWiring, qtbot: QtBot, tmp_path: Path
) -> None:
    export.save_all(tmp_path, PARTS)
    qtbot.waitUntil(lambda: "2 files saved" in toast(window), timeout=PATIENCE_MS)
    (tmp_path / "compose.yaml").write_text("mine\n")
    export.save_all(tmp_path, PARTS)
    qtbot.waitUntil(lambda: export.question is not None, timeout=PATIENCE_MS)
    question = export.question
    assert question is not None
    assert question.text().startswith("run.sh and compose.yaml are in ")
    assert (tmp_path / "compose.yaml").read_text() == "mine\n"
    press(question.buttons(), "Cancel")
    assert (tmp_path / "compose.yaml").read_text() == "mine\n"
    export.save_all(tmp_path, PARTS)
    qtbot.waitUntil(lambda: export.question is not None, timeout=PATIENCE_MS)
    assert export.question is not None
    press(export.question.buttons(), "Replace")
    qtbot.waitUntil(
        lambda: (tmp_path / "compose.yaml").read_text() == PARTS[1].text, timeout=PATIENCE_MS
    )
    qtbot.waitUntil(lambda: export.question is None, timeout=PATIENCE_MS)


def press(buttons: list[QAbstractButton], words: str) -> None:
    button = next(button for button in buttons if button.text() == words)
    QTest.mouseClick(button, LEFT)


def test_that_a_folder_that_is_gone_is_a_sentence(
    window: Window, export: ExportWiring, qtbot: QtBot, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file")
    export.save(blocked / "compose.yaml", PARTS[1])
    qtbot.waitUntil(lambda: "could not be saved" in toast(window), timeout=PATIENCE_MS)


def test_that_without_a_model_it_says_what_to_do(make_window: Callable[..., Window]) -> None:
    window = make_window()
    window.actions_of_window.run("command.export")
    found = window.findChild(ExportWiring)
    assert found is not None
    assert found.view.engines.keys()
    found.dialog.close()


def test_that_it_follows_the_theme(window: Window, export: ExportWiring) -> None:
    window.set_palette(LIGHT)
    assert window.command.colours is LIGHT
    assert export.view.isVisible()
