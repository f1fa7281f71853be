"""Axes, lines and words of the charts, without Qt."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.charts import words
from widgets.charts.line import cropped, highest, runs, strokes
from widgets.charts.scale import SteadyTop, nice_top, ticks

GIB = 1 << 30


@given(value=st.floats(1e-12, 1e300))
def test_that_a_top_is_round_and_just_above_the_value(value: float) -> None:
    top = nice_top(value)
    assert value <= top * (1 + 1e-9)
    assert top <= 1.7 * value


@given(value=st.floats(1e-9, 1e300))
def test_that_an_axis_has_three_to_five_different_labels(value: float) -> None:
    marks = ticks(nice_top(value))
    assert 3 <= len(marks) <= 5
    assert marks[-1][0] == 1.0
    assert len({text for _, text in marks}) == len(marks)
    assert all(len(text) <= 7 for _, text in marks)


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        (25.0, ["5", "10", "15", "20", "25"]),
        (1.2, ["0.4", "0.8", "1.2"]),
        (0.05, ["0.01", "0.02", "0.03", "0.04", "0.05"]),
        (1000.0, ["250", "500", "750", "1,000"]),
    ],
)
def test_that_ticks_read_well(top: float, expected: list[str]) -> None:
    assert [text for _, text in ticks(top)] == expected


def test_that_an_axis_grows_at_once() -> None:
    steady = SteadyTop(1.0)
    assert steady.follow(43.0, 0.0) == 50.0
    assert steady.follow(51.0, 0.1) == 60.0


def test_that_an_axis_shrinks_only_after_it_was_too_large_for_a_while() -> None:
    steady = SteadyTop(1.0)
    steady.follow(90.0, 0.0)
    tops = [steady.follow(10.0, float(second)) for second in range(1, 15)]
    assert tops[:10] == [100.0] * 10
    assert tops[-1] == 15.0


def test_that_one_high_value_keeps_the_axis_from_shrinking() -> None:
    steady = SteadyTop(1.0)
    for second in range(40):
        steady.follow(90.0 if second % 8 == 0 else 10.0, float(second))
    assert steady.top == 100.0


def test_that_an_axis_of_a_window_that_stands_still_fits_at_once() -> None:
    steady = SteadyTop(1.0)
    steady.follow(90.0, 0.0)
    assert steady.follow(10.0, 0.0, is_still=True) == 10.0


def test_that_an_axis_never_goes_below_its_floor_or_beyond_all_numbers() -> None:
    steady = SteadyTop(2.0)
    assert steady.follow(None, 0.0) == 2.0
    assert steady.follow(1e-300, 1.0) == 2.0
    assert math.isfinite(steady.follow(1.7e308, 2.0))


def test_that_what_is_not_finite_is_a_gap() -> None:
    y = np.array([1.0, 1.0, np.nan, np.inf, -np.inf, 2.0, 2.0])
    found = [(x.tolist(), y.tolist()) for x, y in runs(np.arange(7.0), y)]
    assert found == [([0.0, 1.0], [1.0, 1.0]), ([5.0, 6.0], [2.0, 2.0])]


def test_that_a_lone_point_becomes_a_dash() -> None:
    x, y = np.array([9.0, 12.0, 15.0, 18.0]), np.array([1.0, np.nan, 3.0, np.nan])
    first, second = runs(x, y)
    assert first[0].mean() == 9.0
    assert np.ptp(first[0]) == 3.0
    assert second[1].tolist() == [3.0, 3.0]
    assert list(runs(x[:0], y[:0])) == []


@given(values=st.lists(st.floats(-9, 9) | st.just(math.nan) | st.just(math.inf), max_size=30))
def test_that_a_pen_goes_where_the_runs_go(values: list[float]) -> None:
    x, y = np.arange(float(len(values))) * 10, np.array(values, dtype=np.float64)
    is_lifted, pen_x, pen_y = strokes(x, y)
    begins = [*np.flatnonzero(is_lifted).tolist(), pen_x.size]
    drawn = [(pen_x[a:b].tolist(), pen_y[a:b].tolist()) for a, b in itertools.pairwise(begins)]
    assert drawn == [(run_x.tolist(), run_y.tolist()) for run_x, run_y in runs(x, y)]


def test_that_a_line_is_cut_off_at_the_edges_of_its_window() -> None:
    times, values = cropped(np.array([-1e9, -5.0, 15.0]), np.array([0.0, 10.0, 30.0]), 10.0)
    assert times.tolist() == [-10.0, -5.0, 0.0]
    assert values == pytest.approx([10.0, 10.0, 15.0])
    inside = np.array([-8.0, -2.0])
    assert cropped(inside, inside, 10.0)[0].tolist() == inside.tolist()


def test_that_cutting_off_survives_every_number() -> None:
    huge = np.finfo(np.float64).max
    for values in ([huge, -huge], [np.nan, 1.0], [np.inf, 1.0], [1.0, -np.inf]):
        times, kept = cropped(np.array([-20.0, 20.0]), np.array(values), 10.0)
        assert np.isfinite(times).all()
        assert kept.size == 2


def test_that_the_range_counts_finite_values_only() -> None:
    assert highest(np.array([np.nan, 3.0, np.inf]), np.array([2.0])) == 3.0
    assert highest(np.array([np.nan, -np.inf]), np.zeros(0)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (words.gib(6.24 * GIB), "6.24"),
        (words.gib(23.5 * GIB), "23.5"),
        (words.signed_gib(0.03 * GIB), "+0.03"),
        (words.signed_gib(-0.12 * GIB), "−0.12"),
        (words.signed_gib(1000), "0.00"),
        (words.gb_per_s(781e9), "781 GB/s"),
        (words.gb_per_s(1008e9), "1,008 GB/s"),
        (words.milliseconds(0.0171), "17.1 ms"),
        (words.seconds_text(0.31), "0.31 s"),
        (words.seconds_text(0.021), "0.021 s"),
        (words.tok_per_s(58.3), "58 tok/s"),
        (words.tok_per_s(7.25), "7.2 tok/s"),
        (words.number(1e300), "1.00e+300"),
    ],
)
def test_that_figures_have_few_digits_and_a_unit(text: str, expected: str) -> None:
    assert text == expected


def test_that_an_axis_fits_again_at_once_when_the_window_moves_on() -> None:
    axis = SteadyTop(1.0)
    assert axis.follow(4.0, 0.0) == 4.0
    assert axis.follow(90.0, 1.0, is_still=True) == 100.0
    assert axis.follow(4.0, 1.1) == 4.0
