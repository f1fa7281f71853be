"""File dialogs go on where the last one was left: of the same purpose, over a restart too."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.kept_settings import KeptSettings
from app.last_folder import ATTACHMENTS, EXPORTS, LastFolder
from app.storage.settings_store import SettingsStore


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def saving(window: QWidget, folder: Path, name: str) -> QFileDialog:
    dialog = QFileDialog(window, "Save", str(folder))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.selectFile(name)
    return dialog


def save_in(qtbot: QtBot, last: LastFolder, dialog: QFileDialog, path: Path) -> None:
    last.open(dialog, EXPORTS)
    qtbot.waitUntil(dialog.isVisible)
    dialog.selectFile(str(path))
    dialog.accept()


def test_that_the_next_dialog_begins_where_the_last_one_was_left_and_keeps_its_name(
    window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    home, chosen = tmp_path / "home", tmp_path / "chosen"
    home.mkdir()
    chosen.mkdir()
    last = LastFolder(None, window)
    save_in(qtbot, last, saving(window, home, "first.md"), chosen / "first.md")
    second = saving(window, home, "second.md")
    last.open(second, EXPORTS)
    qtbot.waitUntil(second.isVisible)
    assert second.selectedFiles() == [str(chosen / "second.md")]
    other = saving(window, home, "third.md")
    last.open(other, ATTACHMENTS)
    assert other.directory().path() == str(home)  # of another purpose
    second.reject()
    other.reject()


def test_that_the_folder_is_known_after_the_next_start(
    window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    home, chosen, config = tmp_path / "home", tmp_path / "chosen", tmp_path / "config"
    home.mkdir()
    chosen.mkdir()
    kept = KeptSettings(SettingsStore(config))
    last = LastFolder(kept, window)
    save_in(qtbot, last, saving(window, home, "first.md"), chosen / "first.md")
    assert not kept.close()
    again = KeptSettings(SettingsStore(config))
    dialog = saving(window, home, "second.md")
    LastFolder(again, window).open(dialog, EXPORTS)
    qtbot.waitUntil(dialog.isVisible)
    assert dialog.directory().path() == str(chosen)
    dialog.reject()
    assert not again.close()


def test_that_a_folder_that_is_gone_leaves_the_dialog_where_it_was(
    window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    home, chosen = tmp_path / "home", tmp_path / "chosen"
    home.mkdir()
    chosen.mkdir()
    last = LastFolder(None, window)
    save_in(qtbot, last, saving(window, home, "first.md"), chosen / "first.md")
    chosen.rmdir()
    dialog = saving(window, home, "second.md")
    last.open(dialog, EXPORTS)
    qtbot.waitUntil(dialog.isVisible)
    assert dialog.selectedFiles() == [str(home / "second.md")]
    dialog.reject()
