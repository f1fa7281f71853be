"""Logarithmic axes: round ends and ticks, no jumping."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.charts.log_axis import LogAxis, around, tick_text

POSITIVE = st.floats(1e-3, 1e15)


@given(st.lists(POSITIVE, min_size=1, max_size=8))
def test_that_an_axis_holds_its_values_between_round_ends(values: list[float]) -> None:
    axis = around(values)
    assert axis.low <= min(values)
    assert max(values) <= axis.high
    assert axis.high >= 10 * axis.low * (1 - 1e-9)
    for end in (axis.low, axis.high):
        mantissa = end / 10 ** math.floor(math.log10(end) + 1e-9)
        assert min(abs(mantissa - round_) for round_ in (1, 2, 5, 10)) < 1e-6
    assert all(0 <= axis.share(value) <= 1 for value in values)


def test_that_shares_and_values_are_each_others_inverse() -> None:
    axis = LogAxis(0.5, 500)
    assert axis.share(0.5) == 0
    assert axis.share(500) == pytest.approx(1)
    assert axis.value(axis.share(37)) == pytest.approx(37)


def test_that_an_axis_stays_while_it_will_do() -> None:
    axis = around([3.0, 900.0])
    assert axis.following([4.0, 800.0]) is axis
    assert axis.following([]) is axis
    wider = axis.following([4.0, 9000.0])
    assert wider.high >= 9000
    assert axis.following([3.0, 3.1]).high < axis.high, "nothing is seen on one so long"


def test_that_ticks_are_round_and_as_many_as_fit() -> None:
    assert [text for _, text in LogAxis(1, 1000).ticks()] == ["1", "10", "100", "1 k"]
    assert [text for _, text in LogAxis(50, 500).ticks()] == ["50", "100", "200", "500"]
    assert len(LogAxis(1e-3, 1e12).ticks(room=4)) <= 4


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5"), (20, "20"), (1e3, "1 k"), (5e11, "500 G"), (1e12, "1 T"), (2e15, "2 P")],
)
def test_that_a_tick_is_short(value: float, text: str) -> None:
    assert tick_text(value) == text
