"""The listing process as the window sees it: it comes, it may die, it never holds the window up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.library import model_list
from app.library.model_entry import FolderToList
from app.library.model_list import ModelList
from tests.unit.gguf_bytes import Gguf

PATIENCE_MS = 30_000
MODEL = Gguf().file()


@pytest.fixture
def models(qtbot: QtBot, tmp_path: Path) -> Iterator[ModelList]:
    parent = QObject()
    made = ModelList(tmp_path / "cache" / "list.json", parent)
    yield made
    made.close()
    parent.deleteLater()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "models"
    path.mkdir()
    for name in ("a", "b"):
        (path / f"{name}.gguf").write_bytes(MODEL)
    return path


def refresh(models: ModelList, qtbot: QtBot, *folders: Path) -> str:
    """List to the end and return the sentence it ended with."""
    asked = [FolderToList(os.fsencode(path), path.name, is_own=True) for path in folders]
    with qtbot.waitSignal(models.ended, timeout=PATIENCE_MS) as ended:
        models.refresh(asked, [])
    assert ended.args is not None
    return str(ended.args[0])


def names(models: ModelList) -> list[str]:
    return sorted(entry.name for entry in models.entries)


def test_that_models_arrive_with_their_facts(models: ModelList, qtbot: QtBot, folder: Path) -> None:
    assert refresh(models, qtbot, folder) == ""
    assert names(models) == ["a.gguf", "b.gguf"]
    assert all(entry.is_usable for entry in models.entries)
    entry = models.entry(os.fsencode(folder / "a.gguf"))
    assert entry is not None
    assert entry.path == str(folder / "a.gguf")


def test_that_what_is_gone_is_told(models: ModelList, qtbot: QtBot, folder: Path) -> None:
    refresh(models, qtbot, folder)
    (folder / "a.gguf").unlink()
    with qtbot.waitSignal(models.entries_gone, timeout=PATIENCE_MS) as gone:
        refresh(models, qtbot, folder)
    assert gone.args == [(os.fsencode(folder / "a.gguf"),)]
    assert names(models) == ["b.gguf"]
    refresh(models, qtbot)
    assert names(models) == []


def test_that_a_stopped_listing_is_over_at_once(
    models: ModelList, qtbot: QtBot, folder: Path
) -> None:
    with qtbot.waitSignal(models.ended):
        models.refresh([FolderToList(os.fsencode(folder), "models")], [])
        models.stop()
    assert not models.is_listing
    refresh(models, qtbot, folder)
    assert names(models) == ["a.gguf", "b.gguf"]


def test_that_a_process_that_cannot_run_is_a_sentence(
    models: ModelList, qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_list, "_MODULE", "app.library.no_such_module")
    sentence = refresh(models, qtbot, folder)
    assert "ended early" in sentence
    assert "no_such_module" in sentence


def test_that_a_process_that_says_nothing_is_given_up(
    models: ModelList, qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_list, "_MODULE", "tests.unit.children.silent")
    models._silence.setInterval(1)
    assert "takes too long" in refresh(models, qtbot, folder)


def test_that_hurrying_reads_a_header_first_and_harms_nothing(
    models: ModelList, qtbot: QtBot, folder: Path
) -> None:
    location = os.fsencode(folder / "b.gguf")
    models.entries_found.connect(lambda _: models.hurry(location))
    models.hurry(location)
    refresh(models, qtbot, folder)
    models.hurry(location)
    assert all(entry.is_usable for entry in models.entries)
