"""The figures of one request, by hand: pauses are none of its own."""

from __future__ import annotations

import numpy as np
import pytest

from engine_bridge.child.slot import Slot
from engine_bridge.child.stream import Prepared, Stream
from engine_bridge.protocol import ChatMessage, Generate

MS = 1_000_000


def stream() -> Stream:
    command = Generate(1, "c", (ChatMessage("user", "hi"),))
    prepared = Prepared(command, np.zeros(3, np.int32), 0, 100)
    return Stream(prepared, Slot(0, 64, 0), 0, 0)


def steps(each: Stream, *at_ms: int) -> None:
    for at in at_ms:
        each.accept_one(b"x", at * MS)


def test_that_tpot_is_last_minus_first_over_the_tokens_between() -> None:
    each = stream()
    steps(each, 100, 120, 140, 190)
    timing = each.timing(200 * MS)
    assert timing.tpot_s == pytest.approx(0.03)
    assert timing.itl_p50_s == pytest.approx(0.02)


def test_that_the_pause_of_a_change_counts_nowhere() -> None:
    each = stream()
    steps(each, 100, 120, 140)
    each.pause()
    each.pause()  # two changes before the next step are one pause
    steps(each, 40_000, 40_020)
    timing = each.timing(40_100 * MS)
    assert timing.tpot_s == pytest.approx(0.02)
    assert timing.itl_p99_s == pytest.approx(0.02)


def test_that_a_pause_before_the_first_token_belongs_to_ttft() -> None:
    each = stream()
    each.pause()
    steps(each, 5000, 5020)
    timing = each.timing(5100 * MS)
    assert timing.ttft_s == pytest.approx(5.0)
    assert timing.tpot_s == pytest.approx(0.02)


def test_that_nothing_is_said_where_only_a_pause_lies_between() -> None:
    each = stream()
    steps(each, 100)
    each.pause()
    steps(each, 5000)
    timing = each.timing(5100 * MS)
    assert timing.tpot_s is None
    assert timing.itl_p99_s is None


def test_that_drafted_tokens_count_with_their_step() -> None:
    each = stream()
    each.accept([1, 2], lambda token: b"x", 100 * MS)
    each.accept([1, 2, 3], lambda token: b"x", 180 * MS)
    assert each.timing(200 * MS).tpot_s == pytest.approx(0.08 / 4)
