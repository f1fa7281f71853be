"""Steps of any stretch, and the time that streams cover together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine_bridge.metrics.step_log import BusyTime, StepLog


def test_that_a_window_holds_the_steps_that_ended_in_it() -> None:
    log = StepLog()
    answer = log.begin_answer()
    log.add(answer, [math.nan, 1.0, 1.5], [1.0, 1.5, 2.5], [1, 2, 3])
    rows = log.window(1.5, 2.5)
    assert rows.tokens.tolist() == [2, 3]
    assert rows.gap_s == pytest.approx([0.5, 1.0])
    assert rows.answer.tolist() == [answer, answer]
    assert log.window(2.6, 9.0).tokens.size == 0
    assert math.isnan(log.window(1.0, 1.0).gap_s[0])


def test_that_steps_out_of_order_are_found_all_the_same() -> None:
    log = StepLog()
    first, second = log.begin_answer(), log.begin_answer()
    log.add(first, [1.0, 1.2], [1.2, 1.4], [1, 1])
    log.add(second, [1.1, 1.3], [1.3, 1.5], [1, 1])  # of the same steps, told a little later
    rows = log.window(1.25, 1.45)
    assert sorted(rows.answer.tolist()) == [first, second]


def test_that_a_full_log_says_since_when_it_is_complete() -> None:
    log = StepLog(rows=4)
    assert log.complete_since_s == -math.inf
    for number in range(6):
        log.add(1, [float(number)], [number + 1.0], [number])
    assert log.complete_since_s == 2.0
    assert sorted(log.window(-math.inf, math.inf).tokens.tolist()) == [2, 3, 4, 5]
    assert sorted(log.window(5.0, 6.0).tokens.tolist()) == [4, 5]


def test_that_a_log_takes_no_more_memory_when_it_fills() -> None:
    log = StepLog(rows=8)
    before = log.state_bytes
    for number in range(50):
        log.add(1, [math.nan], [float(number)], [1])
    assert log.state_bytes == before
    assert StepLog().state_bytes < 4_000_000


def test_that_overlapping_streams_cover_their_time_once() -> None:
    busy = BusyTime()
    for begin_s, end_s in ((1.0, 2.0), (1.5, 2.5), (2.0, 3.0), (5.0, 6.0)):
        busy.add(begin_s, end_s)
    assert busy.within(0.0, 10.0) == pytest.approx(3.0)
    assert busy.within(1.5, 5.5) == pytest.approx(2.0)
    assert busy.within(3.0, 5.0) == 0.0


def test_that_a_stream_that_is_told_late_fills_the_gap_before() -> None:
    busy = BusyTime()
    busy.add(1.0, 1.2)
    busy.add(2.0, 3.0)
    busy.add(1.1, 1.6)  # between the two
    busy.add(1.5, 2.1)  # joins them
    assert busy.within(0.0, 9.0) == pytest.approx(2.0)
    busy.add(0.0, 0.5)  # before everything
    assert busy.within(0.0, 9.0) == pytest.approx(2.5)


def test_that_covered_time_is_what_a_plain_count_says() -> None:
    random = np.random.default_rng(3)
    busy = BusyTime()
    covered = np.zeros(4000, dtype=bool)  # hundredths of a second
    for place in np.sort(random.integers(0, 3900, 300)) + random.integers(-30, 30, 300):
        begin = max(0, int(place))
        end = begin + int(random.integers(1, 60))
        busy.add(begin / 100, end / 100)
        covered[begin:end] = True
    for since, until in ((0, 4000), (500, 1500), (1234, 1240)):
        expected = covered[since:until].sum() / 100
        assert busy.within(since / 100, until / 100) == pytest.approx(expected)
