"""Files of counts: read once while anybody needs them, and again once they have changed."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from engine_bridge.child.speculation import lookup_files
from engine_bridge.child.speculation.lookup_counts import (
    LookupCounts,
    LookupFileError,
    read_lookup,
)
from engine_bridge.child.speculation.lookup_files import LookupFiles
from tests.unit.lookup_files import write_lookup

_VOCAB = 12


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that were read."""
    names: list[str] = []

    def reading(path: str, vocab_tok: int) -> LookupCounts:
        names.append(Path(path).name)
        return read_lookup(path, vocab_tok)

    monkeypatch.setattr(lookup_files, "read_lookup", reading)
    return names


def _changed(path: Path, at_ns: int) -> None:
    os.utime(path, ns=(at_ns, at_ns))


def test_that_a_file_is_read_again_only_where_it_changed(tmp_path: Path, read: list[str]) -> None:
    files, path = LookupFiles(), write_lookup(tmp_path / "one", {(1,): {2: 1}})
    _changed(path, 10**18)
    first = files.counts(str(path), _VOCAB)
    assert files.counts(str(path), _VOCAB) is first
    write_lookup(path, {(1,): {3: 1}})
    _changed(path, 2 * 10**18)
    assert files.counts(str(path), _VOCAB).followers((1,)) == {3: 1}
    assert first.followers((1,)) == {2: 1}
    assert read == ["one", "one"]


def test_that_a_damaged_file_is_read_once_for_all_plans(tmp_path: Path, read: list[str]) -> None:
    files, path = LookupFiles(), tmp_path / "damaged"
    path.write_bytes(b"what is this?")
    sentences = set()
    for _ in range(3):
        with pytest.raises(LookupFileError) as told:
            files.counts(str(path), _VOCAB)
        sentences.add(str(told.value))
    assert read == ["damaged"]
    assert len(sentences) == 1
    write_lookup(path, {(1,): {2: 1}})
    assert files.counts(str(path), _VOCAB).followers((1,)) == {2: 1}


def test_that_counts_which_nobody_needs_take_no_memory(tmp_path: Path) -> None:
    files, path = LookupFiles(), write_lookup(tmp_path / "one", {(1,): {2: 1}})
    files.counts(str(path), _VOCAB)
    assert files.newest(str(path), _VOCAB) is not None
    held = files.newest(str(path), _VOCAB)
    files.let_go()
    assert files.newest(str(path), _VOCAB) is held
    del held
    assert files.newest(str(path), _VOCAB) is None


def test_that_whoever_asks_for_what_was_read_waits_for_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def reading(path: str, vocab_tok: int) -> LookupCounts:
        has_begun.set()
        assert may_end.wait(60.0)
        return read_lookup(path, vocab_tok)

    monkeypatch.setattr(lookup_files, "read_lookup", reading)
    files, path = LookupFiles(), str(write_lookup(tmp_path / "one", {(1,): {2: 1}}))
    thread = threading.Thread(target=files.counts, args=(path, _VOCAB))
    thread.start()
    assert has_begun.wait(60.0)
    assert files.newest(path, _VOCAB) is None
    may_end.set()
    thread.join()
    assert files.newest(path, _VOCAB) is not None
