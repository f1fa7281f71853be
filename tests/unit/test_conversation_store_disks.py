"""Disks that are full, read-only or gone."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.conversation import Conversation
from app.storage import journal_file
from app.storage.conversation_store import ConversationStore
from app.storage.storage_error import StorageError
from tests.unit.failing_disk import write_with_room


def said(conversation_id: str, question: str = "Why?") -> Conversation:
    conversation = Conversation(conversation_id, 1)
    conversation.ask(question)
    conversation.append("Because.")
    conversation.finish("end")
    return conversation


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the conversation "a" is stored."""
    store = ConversationStore(tmp_path / "conversations")
    store.keep(said("a"))
    store.close()
    return tmp_path / "conversations"


def test_that_a_full_disk_is_a_sentence_and_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ConversationStore(folder)
    conversation = store.open("a").conversation
    conversation.ask("More?")
    store.keep(conversation)
    before = (folder / "a.jsonl").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write_with_room(20))
        with pytest.raises(StorageError, match="the disk is full; free some space"):
            store.flush()
        assert (folder / "a.jsonl").read_bytes() == before
    store.close()
    assert ConversationStore(folder).read("a") == conversation


def test_that_one_conversation_that_cannot_be_written_holds_up_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ConversationStore(folder)
    store.keep(said("b"))
    store.keep(said("c"))
    open_file = os.open

    def open_but_b(path: Path, *args: int) -> int:
        if Path(path).name == "b.jsonl":
            raise OSError(errno.EACCES, "Permission denied")
        return open_file(path, *args)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", open_but_b)
        with pytest.raises(StorageError, match="permission was refused"):
            store.flush()
        assert ConversationStore(folder).read("c").turns[-1].text == "Because."
    assert store.flush() == ("b",)
    store.close()


def test_that_a_conversation_that_found_no_room_leaves_no_empty_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ConversationStore(folder)
    store.keep(said("b"))
    monkeypatch.setattr(os, "write", write_with_room(0))
    with pytest.raises(StorageError, match="the disk is full"):
        store.close()
    assert [file.name for file in folder.glob("*.jsonl")] == ["a.jsonl"]


def test_that_no_file_grows_so_large_that_it_cannot_be_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ConversationStore(folder)
    conversation = store.open("a").conversation
    monkeypatch.setattr(journal_file, "LIMIT_BYTES", 2**20)
    conversation.ask("x" * 2**20)
    store.keep(conversation)
    with pytest.raises(StorageError, match="would be larger than 1 MiB"):
        store.close()
    assert len(ConversationStore(folder).read("a").turns) == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real disk with room for 64 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("this machine does not let a small disk be mounted")
    yield place
    subprocess.run(["umount", place], check=True)


def test_that_a_real_full_disk_loses_nothing(small_disk: Path) -> None:
    # S33
    store = ConversationStore(small_disk / "conversations")
    conversation = said("a")
    store.keep(conversation)
    store.flush()
    conversation.ask("x" * 100_000)
    store.keep(conversation)
    for _ in range(2):
        with pytest.raises(StorageError, match="the disk is full"):
            store.flush()
    assert len(ConversationStore(small_disk / "conversations").read("a").turns) == 2
    subprocess.run(["mount", "-o", "remount,size=1m", small_disk], check=True)
    store.close()
    assert ConversationStore(small_disk / "conversations").read("a") == conversation


def test_that_a_read_only_disk_can_be_read_and_is_written_when_it_can_be(small_disk: Path) -> None:
    # S33
    folder = small_disk / "conversations"
    first = ConversationStore(folder)
    first.keep(said("a"))
    first.close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    store = ConversationStore(folder)
    assert [entry.id for entry in store.entries()] == ["a"]
    opened = store.open("a")
    assert not opened.is_copy
    opened.conversation.ask("More?")
    store.keep(opened.conversation)
    with pytest.raises(StorageError, match="read-only"):
        store.flush()
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    store.close()
    assert ConversationStore(folder).read("a") == opened.conversation


def test_that_a_drive_that_was_gone_is_written_to_when_it_is_back(folder: Path) -> None:
    # S33
    store = ConversationStore(folder)
    conversation = store.open("a").conversation
    elsewhere = folder.with_name("unplugged")
    folder.rename(elsewhere)
    folder.write_text("no folder can be made here")
    conversation.ask("More?")
    store.keep(conversation)
    with pytest.raises(StorageError, match="stays in memory"):
        store.flush()
    folder.unlink()
    elsewhere.rename(folder)
    store.close()
    assert ConversationStore(folder).read("a") == conversation
    assert len(list(folder.glob("*.jsonl"))) == 1


def test_that_lines_of_our_own_that_were_written_half_are_nobody_elses(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ConversationStore(folder)
    conversation = store.open("a").conversation
    for name in ("One", "Two", "Three"):  # a line each
        conversation.name = name
        store.keep(conversation)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write_with_room(60, errno.EIO))
        patched.setattr(os, "ftruncate", write_with_room(0, errno.EIO))
        with pytest.raises(StorageError):
            store.flush()
    before = (folder / "a.jsonl").read_bytes()
    assert not before.endswith(b"\n")
    store.flush()
    store.close()
    assert ConversationStore(folder).read("a").name == "Three"
    assert [path.name for path in folder.glob("*.jsonl")] == ["a.jsonl"]
