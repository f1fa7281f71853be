"""Conversations are kept on a disk that is full, or that may only be read, while one chats.

A real small disk where this user may mount one; else, and for the read-only one, the system's own
answer to every write. It must be said once, the chat must go on, and all of it must be on the disk
once it has room.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from PySide6.QtWidgets import QLabel

from app.storage.conversation_store import ConversationStore
from app.window import Window
from engine_bridge.settings.config import EngineConfig
from tests.chaos.stage import LostError, Stage, open_window, until
from tests.chaos.tally import Tally
from tests.unit.failing_disk import write_with_room

_DISK_BYTES = 64 * 1024
_MOST_QUESTIONS = 10
_LONG_QUESTION = "While it is so, " * 60


def run(stage: Stage) -> Tally:
    """Fill the disk, and forbid to write on it, ``stage.counts.disks`` times each."""
    tally = Tally("full or read-only disk")
    config = EngineConfig.from_values(
        {
            "model_path": str(stage.chat_model()), "threads": 1, "ctx_per_slot_tok": 4096,
            "max_new_tok": 40,
        }
    )  # fmt: skip
    with small_disk(stage.folder / "disk") as disk:
        tally.notes = ["the full one is " + ("a real one" if disk.is_real else "played")]
        for number in range(stage.counts.disks):
            for trouble, words in ((disk.fill, "the disk is full"), (disk.forbid, "read-only")):
                folder = disk.folder / f"conversations-{number}-{trouble.__name__}"
                try:
                    _chat_through(config, folder, trouble, disk, words)
                    loss = stage.take_faults()
                except LostError as error:
                    disk.heal()
                    loss = str(error)
                shutil.rmtree(folder, ignore_errors=True)  # its room is the next round's
                tally.note(loss and f"{words}, round {number + 1}: {loss}")
                stage.say(f"{words}: {loss or 'ok'}")
    return tally


def _chat_through(
    config: EngineConfig, folder: Path, trouble: Callable[[], None], disk: Disk, words: str
) -> None:
    with open_window(config, store=ConversationStore(folder)) as window:
        name = window.chat.current_id()
        keeping = window.desk.keeping
        assert keeping is not None
        _ask(window, name, "Before")
        until(lambda: keeping.is_kept(name) and not keeping.unsaved_titles, "the first save")
        trouble()
        told: list[str] = []
        keeping.failed.connect(told.append)
        for _ in range(_MOST_QUESTIONS):  # the last page of the file may have room for some words
            _ask(window, name, _LONG_QUESTION)
            until(lambda: bool(told) or not keeping.unsaved_titles, "a save or its failure")
            if told:
                break
        else:
            raise LostError("the failure is not told")
        if words not in told[0]:
            raise LostError(f"the cause is not named: {told[0]}")
        labels = [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
        if not any(words in text for text in labels):
            raise LostError("it stands nowhere in the window")
        _ask(window, name, "Meanwhile")
        if len(told) > 1:
            raise LostError(f"it was told {len(told)} times")
        disk.heal()
        until(lambda: not keeping.unsaved_titles, "the save once there is room")
        _ask(window, name, "Afterwards")
        said = [turn.text for turn in window.desk.chats.conversation(name).turns]
    if window.desk.unsaved:
        raise LostError(f"at the end something was unsaved: {window.desk.unsaved}")
    store = ConversationStore(folder)
    stored = [turn.text for turn in store.read(name).turns]
    store.close()
    if stored != said or len(said) < 8:
        raise LostError("what is on the disk is not what was said")


def _ask(window: Window, name: str, text: str) -> None:
    window.chat.conversation(name).submit(text)
    until(lambda: not window.desk.chats.answering_count(), "an answer")


class Disk:
    """A disk with 64 KiB, or what looks like one.

    Attributes:
        folder: Where it is.
        is_real: Whether it is one.
    """

    def __init__(self, folder: Path, *, is_real: bool) -> None:
        """Take over ``folder``."""
        self.folder = folder
        self.is_real = is_real
        self._patches: list[mock._patch[object]] = []

    def fill(self) -> None:
        """Leave no byte free."""
        if not self.is_real:
            self._patch(write_with_room(0))
            return
        with (self.folder / "ballast").open("wb", buffering=0) as ballast:
            try:
                while ballast.write(bytes(4096)):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def forbid(self) -> None:
        """Let nobody write: as a disk does that the system has made read-only after a fault.

        That cannot be had by asking, while a file on it is open.
        """
        self._patch(write_with_room(0, errno.EROFS))

    def heal(self) -> None:
        """Have room again."""
        if self.is_real:
            (self.folder / "ballast").unlink(missing_ok=True)
        while self._patches:
            self._patches.pop().stop()

    def _patch(self, write: object) -> None:
        patch = mock.patch.object(os, "write", write)
        patch.start()
        self._patches.append(patch)


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """A disk at ``folder``, gone at the end."""
    folder.mkdir()
    is_real = False
    if sys.platform == "linux" and os.geteuid() == 0:
        command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", str(folder)]
        is_real = subprocess.run(command, capture_output=True, check=False).returncode == 0
    disk = Disk(folder, is_real=is_real)
    try:
        yield disk
    finally:
        disk.heal()
        if is_real:
            subprocess.run(["umount", folder], check=True)
