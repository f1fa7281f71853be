"""Files that hold, or are, what nobody would write: none hides others, hangs or ends anything."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from pathlib import Path

import msgspec
import pytest

from app.conversation import Conversation
from app.storage.atomic_file import write_whole
from app.storage.conversation_export import from_json, to_json
from app.storage.conversation_store import ConversationStore
from app.storage.settings_store import SettingsStore
from app.storage.storage_error import StorageError
from widgets.conversation_list_days import day_group, full_time_words, time_words
from widgets.conversation_list_model import ConversationListModel, ListedConversation

NOW_S = 1_780_000_000.0
HEADER = '{"kind":"conversation","schema":1,"id":"a","number":%d,"made_s":1}\n'
SAID = (
    '{"kind":"change","at_s":%s,"turns":[{"id":%d,"parent":0,"role":"user","made_s":1,'
    '"text":"hi"}],"tip":%d}\n'
)
posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no such files on Windows")


def store_with(folder: Path, content: str, name: str = "a.jsonl") -> ConversationStore:
    (folder / name).write_text(content, encoding="utf-8")
    return ConversationStore(folder)


def rows_of(store: ConversationStore) -> list[str]:
    model = ConversationListModel(clock_s=lambda: NOW_S)
    model.show(
        ListedConversation(entry.id, entry.title, entry.updated_s, entry.excerpt)
        for entry in store.entries()
    )
    return [str(model.data(model.index(row))) for row in range(model.rowCount())]


@pytest.mark.parametrize("at_s", ["1e300", "-1e300", "1e12", "-1e11", "-62135596800", "0", "-1"])
def test_that_a_time_no_calendar_has_does_not_empty_the_list(tmp_path: Path, at_s: str) -> None:
    (tmp_path / "b.jsonl").write_text(HEADER % 1 + SAID % (NOW_S, 1, 1), encoding="utf-8")
    rows = rows_of(store_with(tmp_path, HEADER % 1 + SAID % (at_s, 1, 1)))
    assert rows.count("hi") == 2


@pytest.mark.parametrize("when_s", [math.nan, math.inf, -math.inf])
def test_that_even_no_number_has_words(when_s: float) -> None:
    assert day_group(when_s, NOW_S).name
    assert time_words(when_s, NOW_S)
    assert full_time_words(when_s)


@posix
def test_that_a_pipe_in_the_place_of_the_index_is_not_waited_for(tmp_path: Path) -> None:
    store = store_with(tmp_path, HEADER % 1 + SAID % (1, 1, 1))
    os.mkfifo(tmp_path / ".index")
    assert [entry.id for entry in store.entries()] == ["a"]
    store.close()


@pytest.mark.parametrize("number", [2**31, 2**70, -1])
def test_that_a_number_too_large_for_a_turn_is_damage(tmp_path: Path, number: int) -> None:
    # Qt's signals carry 32 bits: such a turn would be shown and its buttons end in an exception.
    conversation = store_with(tmp_path, HEADER % 1 + SAID % (1, number, number)).read("a")
    assert conversation.turns == ()
    with pytest.raises(StorageError):
        store_with(tmp_path, HEADER % number).read("a")


@pytest.mark.parametrize("name", ["\ud800", "a\udcff"])
def test_that_a_name_that_is_no_text_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    # Such an id can stand in a settings file, among the conversations that were open.
    for do in (ConversationStore(tmp_path).open, ConversationStore(tmp_path).delete):
        with pytest.raises(StorageError, match="not the name"):
            do(name)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name themselves")
def test_that_a_file_whose_name_is_no_text_is_named_and_left_out(tmp_path: Path) -> None:
    store = store_with(tmp_path, HEADER % 1 + SAID % (1, 1, 1))
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")).write_text(HEADER % 1)
    assert [entry.id for entry in store.entries()] == ["a"]
    assert "rename" in store.take_findings()[0]
    store.close()


def test_that_a_title_of_many_lines_is_one_line_in_a_list(tmp_path: Path) -> None:
    name = "a\n\tb" + "x" * 5_000_000
    named = json.dumps({"kind": "change", "at_s": 1, "name": name}) + "\n"
    (entry,) = store_with(tmp_path, HEADER % 1 + named).entries()
    assert entry.title.startswith("a bxx")
    assert len(entry.title) <= 500


def test_that_an_imported_name_is_one_line() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("hi")
    content = json.loads(to_json(conversation)) | {"name": "a\nb" + "x" * 100_000}
    name = from_json(json.dumps(content).encode(), 1, 0.0).name
    assert name.startswith("a bxx")
    assert len(name) <= 500


# --- What is written --------------------------------------------------------------------------


@posix
def test_that_a_pipe_is_not_replaced_by_an_export(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match="no file"):
        write_whole(pipe, b"x", "No")
    assert pipe.is_fifo()


@posix
def test_that_a_link_to_itself_is_a_sentence(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(StorageError, match="No: "):
        write_whole(link, b"x", "No")


def test_that_a_name_as_long_as_the_disk_takes_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)
    write_whole(path, b"x", "No")
    assert path.read_bytes() == b"x"
    assert list(tmp_path.iterdir()) == [path]


def test_that_a_folder_that_cannot_be_looked_into_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuse_folders(path: str | Path, flags: int, *rest: int, **more: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuse_folders)
    write_whole(tmp_path / "a", b"x", "No")  # it is in its place: to say that it failed is wrong
    assert (tmp_path / "a").read_bytes() == b"x"


def test_that_a_sentence_does_not_quote_a_megabyte(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"schema": "x" * 1_000_000}))
    (sentence,) = SettingsStore(tmp_path).read().sentences
    assert len(sentence) < 1000


def test_that_a_wild_index_is_only_a_shortcut(tmp_path: Path) -> None:
    store = store_with(tmp_path, HEADER % 1 + SAID % (1, 1, 1))
    about = (tmp_path / "a.jsonl").stat()
    entry = {
        "id": "a", "title": "t", "updated_s": math.nan, "turns": 1, "excerpt": "", "size_bytes": 3,
    }  # fmt: skip
    row = [about.st_mtime_ns, about.st_size, entry, ""]
    (tmp_path / ".index").write_bytes(
        msgspec.msgpack.encode({"schema": 1, "rows": {"a.jsonl": row}})
    )
    assert rows_of(store)[-1] == "t"


# --- What others do meanwhile -----------------------------------------------------------------


def test_that_a_file_deleted_while_the_folder_is_read_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_with(tmp_path, HEADER % 1 + SAID % (1, 1, 1))
    (tmp_path / "b.jsonl").write_text(HEADER % 1, encoding="utf-8")
    real = os.scandir

    class Listing(list[os.DirEntry[str]], contextlib.AbstractContextManager[object]):
        def __exit__(self, *_: object) -> None:
            pass

    def scandir(folder: Path) -> Listing:
        with real(folder) as listing:
            found = Listing(listing)
        (tmp_path / "b.jsonl").unlink(missing_ok=True)  # by another copy of the program
        return found

    monkeypatch.setattr(os, "scandir", scandir)
    assert [entry.id for entry in store.entries()] == ["a"]
