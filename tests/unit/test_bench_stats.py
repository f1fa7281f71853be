from __future__ import annotations

import math

import numpy as np
import pytest

from tests.bench import stats


def test_that_a_rate_above_and_a_time_below_the_peers_both_count_for_the_engine() -> None:
    faster = stats.log_gains([110.0, 121.0], [100.0, 100.0], is_more_better=True)
    quicker = stats.log_gains([0.5, 0.5], [1.0, 2.0], is_more_better=False)
    assert np.exp(faster) == pytest.approx([1.10, 1.21])
    assert np.exp(quicker) == pytest.approx([2.0, 4.0])


def test_that_a_ratio_is_the_quotient_of_the_two_geometric_means() -> None:
    engine, peer = [3.0, 5.0, 8.0], [2.0, 6.0, 7.0]
    ratio = stats.ratio(stats.log_gains(engine, peer, is_more_better=True))
    assert ratio.value == pytest.approx(
        stats.geometric_centre(engine) / stats.geometric_centre(peer)
    )
    assert ratio.pairs == 3


def test_that_pairing_removes_what_both_runs_of_a_pair_suffered() -> None:
    disturbance = np.array([1.0, 3.0, 0.4, 7.0, 1.5, 0.2, 2.0])
    peer = 100.0 * disturbance
    ratio = stats.ratio(stats.log_gains(list(0.9 * peer), list(peer), is_more_better=True))
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((0.9, 0.9, 0.9))


def test_that_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(7)
    pairs, trials, truth = 7, 200, 0.97
    hits = 0
    for _ in range(trials):
        gains = math.log(truth) + 0.05 * generator.standard_normal(pairs)
        ratio = stats.ratio(gains)
        hits += ratio.low <= truth <= ratio.high
    # Plain percentiles of seven resampled pairs hold it in 87 % of the trials.
    assert 0.90 <= hits / trials <= 0.99


def test_that_the_same_runs_give_the_same_interval() -> None:
    gains = stats.log_gains([1.0, 2.0, 4.0], [2.0, 1.0, 3.0], is_more_better=True)
    assert stats.ratio(gains) == stats.ratio(gains)


def test_that_every_cell_weighs_the_same_in_the_mean_however_many_pairs_it_has() -> None:
    many, few = np.full(15, math.log(4.0)), np.full(7, math.log(1.0))
    mean = stats.geometric_mean([many, few])
    assert mean.value == pytest.approx(2.0)
    assert mean.pairs == 22


@pytest.mark.parametrize(("engine", "peer"), [([1.0], [1.0, 2.0]), ([], []), ([0.0], [1.0])])
def test_that_figures_which_do_not_pair_up_are_refused(
    engine: list[float], peer: list[float]
) -> None:
    with pytest.raises(ValueError, match=r"pair|above 0"):
        stats.log_gains(engine, peer, is_more_better=True)


def test_that_a_mean_over_no_cell_is_refused() -> None:
    with pytest.raises(ValueError, match="No cell"):
        stats.geometric_mean([])


def test_that_one_pair_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two pairs"):
        stats.ratio(np.array([0.1]))


def test_that_pairs_that_differ_wildly_have_limits_without_end_and_no_fault() -> None:
    ratio = stats.ratio(np.array([-5000.0, 0.0, 9000.0]))
    assert ratio.low == 0.0
    assert ratio.high == math.inf
