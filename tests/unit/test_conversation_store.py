"""Keeping, listing, naming, deleting, bringing back."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from app.conversation import Conversation
from app.storage import conversation_folder
from app.storage.conversation_store import ConversationStore
from app.storage.journal_file import read_file
from app.storage.storage_error import StorageError


def said(conversation_id: str, question: str, answer: str = "Because.") -> Conversation:
    conversation = Conversation(conversation_id, 1)
    conversation.ask(question, "Toy")
    conversation.append(answer)
    conversation.finish("end", "20 tok/s")
    return conversation


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "conversations"


@pytest.fixture
def store(folder: Path) -> ConversationStore:
    return ConversationStore(folder)


def keep(store: ConversationStore, *conversations: Conversation) -> None:
    for conversation in conversations:
        store.keep(conversation)
    store.close()


def test_that_a_conversation_comes_back_with_every_branch(
    store: ConversationStore, folder: Path
) -> None:
    conversation = said("a", "Why is the sky blue?")
    conversation.system_prompt = "Be brief."
    conversation.answer_again(2, "Other")
    conversation.append("Rayleigh.")
    conversation.finish("token_limit", "5 tok/s", "Cut at the limit.")
    keep(store, conversation)
    opened = ConversationStore(folder).open("a")
    assert opened.conversation == conversation
    assert not opened.is_copy


@pytest.mark.skipif(sys.platform == "win32", reason="other systems have no such modes")
def test_that_files_are_for_this_user_alone(store: ConversationStore, folder: Path) -> None:
    keep(store, said("a", "Why?"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == {"a.jsonl": 0o600, ".index": 0o600}


def test_that_a_conversation_without_a_word_leaves_no_file(
    store: ConversationStore, folder: Path
) -> None:
    keep(store, Conversation("a", 1))
    assert not list(folder.glob("*.jsonl"))
    assert store.entries() == []


def test_that_keeping_waits_for_no_disk(store: ConversationStore, folder: Path) -> None:
    store.keep(said("a", "Why?"))
    assert not folder.exists()
    before, written = store.has_unwritten, store.flush()
    assert (before, written, store.has_unwritten) == (True, ("a",), False)
    assert store.flush() == ()
    store.close()


def test_that_an_answer_under_way_when_the_program_died_has_failed_with_its_words(
    store: ConversationStore, folder: Path
) -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Count")
    conversation.append("1, 2")
    keep(store, conversation)
    last = ConversationStore(folder).open("a").conversation.last
    assert last is not None
    assert (last.text, last.end) == ("1, 2", "failed")
    assert "ended during this answer" in last.note


def test_that_an_answer_costs_about_its_own_text(
    store: ConversationStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S55: count the bytes written for an answer of 2,000 tokens, 20 a second, kept once a second.
    written = [0]
    write = os.write

    def counted(handle: int, content: bytes) -> int:
        count = write(handle, content)
        written[0] += count
        return count

    monkeypatch.setattr(os, "write", counted)
    conversation = Conversation("a", 1)
    conversation.ask("Tell me a story.")
    for token in range(2000):
        conversation.append(" word")
        if token % 20 == 19:
            store.keep(conversation)
            store.flush()
    conversation.finish("end")
    store.keep(conversation)
    store.flush()
    text_bytes = 2000 * len(" word")
    assert text_bytes < written[0] < text_bytes + 102 * 100
    assert written[0] == (folder / "a.jsonl").stat().st_size
    store.close()


def test_that_a_text_replaced_over_and_over_does_not_fill_the_disk(
    store: ConversationStore, folder: Path
) -> None:
    conversation = said("a", "Why?")
    sizes = []
    for number in range(40):
        conversation.system_prompt = f"{number}" + "x" * 100_000
        store.keep(conversation)
        store.flush()
        sizes.append((folder / "a.jsonl").stat().st_size)
    assert max(sizes) < 1_400_000
    assert ConversationStore(folder).open("a").is_copy  # nor was its lock lost by that
    conversation.ask("More?")
    conversation.finish("end")
    keep(store, conversation)
    assert ConversationStore(folder).open("a").conversation == conversation
    assert {file.name for file in folder.iterdir()} == {"a.jsonl", ".index"}


def test_that_a_long_conversation_is_not_written_anew_for_being_long(
    store: ConversationStore, folder: Path
) -> None:
    conversation = said("a", "x" * 2_000_000)
    keep(store, conversation)
    node = (folder / "a.jsonl").stat().st_ino
    conversation.ask("More?")
    conversation.finish("end")
    keep(store, conversation)
    assert (folder / "a.jsonl").stat().st_ino == node


def test_that_nothing_new_writes_nothing(store: ConversationStore, folder: Path) -> None:
    conversation = said("a", "Why?")
    store.keep(conversation)
    store.flush()
    size = (folder / "a.jsonl").stat().st_size
    store.keep(conversation)
    assert not store.has_unwritten
    assert store.flush() == ()
    assert (folder / "a.jsonl").stat().st_size == size
    store.close()


@pytest.mark.parametrize(
    "text",
    ["👩‍👩‍👧‍👦 🏳️‍🌈", "مرحبا abc שלום \u202e.py", "a\0b\x1b[31m", "x" * 5_000_000, "l\n" * 200_000],
    ids=["emoji", "right-to-left", "control", "5 MB in a line", "200,000 lines"],
)
def test_that_strange_texts_come_back_as_they_were(
    store: ConversationStore, folder: Path, text: str
) -> None:
    keep(store, said("a", text, text))
    turns = ConversationStore(folder).open("a").conversation.turns
    assert [turn.text for turn in turns] == [text, text]


def test_that_half_characters_do_not_stop_the_keeping(
    store: ConversationStore, folder: Path
) -> None:
    conversation = said("a", "half \ud83d of it", "b")
    conversation.name = "\udc00"
    keep(store, conversation)
    later = ConversationStore(folder)
    assert later.open("a").conversation.turns[0].text == "half \ufffd of it"
    assert [entry.title for entry in later.entries()] == ["\ufffd"]


# --- The list -----------------------------------------------------------------------------


def test_that_the_list_is_newest_first_and_says_what_is_in_it(folder: Path) -> None:
    now = [100.0]
    store = ConversationStore(folder, lambda: now[0])
    store.keep(said("old", "Why is the sky blue?", "It  scatters\nlight. " + "More. " * 100))
    now[0] = 200.0
    keep(store, said("new", "And grass?"))
    for entries in (store.entries(), ConversationStore(folder).entries()):
        assert [entry.id for entry in entries] == ["new", "old"]
        assert [entry.updated_s for entry in entries] == [200.0, 100.0]
        old = entries[1]
        assert old.title == "Why is the sky blue?"
        assert old.turns == 2
        assert old.excerpt.startswith("It scatters light. More.")
        assert old.excerpt.endswith("…")
        assert old.size_bytes == (folder / "old.jsonl").stat().st_size


def test_that_a_list_reads_only_files_that_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ConversationStore(folder)
    keep(store, *(said(f"c{number}", "Why?") for number in range(30)))
    read = []

    def counted(path: Path) -> bytes:
        read.append(path.stem)
        return read_file(path)

    monkeypatch.setattr(conversation_folder, "read_file", counted)
    assert len(ConversationStore(folder).entries()) == 30
    assert read == []
    other = ConversationStore(folder)
    other.rename("c7", "Seven")
    read.clear()
    titles = {entry.id: entry.title for entry in ConversationStore(folder).entries()}
    assert titles["c7"] == "Seven"
    assert read == ["c7"]


@pytest.mark.parametrize("junk", [b"", b"\0\1\2", b"\x82\xa6schema\x63\xa4rows\x80"])
def test_that_an_index_that_cannot_be_read_is_only_a_detour(folder: Path, junk: bytes) -> None:
    keep(ConversationStore(folder), said("a", "Why?"))
    (folder / ".index").write_bytes(junk)
    assert [entry.id for entry in ConversationStore(folder).entries()] == ["a"]


def test_that_a_conversation_not_written_yet_is_listed(store: ConversationStore) -> None:
    store.keep(said("a", "Why?"))
    assert [(entry.title, entry.size_bytes) for entry in store.entries()] == [("Why?", 0)]


def test_that_naming_does_not_make_a_conversation_newer(folder: Path) -> None:
    now = [100.0]
    store = ConversationStore(folder, lambda: now[0])
    keep(store, said("a", "Why?"))
    now[0] = 200.0
    store.rename("a", "  My\n title ")
    (entry,) = ConversationStore(folder).entries()
    assert (entry.title, entry.updated_s) == ("My title", 100.0)


# --- Deleting and copying ------------------------------------------------------------------


def test_that_a_deleted_conversation_can_be_brought_back(
    store: ConversationStore, folder: Path
) -> None:
    conversation = said("a", "Why?")
    keep(store, conversation)
    store.delete("a")
    assert store.entries() == []
    with pytest.raises(StorageError, match="gone"):
        store.open("a")
    store.restore("a")
    assert store.open("a").conversation == conversation
    store.close()


def test_that_the_last_words_of_a_deleted_conversation_come_back_with_it(
    store: ConversationStore, folder: Path
) -> None:
    conversation = said("a", "Why?")
    store.keep(conversation)
    store.delete("a")
    conversation.ask("Still there?")
    store.keep(conversation)
    store.flush()
    assert not list(folder.glob("*.jsonl"))
    assert not store.entries()
    store.restore("a")
    conversation.finish("cancelled")
    keep(store, conversation)  # its tab was never closed
    assert [file.name for file in folder.glob("*.jsonl")] == ["a.jsonl"]
    assert ConversationStore(folder).read("a") == conversation


def test_that_a_restored_conversation_is_read_anew(store: ConversationStore, folder: Path) -> None:
    store.keep(said("a", "Why?"))
    store.delete("a")
    store.restore("a")
    ConversationStore(folder).rename("a", "By another window")
    assert store.open("a").conversation.name == "By another window"
    assert ConversationStore(folder).open("a").is_copy
    store.close()


def test_that_what_could_not_be_written_survives_deleting_and_undo(
    store: ConversationStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = said("a", "Why?")
    store.keep(conversation)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full_disk)
        store.delete("a")
    assert store.entries() == []
    store.restore("a")
    store.close()
    assert ConversationStore(folder).open("a").conversation == conversation


def full_disk(*_: object) -> int:
    raise OSError(28, "No space left on device")


def test_that_the_trash_is_emptied_of_what_is_long_in_it(folder: Path) -> None:
    store = ConversationStore(folder)
    keep(store, said("old", "Why?"), said("new", "How?"))
    store.delete("old")
    store.delete("new")
    trashed = folder / "trash" / "old.jsonl"
    draft = folder / ".a.jsonl.0123abcd"  # of a program that died over it
    draft.touch()
    month_ago_s = trashed.stat().st_mtime - 31 * 86400
    os.utime(trashed, (month_ago_s, month_ago_s))
    os.utime(draft, (month_ago_s, month_ago_s))
    assert store.empty_trash() == 2
    assert not draft.exists()
    assert [file.name for file in (folder / "trash").iterdir()] == ["new.jsonl"]


def test_that_a_copy_is_a_conversation_of_its_own(store: ConversationStore, folder: Path) -> None:
    conversation = said("a", "Why?")
    keep(store, conversation)
    copy_id = store.duplicate("a")
    copy = store.open(copy_id).conversation
    assert copy.title == "Why? (copy)"
    assert copy.tree == conversation.tree
    copy.ask("More?")
    store.keep(copy)
    store.close()
    later = ConversationStore(folder)
    assert len(later.read("a").turns) == 2
    assert len(later.read(copy_id).turns) == 4


def test_that_a_file_copied_by_hand_is_another_conversation(
    store: ConversationStore, folder: Path
) -> None:
    keep(store, said("a", "Why?"))
    (folder / "a (2).jsonl").write_bytes((folder / "a.jsonl").read_bytes())
    later = ConversationStore(folder)
    assert sorted(entry.id for entry in later.entries()) == ["a", "a (2)"]
    assert later.open("a (2)").conversation.id == "a (2)"
    later.close()


@pytest.mark.parametrize("name", ["../a", "a/b", "", ".index", "a\0b"])
def test_that_no_id_leads_out_of_the_folder(store: ConversationStore, name: str) -> None:
    for attempt in (store.open, store.delete, store.restore, store.read):
        with pytest.raises(StorageError, match="not the name"):
            attempt(name)
