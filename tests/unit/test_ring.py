"""Ring buffers and thinning, against plain lists."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.metrics.ring import Ring, around, min_max


@given(
    capacity=st.integers(1, 7),
    steps=st.lists(st.tuples(st.floats(0, 5), st.floats(-1e9, 1e9)), max_size=40),
)
def test_that_a_ring_holds_the_last_rows_in_order(
    capacity: int, steps: list[tuple[float, float]]
) -> None:
    ring, model, now = Ring(capacity), [], 0.0
    for step_s, value in steps:
        now += step_s
        ring.append(now, value)
        model.append((now, value))
        times, values = ring.window()
        assert list(zip(times.tolist(), values[0].tolist(), strict=True)) == model[-capacity:]
    assert len(ring) == min(capacity, len(steps))


def test_that_a_window_includes_both_ends() -> None:
    ring = Ring(4, columns=2)
    for second in range(6):
        ring.append(float(second), second, -second)
    times, values = ring.window(3.0, 4.0)
    assert times.tolist() == [3.0, 4.0]
    assert values.tolist() == [[3.0, 4.0], [-3.0, -4.0]]
    assert ring.window(7.0)[0].size == 0


def test_that_a_window_is_a_view_and_not_a_copy() -> None:
    ring = Ring(1000)
    ring.append(1.0, 1.0)
    times, values = ring.window()
    assert times.base is not None
    assert values.base is not None


def test_that_times_never_run_backwards() -> None:
    ring = Ring(3)
    for time_s in (5.0, 4.0, 6.0):
        ring.append(time_s, 0.0)
    assert ring.window()[0].tolist() == [5.0, 5.0, 6.0]


def test_that_gaps_do_not_pile_up() -> None:
    ring = Ring(8)
    ring.gap(0.0)
    assert len(ring) == 0
    ring.append(1.0, 1.0)
    ring.gap(2.0)
    ring.gap(3.0)
    assert len(ring) == 2
    assert math.isnan(ring.latest()[1][0])


@pytest.mark.parametrize("time_s", [math.nan, math.inf])
def test_that_a_row_needs_a_time(time_s: float) -> None:
    with pytest.raises(ValueError, match="No row"):
        Ring(2).append(time_s, 1.0)


def test_that_a_row_needs_every_column() -> None:
    with pytest.raises(ValueError, match="No row"):
        Ring(2, columns=2).append(1.0, 1.0)


@pytest.mark.parametrize("shape", [(0, 1), (1, 0)])
def test_that_a_ring_without_room_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="holds nothing"):
        Ring(*shape)


def test_that_an_empty_ring_has_no_latest_row() -> None:
    with pytest.raises(IndexError):
        Ring(2).latest()


_values = st.floats(allow_nan=True, allow_infinity=True)


@given(
    values=st.lists(_values, max_size=300), bucket_s=st.integers(1, 100), begin=st.integers(0, 9)
)
def test_that_thinning_keeps_the_extremes_of_each_bucket(
    values: list[float], bucket_s: int, begin: int
) -> None:
    times = np.arange(begin, begin + len(values), dtype=np.float64)
    array = np.array(values, dtype=np.float64)
    thin_times, thin = min_max(times, array, float(bucket_s))
    buckets = np.floor(times / bucket_s)
    if len(values) <= 2 * np.unique(buckets).size:
        assert thin.size == len(values)
        return
    assert thin.size <= 5 * np.unique(buckets).size
    assert (np.diff(thin_times) >= 0).all()
    kept = {float(t) for t, v in zip(thin_times, thin, strict=True) if np.isfinite(v)}
    for number in np.unique(buckets):
        bucket = array[buckets == number]
        finite = bucket[np.isfinite(bucket)]
        inside = [array[int(t) - begin] for t in kept if t // bucket_s == number]
        if finite.size:
            assert min(inside) == finite.min()
            assert max(inside) == finite.max()


@given(values=st.lists(_values, max_size=300), bucket_s=st.integers(1, 100))
def test_that_thinning_draws_no_line_across_a_gap(values: list[float], bucket_s: int) -> None:
    array = np.array(values, dtype=np.float64)
    times, thin = min_max(np.arange(len(values), dtype=np.float64), array, float(bucket_s))
    drawn = np.isfinite(thin[:-1]) & np.isfinite(thin[1:]) if thin.size else np.zeros(0, bool)
    for place in np.flatnonzero(drawn):
        between = array[int(times[place]) : int(times[place + 1]) + 1]
        assert np.isfinite(between).all()


def test_that_a_thinned_line_keeps_its_shape_while_it_scrolls() -> None:
    times = np.arange(0.0, 60.0, 0.1)
    values = np.sin(times * 7.3)
    whole = dict(zip(*min_max(times, values, 2.0), strict=True))
    later = dict(zip(*min_max(times[37:], values[37:], 2.0), strict=True))
    assert {t: v for t, v in later.items() if t >= 4.0} == {
        t: v for t, v in whole.items() if t >= 4.0
    }


def test_that_a_window_has_neighbours_only_where_a_line_crosses_it() -> None:
    times = np.arange(10.0)
    assert times[around(times, 2.5, 4.5)].tolist() == [2, 3, 4, 5]
    assert times[around(times, 2.2, 2.8)].tolist() == [2, 3]
    assert times[around(times, -5.0, -1.0)].size == 0
    assert times[around(times, 9.5, 12.0)].size == 0
    assert times[around(times[:0], 0.0, 1.0)].size == 0
