"""Shares of requests and their intervals."""

from __future__ import annotations

import math
from random import Random

import pytest

from app.experiments.proportion import Proportion, least_to_show


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # Wilson (1927) without continuity correction, as R's prop.test(…, correct=FALSE) has it.
        (10, 20, 0.2993, 0.7007),
        (0, 20, 0.0, 0.1611),
        (20, 20, 0.8389, 1.0),
        (95, 100, 0.8882, 0.9785),
    ],
)
def test_that_intervals_are_those_of_wilson(count: int, of: int, low: float, high: float) -> None:
    kept = Proportion(count, of)
    assert kept.low == pytest.approx(low, abs=5e-5)
    assert kept.high == pytest.approx(high, abs=5e-5)


def test_that_of_nothing_nothing_is_known() -> None:
    assert (Proportion(0, 0).low, Proportion(0, 0).high) == (0.0, 1.0)


def test_that_the_interval_holds_the_truth_in_nineteen_of_twenty_cases() -> None:
    random, truth, holds = Random(7), 0.93, 0
    for _ in range(2000):
        count = sum(random.random() < truth for _ in range(80))
        kept = Proportion(count, 80)
        holds += kept.low <= truth <= kept.high
    assert 0.93 < holds / 2000 < 0.98


@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.99])
def test_that_as_few_as_can_show_a_share_do_and_one_less_does_not(share: float) -> None:
    least = least_to_show(share)
    assert Proportion(least, least).low >= share - 1e-12
    assert Proportion(least - 1, least - 1).low < share


def test_that_counts_add_up() -> None:
    both = Proportion(3, 4) + Proportion(5, 6)
    assert (both.count, both.of) == (8, 10)
    assert math.isclose(both.share, 0.8)
