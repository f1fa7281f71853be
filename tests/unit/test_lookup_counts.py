"""Counts of other texts for ngram-cache: used as llama.cpp uses them, and never trusted."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine_bridge.child.speculation import lookup_counts
from engine_bridge.child.speculation.drafter import Wanted
from engine_bridge.child.speculation.lookup_counts import LookupFileError, read_lookup
from engine_bridge.child.speculation.map_order import map_order
from engine_bridge.child.speculation.ngram_cache import NgramCache
from engine_bridge.settings.config import EngineConfig
from tests.unit.lookup_files import lookup_bytes, write_lookup
from tests.unit.ngram_reference import CacheReference, Counts, count

_VOCAB = 12
_tokens = st.lists(st.integers(0, 5), min_size=2, max_size=60)


def _counts(text: list[int], lengths: tuple[int, ...]) -> Counts:
    counts: Counts = {}
    count(counts, text, lengths)
    return counts


@given(static=_tokens, dynamic=_tokens, text=_tokens, file_number=st.integers(0, 3))
def test_that_files_are_used_by_llama_cpp_s_rules(
    tmp_path_factory: pytest.TempPathFactory,
    static: list[int],
    dynamic: list[int],
    text: list[int],
    file_number: int,
) -> None:
    """With either file, both and none; texts of few words, so that products are often level."""
    folder = tmp_path_factory.mktemp("counts")
    known = [_counts(static, (2,)), _counts(dynamic, (1, 2, 3, 4))]
    paths = [write_lookup(folder / str(number), known[number]) for number in range(2)]
    names = [str(path) if file_number & 1 << number else "" for number, path in enumerate(paths)]
    config = EngineConfig(lookup_cache_static_path=names[0], lookup_cache_dynamic_path=names[1])
    drafter = NgramCache(config, lambda path: read_lookup(path, _VOCAB))
    used = [counts if name else {} for counts, name in zip(known, names, strict=True)]
    reference = CacheReference(*used)
    for end in range(2, len(text) + 1, 3):
        (drafted,) = drafter.draft([Wanted(0, np.asarray(text[:end], np.int32), 8)])
        assert drafted.tolist() == reference.draft(text[:end])


def test_that_files_are_changed_while_a_conversation_runs(tmp_path: Path) -> None:
    first = write_lookup(tmp_path / "one", {(1, 2): {3: 2}, (2, 3): {4: 5}})
    second = write_lookup(tmp_path / "two", {(1, 2): {7: 2}})
    config = EngineConfig(lookup_cache_static_path=str(first))
    read = list[str]()

    def reading(path: str) -> lookup_counts.LookupCounts:
        read.append(path)
        return read_lookup(path, _VOCAB)

    drafter = NgramCache(config, reading)
    wanted = [Wanted(0, np.asarray([1, 2], np.int32), 8)]
    assert drafter.draft(wanted)[0].tolist() == [3, 4]
    drafter.set_live(config)
    drafter.set_live(config.with_values({"lookup_cache_static_path": str(second)}))
    assert drafter.draft(wanted)[0].tolist() == [7]
    assert read == [str(first), str(second)]


def test_that_the_first_of_equal_records_counts(tmp_path: Path) -> None:
    path = tmp_path / "twice"
    path.write_bytes(lookup_bytes({(1,): {2: 1}}) + lookup_bytes({(1,): {3: 9}}))
    assert read_lookup(str(path), _VOCAB).followers((1,)) == {2: 1}


# What a program of g++ 12 listed; the last map has grown twice.
_LISTED = [
    ([5, 18], [18, 5]),
    ([3, 1, 4, 15, 9, 2, 6], [6, 9, 2, 15, 4, 1, 3]),
    (
        [number * 7 % 61 for number in range(0, 60, 2)],
        [
            40, 46, 17, 32, 3, 18, 51, 22, 37, 8, 23, 9, 4, 56, 27, 42, 13, 28, 14, 60, 31, 41, 12,
            55, 26, 36, 50, 45, 0, 59,
        ],
    ),
]  # fmt: skip


def test_that_a_map_lists_its_numbers_as_libstdcxx_does() -> None:
    for numbers, listed in _LISTED:
        assert [numbers[place] for place in map_order(numbers)] == listed


def test_that_a_file_is_the_same_however_large_the_pieces_are_that_it_is_read_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = _counts([1, 2, 3, 1, 2, 4, 1, 2, 3, 5], (1, 2, 3, 4))
    path = write_lookup(tmp_path / "counts", counts)
    for piece in (1, 2, 3, 7, 8, 20):
        monkeypatch.setattr(lookup_counts, "_PIECE", piece)
        found = read_lookup(str(path), _VOCAB)
        assert {ngram: found.followers(ngram) for ngram in counts} == counts


# --- Files that are none ---------------------------------------------------------------------

_GOOD = lookup_bytes(_counts([1, 2, 3, 1, 2, 4, 1, 2, 3, 5], (1, 2, 3, 4)))


@given(data=st.data())
def test_that_no_damage_is_taken_for_counts(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Cut anywhere or with any number changed, a file is refused or holds what can be."""
    numbers = list(struct.unpack(f"<{len(_GOOD) // 4}i", _GOOD))
    cut = data.draw(st.integers(0, len(_GOOD)))
    at = data.draw(st.integers(0, len(numbers) - 1))
    extremes = st.sampled_from([-1, 0, 2**31 - 1, -(2**31), 2**30, _VOCAB])
    numbers[at] = data.draw(st.one_of(extremes, st.integers(-3, 40)))
    path = tmp_path_factory.mktemp("damaged") / "file"
    path.write_bytes(struct.pack(f"<{len(numbers)}i", *numbers)[:cut])
    try:
        found = read_lookup(str(path), _VOCAB)
    except LookupFileError:
        return
    for length in range(1, 5):
        for token in range(6):
            followers = found.followers((token,) * length)
            assert all(0 <= token < _VOCAB for token in followers)
            assert all(number > 0 for number in followers.values())


def test_that_a_refusal_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal(path: Path) -> str:
        with pytest.raises(LookupFileError) as told:
            read_lookup(str(path), _VOCAB)
        return str(told.value)

    assert "There is no file nowhere" in refusal(tmp_path / "nowhere")
    assert "is a folder" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "a pipe" in refusal(tmp_path / "pipe")
    text = tmp_path / "text"
    text.write_bytes(b"what is this?")
    assert "text is no lookup cache" in refusal(text)
    other = write_lookup(tmp_path / "other", {(1, 2): {_VOCAB: 1}})
    assert "holds token 12, and this model has 12" in refusal(other)
    monkeypatch.setattr(lookup_counts, "_MOST_BYTES", 8)
    assert "Count a smaller text" in refusal(other)


def test_that_n_grams_that_are_filed_under_one_number_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_for_all(tokens: NDArray[np.int32]) -> NDArray[np.uint64]:
        return np.zeros(len(tokens), np.uint64)

    monkeypatch.setattr(lookup_counts, "_marks_of", one_for_all)
    counts = _counts([1, 2, 3, 1, 2, 4, 1, 2, 3, 5], (1, 2, 3, 4))
    found = read_lookup(str(write_lookup(tmp_path / "counts", counts)), _VOCAB)
    assert {ngram: found.followers(ngram) for ngram in counts} == counts
    assert found.followers((5, 5)) == {}
