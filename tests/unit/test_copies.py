"""The same content under several names is shown once."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from app.library.copies import content_mark, copies_among
from app.library.model_entry import ModelEntry


def entry(name: str, content: bytes = b"x", **changes: object) -> ModelEntry:
    made = ModelEntry(name.encode(), b"folder", name, 10, 1, content=content)
    return msgspec.structs.replace(made, **changes)


def mark(path: Path) -> bytes:
    return content_mark(os.fsencode(path), path.stat().st_size)


def test_that_copies_have_the_same_mark_and_others_do_not(tmp_path: Path) -> None:
    content = os.urandom(300_000)
    first, copy = tmp_path / "a.gguf", tmp_path / "b.gguf"
    first.write_bytes(content)
    copy.write_bytes(content)
    assert mark(first) == mark(copy)
    for place in (10, 150_000, 299_990):
        other = bytearray(content)
        other[place] ^= 1
        copy.write_bytes(other)
        assert mark(first) != mark(copy), place
    copy.write_bytes(content + b"y")
    assert mark(first) != mark(copy)


def test_that_a_file_that_cannot_be_read_is_nobodys_copy(tmp_path: Path) -> None:
    assert content_mark(os.fsencode(tmp_path / "none"), 3) == b""
    unread = entry("a", b""), entry("b", b"")
    assert copies_among(unread) == {}


def test_that_one_stands_for_all_and_the_others_are_told() -> None:
    entries = [entry("a"), entry("b"), entry("c", b"y"), entry("d")]
    assert copies_among(entries) == {b"a": (b"b", b"d")}


def test_that_what_is_loaded_stands_for_its_copies() -> None:
    assert copies_among([entry("a"), entry("b")], {b"b"}) == {b"b": (b"a",)}


def test_that_a_copy_on_a_drive_that_is_away_does_not_hide_the_others() -> None:
    away = entry("a", is_reachable=False)
    assert copies_among([away, entry("b")]) == {b"b": (b"a",)}
    broken = entry("a", problem="It is damaged.")
    assert copies_among([broken, entry("b")]) == {}
