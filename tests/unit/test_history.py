"""An hour of one measurement: whole where it is recent, its extremes where it is old."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.metrics.history import HISTORY_S, History, thinned
from engine_bridge.metrics.stretch import Stretch


def hour(rows_a_second: int = 10, seconds: int = int(HISTORY_S)) -> tuple[History, np.ndarray]:
    """A noisy hour, and what went into it."""
    history = History(256)
    values = np.random.default_rng(3).normal(50, 3, seconds * rows_a_second)
    values[12_345 % values.size] = 900.0  # a peak of one row, long ago
    for number, value in enumerate(values):
        history.append(number / rows_a_second, float(value))
    return history, values


def test_that_an_hour_fits_into_bounded_memory_and_keeps_its_peaks() -> None:
    history, values = hour()
    times, kept = history.window(-math.inf, math.inf)
    assert times[0] < 2.0
    assert np.nanmax(kept) == 900.0
    assert np.nanmin(kept) == values.min()
    assert times.size < values.size / 5
    assert (np.diff(times) >= 0).all()
    assert history.state_bytes < 320_000


def test_that_recent_rows_are_whole() -> None:
    history, values = hour(seconds=100)
    _, kept = history.window(100 - 20.0, 100.0)
    assert kept[1:].tolist() == values[-200:].tolist()  # the first is the neighbour


def test_that_memory_does_not_grow_beyond_an_hour() -> None:
    history, _ = hour(seconds=100)
    before = history.state_bytes
    for second in range(100, 20_000):
        history.append(float(second), 1.0)
    assert history.state_bytes == before
    assert history.window(-math.inf, math.inf)[0].size * 16 <= before


def test_that_an_hour_of_gaps_stays_whole() -> None:
    history = History(64)
    for tenth in range(36_000):
        if tenth % 3:
            history.append(tenth / 10, 1.0 + tenth % 7)
        else:
            history.gap(tenth / 10)
    assert history.window(0.0, math.inf)[0][0] < 2.0


@given(
    steps=st.lists(
        st.tuples(st.floats(0, 3), st.floats(0, 9) | st.just(math.nan) | st.just(math.inf)),
        min_size=1,
        max_size=120,
    ),
    recent=st.integers(8, 20),
)
def test_that_no_line_crosses_a_gap_at_any_age(
    steps: list[tuple[float, float]], recent: int
) -> None:
    history, now, model = History(recent), 0.0, []
    for step_s, value in steps:
        now += step_s + 1e-3 * 400  # at most six rows a bucket
        history.append(now, value)
        model.append((now, value))
    times, values = history.window(-math.inf, math.inf)
    assert (np.diff(times) >= 0).all()
    gaps = [t for t, v in model if not math.isfinite(v)]
    for place in range(times.size - 1):
        if np.isfinite(values[place : place + 2]).all():
            assert not any(times[place] < gap < times[place + 1] for gap in gaps)


def test_that_a_clock_that_jumps_back_does_no_harm() -> None:
    history = History(16)
    for time_s in (100.0, 50.0, 101.0, 10.0, 104.0):
        history.append(time_s, 1.0)
    times, _ = history.window(0.0, 1000.0)
    assert (np.diff(times) >= 0).all()


def test_that_rows_are_timed_from_the_right_edge() -> None:
    rows = (np.array([1.0, 2.0]), np.array([5.0, 6.0]))
    times, values = thinned(rows, Stretch(4.0, 10.0))
    assert times.tolist() == [-3.0, -2.0]
    assert values.tolist() == [5.0, 6.0]
    assert thinned((np.zeros(0), np.zeros(0)), Stretch(4.0, 10.0, 1.0))[0].size == 0
