"""What becomes of a model's file while it is loaded, and what is said of it."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app import model_watch
from app.model_watch import (
    ModelWatch,
    Stamp,
    Trouble,
    look_at,
    trouble_of,
    trouble_sentence,
)

WHOLE = bytes(4096)


class Told:
    """What a watch has said."""

    def __init__(self, watch: ModelWatch) -> None:
        self.troubles: list[Trouble] = []
        self.sentence = ""
        watch.trouble_found.connect(self._on_found)
        watch.trouble_ended.connect(lambda: self.troubles.append(Trouble.NONE))

    def _on_found(self, trouble: Trouble, sentence: str) -> None:
        self.troubles.append(trouble)
        self.sentence = sentence


class Looks:
    """Counts the looks of a watch."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, path: str) -> tuple[Stamp, ...]:
        stamps = look_at(path)
        self.count += 1
        return stamps


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(WHOLE)
    return path


@dataclass(frozen=True)
class Watched:
    """A watch, what it said, and the file."""

    watch: ModelWatch
    told: Told
    path: Path


@pytest.fixture
def watched(qtbot: QtBot, model: Path) -> Iterator[Watched]:
    parent, looks = QObject(), Looks()
    watch = ModelWatch(parent, looks)
    watch.watch(str(model), is_mapped=True)
    qtbot.waitUntil(lambda: looks.count == 1 and watch._asked_s is None)
    yield Watched(watch, Told(watch), model)
    watch.stop()
    parent.deleteLater()


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(WHOLE)
    other.replace(path)


def cut(path: Path) -> None:
    os.truncate(path, 100)


def write(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


@pytest.mark.parametrize(
    ("change", "trouble", "words"),
    [
        (delete, Trouble.DELETED, "deleted or moved"),
        (replace, Trouble.REPLACED, "Reload to use the new one"),
        (cut, Trouble.CUT, "100\u202fB of 4.00\u202fKiB"),
        (write, Trouble.WRITTEN, "nonsense"),
    ],
)
def test_that_a_change_is_noticed_and_explained(
    qtbot: QtBot,
    watched: Watched,
    change: Callable[[Path], None],
    trouble: Trouble,
    words: str,
) -> None:
    change(watched.path)
    watched.watch.check()
    qtbot.waitUntil(lambda: watched.told.troubles == [trouble])
    assert words in watched.told.sentence
    assert "model.gguf" in watched.told.sentence


def test_that_a_file_that_is_back_ends_the_trouble(
    qtbot: QtBot, model: Path, watched: Watched
) -> None:
    watch, told = watched.watch, watched.told
    away = model.with_name("away")
    model.rename(away)
    watch.check()
    qtbot.waitUntil(lambda: told.troubles == [Trouble.DELETED])
    away.rename(model)
    watch.check()
    qtbot.waitUntil(lambda: told.troubles == [Trouble.DELETED, Trouble.NONE])


# S35: a drive that does not answer must not hold up the window, nor the end of the program.
def test_that_a_drive_that_does_not_answer_is_said(
    qtbot: QtBot, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()

    def look(path: str) -> tuple[Stamp, ...]:
        released.wait()
        return look_at(path)

    parent = QObject()
    watch = ModelWatch(parent, look)
    told = Told(watch)
    watch.watch(str(model), is_mapped=True)
    monkeypatch.setattr(model_watch, "_SILENCE_S", -1.0)
    watch.check()
    assert told.troubles == [Trouble.UNREACHABLE]
    assert "does not answer" in told.sentence
    released.set()
    qtbot.waitUntil(lambda: told.troubles == [Trouble.UNREACHABLE, Trouble.NONE])
    watch.stop()
    parent.deleteLater()


def test_that_any_part_of_a_split_model_counts(tmp_path: Path) -> None:
    parts = [tmp_path / f"big-0000{number}-of-00002.gguf" for number in (1, 2)]
    for part in parts:
        part.write_bytes(WHOLE)
    first = look_at(str(parts[0]))
    assert len(first) == 2
    assert trouble_of(first, look_at(str(parts[0]))) is Trouble.NONE
    parts[1].unlink()
    assert trouble_of(first, look_at(str(parts[0]))) is Trouble.DELETED


def test_that_a_failing_drive_is_no_deleted_file() -> None:
    first = (Stamp((1, 2), 10, 10),)
    assert trouble_of(first, (Stamp(error=errno.EIO),)) is Trouble.UNREACHABLE
    assert trouble_of(first, (Stamp(error=errno.ENOENT),)) is Trouble.DELETED


@pytest.mark.parametrize("trouble", [t for t in Trouble if t is not Trouble.NONE])
def test_that_a_mapped_file_is_another_matter_than_a_copied_one(trouble: Trouble) -> None:
    mapped = trouble_sentence(trouble, "m.gguf", is_mapped=True)
    copied = trouble_sentence(trouble, "m.gguf", is_mapped=False)
    assert mapped != copied
    assert "own copy" in copied
    assert mapped.startswith(("m.gguf", "The drive of m.gguf"))
