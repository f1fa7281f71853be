"""What a limit can be: round values, steps, typed text, its range."""

from __future__ import annotations

import math

import pytest

from widgets.charts.limit_scale import TPOT_LIMIT, TTFT_LIMIT, LimitScale

BOTH = pytest.mark.parametrize("scale", [TTFT_LIMIT, TPOT_LIMIT], ids=lambda scale: scale.name)


@pytest.mark.parametrize(
    ("pointed", "taken"),
    [(0.5, 0.5), (0.5137, 0.5), (0.53, 0.55), (1.04, 1.0), (1.07, 1.1), (2.31, 2.4), (99.0, 100.0)],
)
def test_that_a_pointed_place_is_a_round_number(pointed: float, taken: float) -> None:
    assert TTFT_LIMIT.rounded(pointed) == pytest.approx(taken, abs=1e-12)


def test_that_milliseconds_are_round_and_not_their_seconds() -> None:
    assert TPOT_LIMIT.rounded(0.0333) == pytest.approx(0.034)
    assert TPOT_LIMIT.text(TPOT_LIMIT.rounded(0.0497)) == "50 ms"


@BOTH
def test_that_nothing_leaves_the_range(scale: LimitScale) -> None:
    for value in (1e-9, scale.lowest / 2, scale.highest * 2, 1e9):
        assert scale.lowest <= scale.rounded(value) <= scale.highest
    assert scale.stepped(scale.highest, 1) == scale.highest
    assert scale.stepped(scale.lowest, -1) == scale.lowest


@BOTH
def test_that_steps_go_all_the_way_up_and_come_back_the_same_way(scale: LimitScale) -> None:
    way = [scale.lowest]
    while way[-1] < scale.highest:
        higher = scale.stepped(way[-1], 1)
        assert 1.02 < higher / way[-1] < 1.21
        assert higher == pytest.approx(scale.rounded(higher))
        way.append(higher)
    assert len(way) < 200
    for place in range(len(way) - 1, 0, -1):
        assert scale.stepped(way[place], -1) == pytest.approx(way[place - 1])


def test_that_a_step_from_a_typed_number_goes_to_the_next_round_one() -> None:
    assert TTFT_LIMIT.stepped(0.333, 1) == pytest.approx(0.34)
    assert TTFT_LIMIT.stepped(0.333, -1) == pytest.approx(0.32)


@BOTH
def test_that_a_first_limit_is_above_what_was_measured(scale: LimitScale) -> None:
    measured = 3 * scale.lowest
    assert 1.1 * measured < scale.first(measured) < 1.5 * measured
    for nothing in (None, 0.0, math.nan, math.inf):
        assert scale.first(nothing) == scale.start


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0.5", 0.5), (" 2 s ", 2.0), ("1e-1", 0.1), ("600", 600.0), ("0.01", 0.01)],
)
def test_that_a_typed_number_is_taken_as_it_is(text: str, seconds: float) -> None:
    assert TTFT_LIMIT.read(text) == pytest.approx(seconds)


def test_that_milliseconds_are_typed_as_milliseconds() -> None:
    assert TPOT_LIMIT.read("33.5 ms") == pytest.approx(0.0335)
    assert TPOT_LIMIT.written(0.0335) == "33.5"


@pytest.mark.parametrize(
    "text", ["", "fast", "0,5", "-1", "0", "0.009", "601", "nan", "inf", "1 min"]
)
def test_that_what_is_no_limit_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(ValueError, match=r"TTFT is 0\.01 to 600 s, as in 1 s\.$"):
        TTFT_LIMIT.read(text)


@BOTH
def test_that_what_is_written_can_be_read(scale: LimitScale) -> None:
    value = scale.lowest
    while value < scale.highest:
        assert scale.read(scale.text(value)) == pytest.approx(value, rel=1e-3)
        assert scale.holds(value)
        value = scale.stepped(value, 1)
    assert not scale.holds(math.nan)
    assert not scale.holds(0.0)
