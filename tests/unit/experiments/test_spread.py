"""Medians and ratios with their intervals; how often the intervals hold is counted by simulation.

The seeds are fixed, so a count is the same every time; its limits are those that hundreds of
trials leave, not those of a lucky seed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.experiments.spread import (
    LEAST_RUNS,
    ratio_of_medians,
    running_ratio,
    spread_of,
    summary,
)

_TRIALS = 300


def test_that_a_summary_is_median_and_spread_of_the_runs_that_have_the_figure() -> None:
    short = summary([10.0, None, 12.0, 11.0])
    assert short is not None
    assert (short.median, short.runs) == (11.0, 3)
    assert short.spread == pytest.approx(1.4826)
    assert summary([None, None]) is None
    assert summary([]) is None


def test_that_one_run_that_went_astray_hardly_moves_the_spread() -> None:
    assert spread_of([10.0, 10.1, 9.9, 10.0, 50.0]) == pytest.approx(0.14826)


def test_that_there_is_no_interval_below_five_runs() -> None:
    few, enough = summary([1.0, 2.0, 3.0, 4.0]), summary([1.0, 2.0, 3.0, 4.0, 5.0])
    assert few is not None
    assert (few.low, few.high) == (None, None)
    assert enough is not None
    assert (enough.low, enough.high) == (1.0, 5.0)
    with pytest.raises(ValueError, match=f"{LEAST_RUNS} runs"):
        ratio_of_medians([1.0] * 5, [1.0] * 4)


def test_that_the_interval_of_a_median_holds_it_as_often_as_five_runs_can() -> None:
    generator = np.random.default_rng(3)
    hits = 0
    for _ in range(_TRIALS):
        short = summary(list(generator.lognormal(math.log(30), 0.1, 5)))
        assert short is not None
        assert short.low is not None
        assert short.high is not None
        hits += short.low <= 30 <= short.high
    # From the smallest to the largest of five holds the median in 93.75 % of all cases.
    assert 0.90 <= hits / _TRIALS <= 0.97


def test_that_unpaired_equal_settings_are_seldom_told_apart() -> None:
    generator = np.random.default_rng(4)
    false = 0
    for _ in range(_TRIALS):
        first, second = generator.lognormal(3, 0.05, (2, 5))
        found = ratio_of_medians(list(first), list(second))
        false += not found.low <= 1 <= found.high
    assert false / _TRIALS <= 0.07


def test_that_unpaired_settings_far_apart_are_told_apart() -> None:
    generator = np.random.default_rng(5)
    first, second = generator.lognormal(3, 0.02, 7), generator.lognormal(3.3, 0.02, 7)
    found = ratio_of_medians(list(second), list(first))
    assert 1.2 < found.low < math.exp(0.3) < found.high < 1.5


def test_that_the_same_runs_give_the_same_interval() -> None:
    runs = [3.0, 1.0, 4.0, 1.5, 9.0]
    assert summary(runs) == summary(runs)
    assert ratio_of_medians(runs, [2.0] * 5) == ratio_of_medians(runs, [2.0] * 5)


@pytest.mark.parametrize("tails", ["normal", "heavy", "drifting"])
def test_that_looking_after_every_pair_seldom_tells_equal_settings_apart(tails: str) -> None:
    generator = np.random.default_rng(11)
    false = fixed = 0
    for _ in range(_TRIALS):
        gains = _equal_pairs(generator, tails, 40)
        looks = [running_ratio(gains[:pairs]) for pairs in range(2, 41)]
        false += any(not look.low <= 1 <= look.high for look in looks)
        fixed += any(
            abs(gains[:pairs].mean()) > 2 * gains[:pairs].std(ddof=1) / math.sqrt(pairs)
            for pairs in range(2, 41)
        )
    assert false / _TRIALS <= 0.05
    # Else the test would show nothing: an interval made for one look fails it by far.
    assert fixed / _TRIALS > 0.2


def _equal_pairs(
    generator: np.random.Generator, tails: str, pairs: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if tails == "heavy":
        return 0.02 * generator.standard_t(3, pairs)
    noise = 0.02 * generator.standard_normal(pairs)
    if tails == "drifting":  # the second of a pair is slower, and A and B take turns to be it
        noise += 0.01 * np.where(np.arange(pairs) % 2, 1, -1)
    return noise


def test_that_a_clear_difference_is_told_after_a_few_pairs() -> None:
    generator = np.random.default_rng(12)
    needed = []
    for _ in range(100):
        gains = math.log(1.10) + 0.02 * generator.standard_normal(12)
        told = [pairs for pairs in range(2, 13) if running_ratio(gains[:pairs]).low > 1]
        needed.append(told[0] if told else 99)
    assert np.median(needed) <= 5
    assert max(needed) <= 12


def test_that_too_few_pairs_bear_any_difference() -> None:
    found = running_ratio(np.array([0.1, 0.1001, 0.0999]))
    assert (found.low, found.high) == (0.0, math.inf)
    with pytest.raises(ValueError, match="two pairs"):
        running_ratio(np.array([0.1]))


def test_that_more_certainty_makes_a_wider_interval() -> None:
    gains = 0.1 + 0.02 * np.random.default_rng(1).standard_normal(8)
    usual, surer = running_ratio(gains), running_ratio(gains, level=0.99)
    assert surer.low < usual.low < usual.value < usual.high < surer.high


def test_that_pairs_without_any_difference_have_an_interval_without_width() -> None:
    assert running_ratio(np.zeros(4)).low == running_ratio(np.zeros(4)).high == 1.0
