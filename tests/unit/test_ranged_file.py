"""A file elsewhere that is read like one here: what is loaded of it, and in how many pieces."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from app.library.ranged_file import RangedFile

_MIB = 1 << 20
_WHOLE = random.Random(7).randbytes(24 * _MIB)


class Elsewhere:
    """The whole file, and which parts of it were asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def load(self, begin: int, end: int) -> bytes:
        self.asked.append((begin, end))
        return _WHOLE[begin:end]


@pytest.fixture
def elsewhere() -> Elsewhere:
    return Elsewhere()


@pytest.fixture
def ranged(elsewhere: Elsewhere, tmp_path: Path) -> RangedFile:
    return RangedFile(tmp_path / "sparse", len(_WHOLE), elsewhere.load)


def test_that_reading_on_behind_what_was_passed_over_asks_no_more_often(
    ranged: RangedFile, elsewhere: Elsewhere
) -> None:
    """The reader of a header passes over the scores of 262,144 tokens, two megabytes."""
    ranged.read(64 << 10)
    place = 3 * _MIB
    for _ in range(40):
        ranged.seek(place)
        assert ranged.read(64 << 10) == _WHOLE[place : place + (64 << 10)]
        place += 64 << 10
    assert len(elsewhere.asked) <= 4


def test_that_the_end_is_loaded_without_what_lies_before_it(
    ranged: RangedFile, elsewhere: Elsewhere
) -> None:
    ranged.read(64 << 10)
    ranged.seek(len(_WHOLE) - 4)
    assert ranged.read(64 << 10) == _WHOLE[-4:]
    assert elsewhere.asked[-1] == (len(_WHOLE) - 4, len(_WHOLE))
    assert ranged.loaded_bytes == _MIB + 4


def test_that_what_is_here_is_not_loaded_again(ranged: RangedFile, elsewhere: Elsewhere) -> None:
    for _ in range(3):
        ranged.seek(10)
        assert ranged.read(100) == _WHOLE[10:110]
    assert len(elsewhere.asked) == 1
