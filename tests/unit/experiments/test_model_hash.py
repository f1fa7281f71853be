"""The hash of a model file, and when it is computed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from app.experiments.model_hash import ModelHashes, parts_of
from app.experiments.port import StoppedError


class _Count:
    """Counts how often files are really read."""

    def __init__(self) -> None:
        self.shares: list[float] = []

    def __call__(self, share: float) -> None:
        self.shares.append(share)


def test_that_a_file_is_hashed_once_and_known_in_the_next_program(tmp_path: Path) -> None:
    model = tmp_path / "m.gguf"
    model.write_bytes(b"weights")
    read = _Count()
    found = ModelHashes(tmp_path / "known.json").of(str(model), read)
    assert found == hashlib.sha256(b"weights").hexdigest()
    assert read.shares == [1.0]
    assert ModelHashes(tmp_path / "known.json").of(str(model), read) == found
    assert read.shares == [1.0]


@pytest.mark.parametrize("content", [b"WEIGHTS", b"more weights"])
def test_that_a_file_that_has_changed_is_hashed_again(tmp_path: Path, content: bytes) -> None:
    model, hashes = tmp_path / "m.gguf", ModelHashes(tmp_path / "known.json")
    model.write_bytes(b"weights")
    hashes.of(str(model))
    model.write_bytes(content)
    os.utime(model, ns=(1, 1))
    assert hashes.of(str(model)) == hashlib.sha256(content).hexdigest()


def test_that_a_model_in_parts_is_hashed_as_a_whole_by_any_part(tmp_path: Path) -> None:
    for number, content in ((1, b"one"), (2, b"two")):
        (tmp_path / f"m-0000{number}-of-00002.gguf").write_bytes(content)
    hashes = ModelHashes(tmp_path / "known.json")
    whole = hashlib.sha256(b"onetwo").hexdigest()
    assert hashes.of(str(tmp_path / "m-00001-of-00002.gguf")) == whole
    assert hashes.of(str(tmp_path / "m-00002-of-00002.gguf")) == whole


def test_that_a_model_whose_parts_are_not_all_there_has_no_hash(tmp_path: Path) -> None:
    part = tmp_path / "m-00001-of-00002.gguf"
    part.write_bytes(b"one")
    assert ModelHashes(tmp_path / "known.json").of(str(part)) == ""
    assert [path.name for path in parts_of(part)] == [
        "m-00001-of-00002.gguf", "m-00002-of-00002.gguf",
    ]  # fmt: skip


def test_that_a_file_that_is_not_there_has_no_hash(tmp_path: Path) -> None:
    assert ModelHashes(tmp_path / "known.json").of(str(tmp_path / "none.gguf")) == ""


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"[]"])
def test_that_a_damaged_cache_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    model, cache = tmp_path / "m.gguf", tmp_path / "known.json"
    model.write_bytes(b"weights")
    cache.write_bytes(content)
    found = ModelHashes(cache).of(str(model))
    assert found == hashlib.sha256(b"weights").hexdigest()
    again = _Count()
    assert ModelHashes(cache).of(str(model), again) == found
    assert again.shares == []


def test_that_a_cache_that_cannot_be_written_costs_only_the_time(tmp_path: Path) -> None:
    model = tmp_path / "m.gguf"
    model.write_bytes(b"weights")
    (tmp_path / "folder").write_bytes(b"a file where a folder should be")
    hashes = ModelHashes(tmp_path / "folder" / "known.json")
    assert hashes.of(str(model)) == hashlib.sha256(b"weights").hexdigest()


def test_that_hashing_can_be_given_up(tmp_path: Path) -> None:
    model = tmp_path / "m.gguf"
    model.write_bytes(b"weights")

    def stop(_: float) -> None:
        raise StoppedError("Stopped.")

    with pytest.raises(StoppedError):
        ModelHashes(tmp_path / "known.json").of(str(model), stop)
    assert not (tmp_path / "known.json").exists()
