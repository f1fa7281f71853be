"""Killed programs, two programs, and damaged files."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.conversation import Conversation
from app.storage import journal_file, journal_lock
from app.storage.conversation_store import ConversationStore
from app.storage.storage_error import StorageError

ROOT = Path(__file__).resolve().parents[2]

# Goes on counting in the conversation "a" and says after each write how far it came.
_COUNT = """
import sys
from pathlib import Path
from app.conversation import Conversation
from app.storage.conversation_store import ConversationStore

store = ConversationStore(Path(sys.argv[1]))
if any(entry.id == "a" for entry in store.entries()):
    conversation = store.open("a").conversation
    conversation.open_answer()
else:
    conversation = Conversation("a", 1)
    conversation.ask("Count")
number = len(conversation.last.text.split())
while True:
    conversation.append(f"{number} ")
    store.keep(conversation)
    store.flush()
    number += 1
    print(number, flush=True)
"""
# Opens the conversation "a", says so, and holds it until its input ends.
_HOLD = """
import sys
from pathlib import Path
from app.storage.conversation_store import ConversationStore

store = ConversationStore(Path(sys.argv[1]))
opened = store.open("a")
print(opened.is_copy, flush=True)
for line in sys.stdin:
    opened.conversation.ask(line.strip())
    opened.conversation.finish("end")
    store.keep(opened.conversation)
    store.flush()
    print("kept", flush=True)
store.close()
"""
# Keeps 25 conversations as fast as it can.
_FILL = """
import sys, uuid
from pathlib import Path
from app.conversation import Conversation
from app.storage.conversation_store import ConversationStore

print("ready", flush=True)
sys.stdin.readline()
store = ConversationStore(Path(sys.argv[1]))
for number in range(25):
    conversation = Conversation(uuid.uuid4().hex, number)
    conversation.ask("Why?")
    store.keep(conversation)
    store.flush()
    store.entries()
    conversation.append("Because.")
    conversation.finish("end")
    store.keep(conversation)
store.close()
"""


def start(script: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


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


# --- Killed, and twice at once ----------------------------------------------------------------


def test_that_two_programs_that_begin_and_end_at_once_keep_everything(tmp_path: Path) -> None:
    # S17
    programs = [start(_FILL, tmp_path / "conversations") for _ in range(2)]
    for program in programs:
        assert read_line(program) == "ready"
    for program in programs:
        program.communicate("go\n")
    assert [program.returncode for program in programs] == [0, 0]
    store = ConversationStore(tmp_path / "conversations")
    entries = store.entries()
    assert store.take_findings() == []
    assert len(entries) == 50
    assert all(len(store.read(entry.id).turns) == 2 for entry in entries)


def test_that_twenty_kills_lose_no_word_that_was_written(tmp_path: Path) -> None:
    # S55
    for attempt in range(20):
        process = start(_COUNT, tmp_path)
        reported = [read_line(process) for _ in range(1 + attempt % 4)]
        kill(process)
        text = ConversationStore(tmp_path).read("a").turns[-1].text
        numbers = [int(word) for word in text.split()]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= int(reported[-1])
    assert len(list(tmp_path.glob("*.jsonl"))) == 1


def test_that_what_another_window_has_opens_as_a_copy(folder: Path) -> None:
    # S17
    before = (folder / "a.jsonl").read_bytes()
    process = start(_HOLD, folder)
    assert read_line(process) == "False"
    store = ConversationStore(folder)
    opened = store.open("a")
    assert opened.is_copy
    assert opened.conversation.id != "a"
    opened.conversation.ask("In the copy")
    opened.conversation.finish("end")
    store.keep(opened.conversation)
    store.flush()
    assert process.stdin is not None
    process.stdin.write("In the other window\n")
    process.stdin.flush()
    assert read_line(process) == "kept"
    with pytest.raises(StorageError, match="open in another window"):
        store.rename("a", "Mine")
    with pytest.raises(StorageError, match="open in another window"):
        store.delete("a")
    questions = {
        entry.id: store.read(entry.id).turns[2].text
        for entry in ConversationStore(folder).entries()
    }
    assert questions == {"a": "In the other window", opened.conversation.id: "In the copy"}
    assert (folder / "a.jsonl").read_bytes().startswith(before)
    kill(process)
    # A program that died has nothing open.
    assert not store.open("a").is_copy
    store.close()


def test_that_an_answer_in_another_window_has_not_failed_there(folder: Path) -> None:
    store = ConversationStore(folder)
    conversation = store.open("a").conversation
    conversation.ask("Go on")
    conversation.append("word")
    store.keep(conversation)
    store.flush()
    last = ConversationStore(folder).open("a").conversation.last
    assert last is not None
    assert (last.end, last.text) == ("failed", "word")
    assert "goes on in the other window" in last.note
    assert conversation.is_answering
    store.close()


def test_that_a_file_another_program_begins_is_not_set_aside(folder: Path) -> None:
    file = journal_file.JournalFile.create(folder / "b.jsonl")
    file.append(b'{"kind":"conv', is_lasting=False)
    store = ConversationStore(folder)
    assert [entry.id for entry in store.entries()] == ["a"]
    assert store.take_findings() == []
    assert (folder / "b.jsonl").exists()
    file.close()


def test_that_a_drive_without_locks_still_keeps(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl", reason="no such locks on this system")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "Not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    handle = os.open(folder / "a.jsonl", os.O_RDWR)
    assert journal_lock.try_lock(handle)
    os.close(handle)


def test_that_a_file_deleted_under_the_program_is_written_again(folder: Path) -> None:
    store = ConversationStore(folder)
    conversation = store.open("a").conversation
    (folder / "a.jsonl").unlink()
    conversation.ask("More?")
    store.keep(conversation)
    store.close()
    assert ConversationStore(folder).read("a") == conversation


def test_that_a_file_put_in_its_place_is_kept_too(folder: Path) -> None:
    store = ConversationStore(folder)
    conversation = store.open("a").conversation
    other = (folder / "a.jsonl").read_bytes()
    (folder / "a.jsonl").unlink()
    (folder / "a.jsonl").write_bytes(other + other.splitlines()[1] + b"\n")
    conversation.ask("More?")
    store.keep(conversation)
    store.close()
    later = ConversationStore(folder)
    assert later.read("a") == conversation
    assert len(later.entries()) == 2


# --- Damaged files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n" * 9,
        b"\0" * 5000,
        b"{}\n",
        b'{"kind":"conversation"}\n',
        b'{"kind":"conversation","schema":1,"id":"x","number":1,"made_s":null}\n',
        b'{"kind":"conversation","schema":1,"id":"x"',
        b"[" * 100_000 + b"\n",
        b"\xff\xfe\n",
    ],
)
def test_that_a_damaged_file_is_set_aside_and_all_others_open(folder: Path, content: bytes) -> None:
    # S55
    (folder / "bad.jsonl").write_bytes(content)
    store = ConversationStore(folder)
    assert [entry.id for entry in store.entries()] == ["a"]
    (sentence,) = store.take_findings()
    assert "bad.jsonl" in sentence
    assert "set aside" in sentence
    assert (folder / "damaged" / "bad.jsonl").read_bytes() == content
    assert not (folder / "bad.jsonl").exists()
    assert [entry.id for entry in store.entries()] == ["a"]
    assert store.take_findings() == []


def test_that_two_damaged_files_of_one_name_are_both_kept(folder: Path) -> None:
    for content in (b"one\n", b"two\n"):
        (folder / "bad.jsonl").write_bytes(content)
        ConversationStore(folder).entries()
    assert {file.read_bytes() for file in (folder / "damaged").iterdir()} == {b"one\n", b"two\n"}


def test_that_a_newer_file_is_left_as_it_is_and_named(folder: Path) -> None:
    newer = b'{"kind":"conversation","schema":2,"id":"n","colour":"blue"}\n{"kind":"dream"}\n'
    (folder / "n.jsonl").write_bytes(newer)
    for _ in range(2):  # the second time from the index
        store = ConversationStore(folder)
        assert [entry.id for entry in store.entries()] == ["a"]
        (sentence,) = store.take_findings()
        assert "newer" in sentence
        store.close()
    with pytest.raises(StorageError, match="newer"):
        store.open("n")
    assert (folder / "n.jsonl").read_bytes() == newer


def test_that_a_file_damaged_in_the_middle_opens_up_to_there_and_is_saved_whole(
    folder: Path,
) -> None:
    path = folder / "a.jsonl"
    good = path.read_bytes()
    damaged = good + b"\xde\xad\n" + b'{"kind":"change","at_s":1.0,"name":"Later"}\n'
    path.write_bytes(damaged)
    store = ConversationStore(folder)
    conversation = store.open("a").conversation
    assert conversation.turns[-1].text == "Because."
    (sentence,) = store.take_findings()
    assert "damaged" in sentence
    conversation.ask("More?")
    store.keep(conversation)
    store.close()
    assert ConversationStore(folder).read("a") == conversation
    assert [file.read_bytes() for file in (folder / "damaged").iterdir()] == [damaged]


def test_that_without_room_to_save_a_damaged_file_it_stays_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "a.jsonl"
    damaged = path.read_bytes() + b"\xde\xad\n\xbe\xef\n"
    path.write_bytes(damaged)
    (folder / "damaged").write_text("in the way of the folder")
    store = ConversationStore(folder)
    opened = store.open("a")
    assert opened.is_copy
    assert "goes on as a copy" in store.take_findings()[0]
    opened.conversation.ask("More?")
    store.keep(opened.conversation)
    store.close()
    assert path.read_bytes() == damaged


def test_that_a_torn_end_is_cut_off_before_the_next_line(folder: Path) -> None:
    path = folder / "a.jsonl"
    path.write_bytes(path.read_bytes() + b'{"kind":"change","at_s":1.0,"name":"' + b"x" * 500)
    store = ConversationStore(folder)
    conversation = store.open("a").conversation
    conversation.name = "New"
    store.keep(conversation)
    store.close()
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines[-1]["name"] == "New"
    assert store.take_findings() == []
    assert ConversationStore(folder).read("a") == conversation


def test_that_what_is_no_file_of_ours_is_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "folder.jsonl").mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "empty.jsonl").touch()
    (folder / "link.jsonl").symlink_to(folder / "a.jsonl")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.jsonl")  # whoever opens it carelessly waits for ever
    names = {file.name for file in folder.iterdir()}
    store = ConversationStore(folder)
    assert [entry.id for entry in store.entries()] == ["a"]
    for name in ("pipe", "folder", "link", "empty"):
        with pytest.raises(StorageError):
            store.open(name)
    assert {file.name for file in folder.iterdir()} == names


def test_that_an_absurdly_large_file_is_not_read(folder: Path) -> None:
    with (folder / "huge.jsonl").open("wb") as file:
        file.truncate(journal_file.LIMIT_BYTES + 1)
    store = ConversationStore(folder)
    assert [entry.id for entry in store.entries()] == ["a"]
    assert "larger than 512 MiB" in store.take_findings()[0]
    assert (folder / "huge.jsonl").exists()
