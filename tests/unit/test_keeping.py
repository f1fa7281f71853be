"""What is said on the desk is in its file soon after, and comes back from there."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from pytestqt.qtbot import QtBot

from app import keeping as keeping_module
from app.chats import Chats
from app.conversation import Conversation
from app.keeping import Keeping
from app.storage.conversation_entry import ConversationEntry
from app.storage.conversation_search import SearchHit
from app.storage.conversation_store import ConversationStore
from engine_bridge.client import EngineClient
from engine_bridge.protocol import Generate, RequestFinished, RequestTiming, TokensDelivered
from tests.unit.failing_disk import write_with_room
from tests.unit.fake_client import FakeClient

TIMING = RequestTiming(0.0, 0.1, 0.1, 0.02, 0.02, 0.03, 10, 0, 5)


class Desk:
    """Chats, their keeping, and what it said."""

    def __init__(self, folder: Path) -> None:
        self.client = FakeClient()
        self.chats = Chats(cast(EngineClient, self.client))
        self.store = ConversationStore(folder)
        self.keeping = Keeping(self.chats, self.store)
        self.lists: list[list[ConversationEntry]] = []
        self.opened: list[Conversation] = []
        self.failed: list[str] = []
        self.noted: list[str] = []
        self.keeping.entries_listed.connect(self.lists.append)
        self.keeping.opened.connect(self.opened.append)
        self.keeping.opened.connect(self.chats.adopt)
        self.keeping.failed.connect(self.failed.append)
        self.keeping.noted.connect(self.noted.append)

    def say(self, *words: str, question: str = "Why?") -> Conversation:
        """A conversation whose answer has those words so far."""
        conversation = self.chats.open()
        self.chats.send(conversation.id, question)
        for word in words:
            self.client.event_received.emit(TokensDelivered(self.request(), word, (1,), (1,), 2))
        return conversation

    def finish(self) -> None:
        self.client.event_received.emit(RequestFinished(self.request(), "end", "", TIMING, 12))

    def request(self) -> int:
        return [c.request_id for c in self.client.sent if isinstance(c, Generate)][-1]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping_module, "_PERIOD_MS", 0)
    monkeypatch.setattr(keeping_module, "_RETRY_MS", 0)


@pytest.fixture
def desk(qapp: object, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.keeping.close(5.0)


def count_flushes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Grows by one with each."""
    flushes: list[None] = []
    flush = desk.store.flush

    def counted() -> tuple[str, ...]:
        flushes.append(None)
        return flush()

    monkeypatch.setattr(desk.store, "flush", counted)
    return flushes


def stored(folder: Path, conversation_id: str) -> Conversation:
    return ConversationStore(folder).read(conversation_id)


def test_that_words_are_in_the_file_while_they_stream(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    with qtbot.waitSignal(desk.keeping.entry_changed) as told:
        conversation = desk.say("Because ", "it is")
    assert stored(tmp_path, conversation.id).turns[-1].text == "Because it is"
    assert told.args[0].title == "Why?"


def test_that_many_words_are_one_write(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushes = count_flushes(desk, monkeypatch)
    with qtbot.waitSignal(desk.keeping.entry_changed):
        desk.say(*["word "] * 500)
    assert len(flushes) == 1


def test_that_noting_what_is_new_costs_the_gui_thread_little(desk: Desk, qtbot: QtBot) -> None:
    conversation = desk.chats.open()
    for number in range(500):
        conversation.ask(f"Question {number}")
        conversation.append("answer " * 100)
        conversation.finish("end")
    conversation.ask("x" * 5_000_000)
    desk.store.keep(conversation)
    conversation.append("y" * 1_000_000)
    before_s = time.thread_time()
    desk.store.keep(conversation)
    # Measured 0.7 ms; a copy of it all or a look at every text would be far above.
    assert time.thread_time() - before_s < 0.010
    desk.store.flush()


def test_that_the_gui_thread_never_waits_for_the_disk(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, names = threading.get_ident(), ("open", "read", "write", "fsync", "scandir", "replace")
    seen: set[tuple[str, bool]] = set()

    def watch(name: str) -> None:
        call = getattr(os, name)

        def watched(*args: object, **kwargs: object) -> object:
            seen.add((name, threading.get_ident() == here))
            return call(*args, **kwargs)

        monkeypatch.setattr(os, name, watched)

    for name in names:
        watch(name)
    with qtbot.waitSignal(desk.keeping.entry_changed):
        conversation = desk.say("Because")
        desk.finish()
    desk.keeping.list()
    with qtbot.waitSignal(desk.keeping.search_finished):
        desk.keeping.search("because")
    desk.chats.close(conversation.id)
    with qtbot.waitSignal(desk.keeping.opened):
        desk.keeping.open(conversation.id)
    desk.keeping.close(5.0)
    assert {("open", False), ("write", False), ("scandir", False)} <= seen
    assert not any(is_here for _, is_here in seen)


def test_that_closing_the_program_keeps_the_last_words(qapp: object, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    conversation = desk.say("Because")
    assert desk.keeping.close(5.0) == ""
    assert stored(tmp_path, conversation.id).turns[-1].text == "Because"
    # The engine's last words after that are nobody's.
    desk.client.engine_died.emit(None)
    assert stored(tmp_path, conversation.id).turns[-1].end == "open"


def test_that_closing_does_not_wait_for_a_dead_drive(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    answers = threading.Event()
    monkeypatch.setattr(desk.store, "close", answers.wait)
    desk.say("Because")
    assert "did not answer" in desk.keeping.close(0.0)
    answers.set()
    desk.store.flush()


def test_that_closing_says_what_is_not_saved(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    desk.say("Because")
    monkeypatch.setattr(os, "write", write_with_room(0))
    assert "the disk is full" in desk.keeping.close(5.0)


def test_that_a_full_disk_is_one_sentence_and_its_end_another(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S33
    tries = count_flushes(desk, monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write_with_room(0))
        conversation = desk.say("Because ")
        qtbot.waitUntil(lambda: len(tries) > 5)
        desk.client.event_received.emit(TokensDelivered(desk.request(), "it is", (1,), (1,), 2))
    qtbot.waitUntil(lambda: bool(desk.noted))
    desk.finish()
    assert len(desk.failed) == 1
    assert "the disk is full" in desk.failed[0]
    assert desk.noted == ["Conversations are saved again; nothing of them was lost."]
    assert stored(tmp_path, conversation.id).turns[-1].text == "Because it is"


def test_that_a_closed_tab_is_over_and_free_for_other_windows(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    conversation = desk.say("Because")
    desk.chats.close(conversation.id)
    with qtbot.waitSignal(desk.keeping.entries_listed):
        desk.keeping.list()
    other = ConversationStore(tmp_path)
    opened = other.open(conversation.id)
    assert not opened.is_copy
    last = opened.conversation.last
    assert last is not None
    assert (last.end, last.text) == ("cancelled", "Because")
    other.close()


def test_that_a_stored_conversation_opens_and_goes_on(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    conversation = desk.say("Because")
    desk.finish()
    desk.chats.close(conversation.id)
    with qtbot.waitSignal(desk.keeping.opened):
        desk.keeping.open(conversation.id)
        desk.keeping.open(conversation.id)  # a second click
    assert desk.opened == [conversation]
    desk.keeping.open(conversation.id)
    assert len(desk.opened) == 2
    assert desk.opened[1] is desk.opened[0]  # the tab that is there already
    with qtbot.waitSignal(desk.keeping.entry_changed):
        desk.chats.send(conversation.id, "More?")
    assert len(stored(tmp_path, conversation.id).turns) == 4
    assert not desk.failed


def test_that_one_that_is_gone_is_a_sentence(desk: Desk, qtbot: QtBot) -> None:
    with qtbot.waitSignal(desk.keeping.failed):
        desk.keeping.open("gone")
    assert "gone" in desk.failed[0]
    assert not desk.opened


def test_that_another_window_s_conversation_is_a_copy_and_says_so(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    # S17
    with qtbot.waitSignal(desk.keeping.entry_changed):
        conversation = desk.say("Because")
    other = Desk(tmp_path)
    with qtbot.waitSignal(other.keeping.noted):
        other.keeping.open(conversation.id)
    assert "this is a copy" in other.noted[0]
    assert other.opened[0].id != conversation.id
    assert other.keeping.close(5.0) == ""
    assert len(list(tmp_path.glob("*.jsonl"))) == 1  # a copy nobody touched leaves nothing


def test_that_the_tabs_of_the_last_time_come_back_in_order(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    ids = []
    for question in ("One?", "Two?", "Three?"):
        conversation = desk.say("Yes", question=question)
        desk.finish()
        ids.append(conversation.id)
    desk.keeping.close(5.0)
    later, elsewhere = Desk(tmp_path), ConversationStore(tmp_path)
    elsewhere.open(ids[0])
    with qtbot.waitSignal(later.keeping.reopening_finished) as told:
        later.keeping.reopen([ids[2], ids[0], "gone", ids[1]])
    assert [conversation.id for conversation in later.opened] == [ids[2], ids[1]]
    assert told.args == [2]
    assert later.failed == []  # what is not there any more is no fault of a drive
    assert later.keeping.left_alone == (ids[0],)
    assert len(later.noted) == 1
    assert later.noted[0].startswith("Another window of TuneDeck has the conversation")
    later.keeping.close(5.0)
    elsewhere.close()


def test_that_open_and_stored_conversations_are_renamed(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    conversation = desk.say("Because")
    desk.keeping.rename(conversation.id, "Open")
    qtbot.waitUntil(lambda: bool(desk.lists))
    assert desk.lists[-1][0].title == conversation.title == "Open"
    desk.chats.close(conversation.id)
    desk.keeping.rename(conversation.id, "Stored")
    qtbot.waitUntil(lambda: desk.lists[-1][0].title == "Stored")
    assert stored(tmp_path, conversation.id).name == "Stored"


def test_that_an_open_conversation_can_be_deleted_and_brought_back(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    conversation = desk.say("Because")
    desk.keeping.deleted.connect(lambda conversation_id, _: desk.chats.close(conversation_id))
    with qtbot.waitSignal(desk.keeping.deleted) as told:
        desk.keeping.delete(conversation.id, "Why?")
    assert told.args == [conversation.id, "Why?"]
    qtbot.waitUntil(lambda: desk.lists[-1:] == [[]])
    assert not list(tmp_path.glob("*.jsonl"))
    with qtbot.waitSignal(desk.keeping.restored):
        desk.keeping.restore(conversation.id)
    with qtbot.waitSignal(desk.keeping.opened):
        desk.keeping.open(conversation.id)
    last = desk.opened[0].turns[-1]
    assert (last.text, last.end) == ("Because", "cancelled")


def test_that_a_copy_is_listed(desk: Desk, qtbot: QtBot) -> None:
    conversation = desk.say("Because")
    desk.keeping.duplicate(conversation.id)
    qtbot.waitUntil(lambda: bool(desk.lists))
    assert {entry.title for entry in desk.lists[-1]} == {"Why?", "Why? (copy)"}


def test_that_only_the_newest_search_is_told(desk: Desk, qtbot: QtBot) -> None:
    desk.say("Because", question="Sky?")
    told: list[tuple[str, list[SearchHit]]] = []
    desk.keeping.search_finished.connect(lambda words, hits: told.append((words, hits)))
    desk.keeping.search("sk")
    desk.keeping.search("sky")
    with qtbot.waitSignal(desk.keeping.search_finished):
        desk.keeping.search("sky because")
    assert [words for words, _ in told] == ["sky because"]
    assert [hit.entry.title for hit in told[0][1]] == ["Sky?"]


def test_that_damaged_files_are_told_of(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b"junk\n")
    with qtbot.waitSignal(desk.keeping.damaged_found) as told:
        desk.keeping.start()
    assert "bad.jsonl" in told.args[0][0]


@pytest.mark.parametrize(("kind", "beginning"), [("markdown", "# Why?"), ("json", "{")])
def test_that_a_conversation_is_exported_with_its_newest_words(
    desk: Desk, qtbot: QtBot, tmp_path: Path, kind: str, beginning: str
) -> None:
    conversation = desk.say("Because")
    path = tmp_path / "out" / "chat.txt"
    with qtbot.waitSignal(desk.keeping.exported) as told:
        desk.keeping.export_to(conversation.id, path, kind)  # type: ignore[arg-type]
    assert told.args == [str(path)]
    text = path.read_text(encoding="utf-8")
    assert text.startswith(beginning)
    assert "Because" in text


def test_that_an_exported_conversation_is_imported_as_another(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    conversation = desk.say("Because")
    path = tmp_path / "out.json"
    with qtbot.waitSignal(desk.keeping.exported):
        desk.keeping.export_to(conversation.id, path, "json")
    with qtbot.waitSignal(desk.keeping.opened):
        desk.keeping.import_from(path)
    (imported,) = desk.opened
    assert imported.id != conversation.id
    assert imported.turns[-1].text == "Because"
    assert not imported.is_answering
    qtbot.waitUntil(lambda: bool(desk.lists))
    assert {entry.id for entry in desk.lists[-1]} == {conversation.id, imported.id}


def test_that_a_file_that_is_no_export_is_a_sentence(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "out.json").write_bytes(b"\x89PNG")
    for path in (tmp_path / "out.json", tmp_path / "none.json", tmp_path):
        with qtbot.waitSignal(desk.keeping.failed):
            desk.keeping.import_from(path)
    assert "no conversation" in desk.failed[0]


def test_that_an_export_that_fails_is_a_sentence(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    conversation = desk.say("Because")
    (tmp_path / "file").touch()
    with qtbot.waitSignal(desk.keeping.failed):
        desk.keeping.export_to(conversation.id, tmp_path / "file" / "x.md", "markdown")
    assert "could not be exported" in desk.failed[0]
