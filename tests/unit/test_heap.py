"""Freed memory goes back to the system."""

from __future__ import annotations

import sys

import psutil
import pytest

from engine_bridge.child.heap import give_back

_PIECE_BYTES, _PIECES = 60_000, 2_000


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone is asked to")
def test_that_freed_pieces_behind_one_that_stays_go_back_to_the_system() -> None:
    process = psutil.Process()
    pieces = [bytes(_PIECE_BYTES) for _ in range(_PIECES)]
    kept = pieces[-1]  # the heap cannot simply end before it
    full_bytes = process.memory_info().rss
    del pieces
    give_back()
    assert full_bytes - process.memory_info().rss > _PIECE_BYTES * _PIECES // 2
    assert len(kept) == _PIECE_BYTES


def test_that_it_may_be_asked_of_every_system() -> None:
    give_back()
