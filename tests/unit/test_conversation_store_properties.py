"""Whatever is said and wherever the file ends: what opens is a moment that really was."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.conversation import Conversation, Turn
from app.storage import journal_writer
from app.storage.conversation_store import ConversationStore
from app.storage.journal_file import JournalFile
from app.storage.journal_records import (
    SCHEMA,
    DamagedError,
    Header,
    TurnMade,
    TurnState,
    encode_line,
    storable,
)
from app.storage.journal_replay import read_journal
from app.storage.journal_state import JournalState
from app.storage.storage_error import StorageError
from tests.unit.failing_disk import write_with_room

# Half characters, NUL, an emoji family, right-to-left with its marks, what JSON has to escape.
_STRANGE = ["\ud83d", "\ude00", "\0", "👩‍👩‍👧", "שלום \u202e", "\u2028", '"\\\n', "\r\n", ""]
_TEXTS = st.text(max_size=12) | st.sampled_from(_STRANGE) | st.just("ab" * 4000)
_HEADER = Header(SCHEMA, "a", 1, 0.0)


def _turn(draw: Any, conversation: Conversation, role: str) -> int:
    ids = [turn.id for turn in conversation.tree.values() if turn.role == role]
    return draw(st.sampled_from(ids)) if ids else 0


def _do(draw: Any, conversation: Conversation) -> None:
    """One thing that people or the engine do, where it can be done."""
    text = draw(_TEXTS)
    is_answering = conversation.is_answering
    question, answer = _turn(draw, conversation, "user"), _turn(draw, conversation, "assistant")
    deeds: list[Callable[[], Any]] = [
        lambda: setattr(conversation, "name", text),
        lambda: setattr(conversation, "system_prompt", text),
    ]
    if is_answering:
        deeds += [
            lambda: conversation.append(text),
            lambda: conversation.append(text),
            lambda: conversation.finish("token_limit", "7 tok/s", "Cut."),
        ]
    else:
        deeds += [lambda: conversation.ask(text, "Toy"), conversation.take_back]
        deeds.append(conversation.drop_empty_answer)
        if conversation.turns:
            deeds.append(conversation.open_answer)
        if question:
            deeds.append(lambda: conversation.ask_instead(question, text))
            deeds.append(lambda: conversation.choose(question))
        if answer:
            deeds.append(lambda: conversation.answer_again(answer))
    draw(st.sampled_from(deeds))()


def _fresh() -> Conversation:
    return Conversation("a", 1, clock_s=lambda: 1.25)


def _seen(conversation: Conversation) -> Conversation:
    """What counts of it, as a file can hold it; which number comes next is settled on reading."""
    return Conversation(
        "a",
        1,
        storable(conversation.system_prompt),
        storable(conversation.name),
        {turn.id: replace(turn, text=storable(turn.text)) for turn in conversation.tree.values()},
        conversation.tip,
        next_id=0,
    )


@given(st.data())
def test_that_a_file_cut_anywhere_opens_as_it_was_at_its_last_whole_line(data: Any) -> None:
    conversation = _fresh()
    state = JournalState(_HEADER)
    content = encode_line(_HEADER)
    moments = [(len(content), _seen(conversation))]
    for _ in range(data.draw(st.integers(1, 12))):
        for _ in range(data.draw(st.integers(0, 3))):
            _do(data.draw, conversation)
        change = state.diff(conversation, 1.5)
        if change is None:
            assert _seen(conversation) == moments[-1][1]
        else:
            content += encode_line(change)
            moments.append((len(content), _seen(conversation)))
    assert state.diff(conversation, 2.0) is None
    cut = data.draw(st.integers(moments[0][0], len(content)))
    good_bytes, wanted = [moment for moment in moments if moment[0] <= cut][-1]
    junk = data.draw(st.sampled_from([b"", b"\0\0\0", b"\xff\xfe", b'{"kind":']))
    journal = read_journal(content[:cut] + junk)
    assert _seen(journal.state.kept) == wanted
    assert journal.good_bytes == good_bytes
    assert not journal.has_lost_lines
    assert journal.state.kept.next_id > max(journal.state.kept.tree, default=0)
    # And it goes on from there.
    resumed = content[: journal.good_bytes]
    change = journal.state.diff(conversation, 3.0)
    resumed += encode_line(change) if change else b""
    assert _seen(read_journal(resumed).state.kept) == _seen(conversation)


@given(st.data())
def test_that_a_file_begun_anew_says_the_same(data: Any) -> None:
    conversation = _fresh()
    for _ in range(data.draw(st.integers(1, 20))):
        _do(data.draw, conversation)
    content = encode_line(_HEADER) + encode_line(JournalState.of(conversation).whole())
    assert _seen(read_journal(content).state.kept) == _seen(conversation)


@given(st.binary(max_size=200), st.integers(0, 10_000))
def test_that_no_bytes_make_reading_fail_otherwise_than_with_words(junk: bytes, at: int) -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Why?")
    conversation.append("Because")
    whole = encode_line(_HEADER) + encode_line(JournalState.of(conversation).whole())
    at %= len(whole)
    for content in (junk, whole[:at] + junk + whole[at:], whole[:at] + junk):
        with contextlib.suppress(DamagedError):
            assert read_journal(content).good_bytes <= len(content)


@given(st.data())
@settings(max_examples=40)
def test_that_writes_that_fail_half_way_lose_nothing(data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: None)  # many small files; nothing is to outlast
        if data.draw(st.booleans()):  # files written anew whenever they grew fourfold
            patched.setattr(journal_writer, "_REWRITE_BYTES", 0)
        _talk_on_a_failing_disk(data, Path(folder))


def _talk_on_a_failing_disk(data: Any, folder: Path) -> None:
    store = ConversationStore(folder)
    conversation = _fresh()
    for _ in range(data.draw(st.integers(1, 8))):
        _do(data.draw, conversation)
        store.keep(conversation)
        room = data.draw(st.none() | st.integers(0, 300))
        fault = data.draw(st.sampled_from([errno.ENOSPC, errno.EIO, errno.EDQUOT]))
        with pytest.MonkeyPatch.context() as patched:
            if room is not None:
                patched.setattr(os, "write", write_with_room(room, fault))
                if data.draw(st.booleans()):  # nor can what was written half be cut off again
                    patched.setattr(os, "ftruncate", write_with_room(0, fault))
            try:
                store.flush()
            except StorageError:
                assert store.has_unwritten
            else:
                assert not store.has_unwritten
                if (folder / "a.jsonl").exists():
                    kept = ConversationStore(folder).read("a")
                    assert _seen(kept) == _seen(conversation)
    store.close()
    if conversation.tree or conversation.name or conversation.system_prompt:
        assert _seen(ConversationStore(folder).read("a")) == _seen(conversation)
    assert {file.name for file in folder.iterdir()} <= {"a.jsonl", ".index"}


def test_that_every_field_of_a_turn_is_kept() -> None:
    kept = set(TurnMade.__struct_fields__)
    assert {field.name for field in fields(Turn)} == kept
    # Made once and for all are only these; the text has a record of its own.
    assert kept - set(TurnState.__struct_fields__) == {"id", "parent", "role", "made_s", "text"}


def test_that_every_field_of_a_conversation_is_kept() -> None:
    assert {field.name for field in fields(Conversation)} == {
        "id", "number",  # the header
        "name", "system_prompt", "tip",  # a change
        "tree",  # turns
        "next_id",  # follows from the turns
        "left_tip",  # for a branch that is refused before anything is kept of it
        "clock_s",  # the program's
    }  # fmt: skip


def test_that_a_file_taken_over_is_the_file_that_is_written(tmp_path: Path) -> None:
    file = JournalFile.create(tmp_path / "a.jsonl")
    file.append(b"one\n", is_lasting=False)
    (tmp_path / "a.jsonl").rename(tmp_path / "b.jsonl")
    assert not file.is_in_place()
    file.close()
