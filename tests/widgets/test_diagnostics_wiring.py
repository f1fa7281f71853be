"""A diagnostics file from the window: written in the background, without a word of the chats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.diagnostics_wiring import DiagnosticsWiring
from app.log_wiring import LogWiring
from engine_bridge.settings.config import EngineConfig
from tests.widgets.finding import child
from widgets.log_view import LogView

pytestmark = pytest.mark.gui
SENTENCE = "The treasure lies under the third pear tree behind the mill."


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(EngineConfig().with_values({"slots": 3}))
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def log(desk: Desk, shown: Callable[[QWidget], None]) -> LogWiring:
    view = LogView()
    shown(view)
    return LogWiring(desk, view, view)


@pytest.fixture
def wiring(desk: Desk, log: LogWiring, qtbot: QtBot) -> DiagnosticsWiring:
    window = QWidget()
    qtbot.addWidget(window)
    return DiagnosticsWiring(desk, log, window)


def test_that_the_file_tells_of_the_desk_and_nothing_of_the_chats(
    wiring: DiagnosticsWiring, desk: Desk, log: LogWiring, qtbot: QtBot, tmp_path: Path
) -> None:
    conversation = desk.chats.open()
    conversation.ask(SENTENCE)
    log.note(f"a template that fails on: {SENTENCE}", "error")
    log.note("a line that may be told")
    path = tmp_path / "diagnostics.txt"
    with qtbot.waitSignal(wiring.saved) as saved:
        wiring.save_to(str(path))
    assert saved.args == [str(path)]
    text = path.read_text(encoding="utf-8")
    assert "slots: 3" in text
    assert "a line that may be told" in text
    assert "offscreen" in text
    for word in ("treasure", "pear tree", "mill"):
        assert word not in text
    assert log.lines()[-1].text == "Diagnostics saved as diagnostics.txt."


# S33: a folder that takes nothing.
def test_that_a_file_that_cannot_be_written_is_a_sentence(
    wiring: DiagnosticsWiring, log: LogWiring, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with qtbot.waitSignal(wiring.failed) as failed:
        wiring.save_to(str(tmp_path / "file" / "x.txt"))
    assert failed.args[0].startswith("The diagnostics could not be saved: ")
    assert log.lines()[-1].level == "error"
    with qtbot.waitSignal(wiring.saved):  # and it can be tried again
        wiring.save_to(str(tmp_path / "x.txt"))


def test_that_two_at_once_are_not_begun(
    wiring: DiagnosticsWiring, qtbot: QtBot, tmp_path: Path
) -> None:
    with qtbot.waitSignals([wiring.failed, wiring.saved]):
        wiring.save_to(str(tmp_path / "one.txt"))
        wiring.save_to(str(tmp_path / "two.txt"))
    assert not (tmp_path / "two.txt").exists()


def test_that_the_dialog_offers_a_name_and_does_not_block(
    wiring: DiagnosticsWiring, qtbot: QtBot, tmp_path: Path
) -> None:
    wiring.ask()
    window = wiring.parent()
    assert isinstance(window, QWidget)
    dialog = child(window, QFileDialog)
    name = Path(dialog.selectedFiles()[0]).name
    assert name.startswith("tunedeck-diagnostics-")
    assert name.endswith(".txt")
    with qtbot.waitSignal(wiring.saved):
        dialog.fileSelected.emit(str(tmp_path / name))
    dialog.reject()
    qtbot.waitUntil(lambda: not window.findChildren(QFileDialog))
