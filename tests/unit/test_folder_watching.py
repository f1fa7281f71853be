"""The list of models kept up to date: by itself, not too often, and only what changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app import folder_watching
from app.folder_watching import FolderWatching
from app.kept_models import UnkeptModels, refresh_models
from app.library import known_folders
from app.library.model_list import ModelList
from tests.unit.gguf_bytes import Gguf

PATIENCE_MS = 30_000
MODEL = Gguf().file()


class Desk:
    """A folder, its list, and what watches it."""

    def __init__(self, folder: Path, cache: Path, qtbot: QtBot) -> None:
        self.folder = folder
        self.parent = QObject()
        self.kept = UnkeptModels(model_folders=[str(folder)])
        self.models = ModelList(cache / "list.json", self.parent)
        self.watching = FolderWatching(self.models, self.kept, self.parent)
        self.listings = 0
        self.models.began.connect(self._on_began)
        self._qtbot = qtbot

    def _on_began(self) -> None:
        self.listings += 1

    def open(self) -> None:
        """As the picker does: list, and watch."""
        with self._qtbot.waitSignals([self.watching.told, self.models.ended], timeout=PATIENCE_MS):
            self.watching.start()
            refresh_models(self.models, self.kept)

    def names(self) -> list[str]:
        return sorted(entry.name for entry in self.models.entries)

    def wait_for(self, *names: str) -> None:
        self._qtbot.waitUntil(lambda: self.names() == sorted(names), timeout=PATIENCE_MS)


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    for name in ("_known", "_ollama"):  # this machine's own folders are no business of a test
        monkeypatch.setattr(known_folders, name, lambda *_: [])
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "first.gguf").write_bytes(MODEL)
    os.utime(folder / "first.gguf", (1e9, 1e9))
    made = Desk(folder, tmp_path, qtbot)
    yield made
    made.watching.close()
    made.models.close()
    made.parent.deleteLater()


def test_that_what_comes_and_goes_is_listed_by_itself(desk: Desk) -> None:
    desk.open()
    desk.wait_for("first.gguf")
    (desk.folder / "second.gguf").write_bytes(MODEL)
    desk.wait_for("first.gguf", "second.gguf")
    (desk.folder / "first.gguf").unlink()
    desk.wait_for("second.gguf")


def test_that_a_model_that_stays_the_same_is_not_told_again(desk: Desk) -> None:
    (desk.folder / "broken.gguf").write_bytes(b"<html>")
    os.utime(desk.folder / "broken.gguf", (1e9, 1e9))
    desk.open()
    desk.wait_for("broken.gguf", "first.gguf")
    told: list[str] = []
    desk.models.entries_found.connect(lambda entries: told.extend(e.name for e in entries))
    (desk.folder / "second.gguf").write_bytes(MODEL)
    desk.wait_for("broken.gguf", "first.gguf", "second.gguf")
    assert set(told) == {"second.gguf"}
    broken = desk.models.entry(os.fsencode(desk.folder / "broken.gguf"))
    assert broken is not None
    assert "web page" in broken.problem


def test_that_a_change_during_a_listing_is_listed_after_it(desk: Desk, qtbot: QtBot) -> None:
    desk.open()
    before = desk.listings
    refresh_models(desk.models, desk.kept)
    desk.watching._on_line_received(b'{"type":"changed"}')
    assert desk.listings == before + 1  # the one under way goes on
    desk.watching._rest.setInterval(0)
    desk.watching._rest.start()
    qtbot.waitUntil(lambda: desk.listings == before + 2, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not desk.models.is_listing, timeout=PATIENCE_MS)


def test_that_changes_one_after_another_are_listed_once(desk: Desk, qtbot: QtBot) -> None:
    desk.open()
    desk.watching._rest.stop()
    before = desk.listings
    for _ in range(50):
        desk.watching._on_line_received(b'{"type":"changed"}')
    assert desk.listings == before + 1
    assert desk.watching._rest.isActive()  # the rest of them is listed in two seconds


def test_that_an_added_folder_is_watched(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.open()
    other = tmp_path / "other"
    other.mkdir()
    desk.kept.model_folders = [*desk.kept.model_folders, str(other)]
    with qtbot.waitSignal(desk.watching.told, timeout=PATIENCE_MS):
        refresh_models(desk.models, desk.kept)
    assert desk.watching.watched is not None
    assert desk.watching.watched.count == 2
    (other / "new.gguf").write_bytes(MODEL)
    desk.wait_for("first.gguf", "new.gguf")


def test_that_nothing_is_watched_or_listed_once_it_is_stopped(desk: Desk, qtbot: QtBot) -> None:
    desk.open()
    process = desk.watching._process
    assert process is not None
    with qtbot.waitSignal(process.destroyed, timeout=PATIENCE_MS):
        desk.watching.stop()
    assert desk.watching.watched is None
    before = desk.listings
    refresh_models(desk.models, desk.kept)
    qtbot.waitUntil(lambda: not desk.models.is_listing, timeout=PATIENCE_MS)
    assert desk.listings == before + 1


def test_that_folders_that_are_not_watched_are_noted_once_and_without_names(
    desk: Desk, qtbot: QtBot
) -> None:
    notes: list[str] = []
    desk.watching.noted.connect(notes.append)
    line = b'{"type":"watched","count":3,"unwatched":["Holiday lies on another machine (nfs4)."]}'
    desk.watching._on_line_received(line)
    desk.watching._on_line_received(line)
    assert len(notes) == 1
    assert "3 folders of models are watched" in notes[0]
    assert "Holiday" not in notes[0]


def test_that_a_watch_that_ends_is_said(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watching, "_MODULE", "app.library.no_such_module")
    with qtbot.waitSignal(desk.watching.told, timeout=PATIENCE_MS) as told:
        desk.watching.start()
    assert told.args is not None
    (sentence,) = told.args[0]
    assert "not watched any more" in sentence
    assert "no_such_module" in sentence


def test_that_nonsense_from_what_watches_is_a_sentence(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watching, "_MODULE", "this")  # a poem, which is no JSON
    with qtbot.waitSignal(desk.watching.told, timeout=PATIENCE_MS) as told:
        desk.watching.start()
    (sentence,) = told.args[0]
    assert "cannot be understood" in sentence
    assert desk.watching.watched is None
