"""Verdicts as sentences; how often they claim a difference between equals is counted."""

from __future__ import annotations

import numpy as np
import pytest

from app.experiments.measures import BY_FIGURE, MEASURES
from app.experiments.verdict import (
    Outcome,
    running_verdict,
    verdict_of_pairs,
    verdict_of_runs,
)

_TPOT, _TOTAL = BY_FIGURE["tpot_s"], BY_FIGURE["total_tok_s"]
_MEMORY = BY_FIGURE["owned_bytes"]
_NOISE = (1.01, 0.99, 1.0, 1.005, 0.995, 1.002, 0.998)
_TRIALS = 400


def plain(sentence: str) -> str:
    return sentence.replace("\u202f", " ")


def test_that_a_clear_difference_is_told_with_its_interval_and_pairs() -> None:
    first = [0.0224 * noise for noise in _NOISE]
    verdict = verdict_of_pairs(first, [0.020] * 7, _TPOT)
    assert verdict.outcome is Outcome.BETTER
    assert (
        plain(verdict.sentence) == "B is 12 % faster than A in TPOT (between 11 and 13 %, 7 pairs)."
    )


def test_that_a_rate_that_falls_is_slower_and_names_are_those_given() -> None:
    verdict = verdict_of_pairs(
        [40 * noise for noise in _NOISE], [30.0] * 7, _TOTAL, ("slots=4", "slots=1")
    )
    assert verdict.outcome is Outcome.WORSE
    assert plain(verdict.sentence).startswith(
        "slots=1 is 25 % slower than slots=4 in total throughput (between 25 and 2"
    )


def test_that_what_is_more_than_twice_as_fast_is_told_in_times() -> None:
    verdict = verdict_of_pairs([0.05 * noise for noise in _NOISE], [0.02] * 7, _TPOT)
    assert (
        verdict.sentence
        == "B is 2.5 times as fast as A in TPOT (between 2.5 and 2.5 times, 7 pairs)."
    )
    larger = verdict_of_pairs([1e9 * noise for noise in _NOISE], [13e9] * 7, _MEMORY)
    assert plain(larger.sentence).startswith("B is 1,200 % larger than A in memory (between 1,1")


def test_that_memory_is_told_as_bytes_and_not_as_a_speed() -> None:
    verdict = verdict_of_pairs([2e9 * noise for noise in _NOISE], [1e9] * 7, _MEMORY)
    assert plain(verdict.sentence).startswith("B is 50 % smaller than A in memory (")


def test_that_an_interval_with_none_in_it_is_no_difference() -> None:
    verdict = verdict_of_pairs([0.02 * noise for noise in _NOISE], [0.02] * 7, _TPOT)
    assert verdict.outcome is Outcome.NONE
    sentence = plain(verdict.sentence)
    assert sentence.startswith("No difference in TPOT: the interval from ")
    assert "slower to" in sentence
    assert sentence.endswith("faster for B contains none (7 pairs).")


def test_that_a_sure_difference_smaller_than_the_spread_is_none() -> None:
    noise = np.random.default_rng(1).normal(0, 0.05, 60)
    second = 0.02 * np.exp(noise - noise.mean() - 0.025)
    verdict = verdict_of_pairs([0.02] * 60, list(second), _TPOT)
    assert verdict.gain is not None
    assert verdict.gain.low > 1
    assert verdict.outcome is Outcome.NONE
    assert "which is less than the spread of the pairs (" in plain(verdict.sentence)


def test_that_figures_that_are_all_equal_are_no_difference() -> None:
    verdict = running_verdict([0.02] * 6, [0.02] * 6, _TPOT)
    assert verdict.outcome is Outcome.NONE
    assert plain(verdict.sentence) == "No difference in TPOT: all 6 pairs are equal."
    assert verdict.is_settled


def test_that_too_little_is_no_verdict() -> None:
    few = verdict_of_pairs([0.02] * 3, [0.03] * 3, _TPOT)
    assert few.outcome is Outcome.UNKNOWN
    assert few.sentence == "There are 3 pairs with TPOT; 5 are needed to tell a difference."
    none = verdict_of_runs([None] * 6, [0.1] * 6, _TPOT)
    assert none.sentence == "There are no runs with TPOT; 5 are needed to tell a difference."
    one = running_verdict([0.02], [0.03], _TPOT)
    assert one.sentence == "There is 1 pair with TPOT; 2 are needed to tell a difference."
    early = running_verdict([0.02, 0.0201], [0.03, 0.0301], _TPOT)
    assert early.outcome is Outcome.UNKNOWN
    assert early.sentence == "The 2 pairs are too few to tell a difference in TPOT."


def test_that_pairs_of_which_one_has_no_figure_are_left_out() -> None:
    verdict = running_verdict([0.02, None, *[0.02] * 5], [0.03, 0.03, 0.0, *[0.03] * 4], _TPOT)
    assert verdict.gain is not None
    assert verdict.gain.pairs == 5


def test_that_unpaired_runs_are_judged_by_their_medians() -> None:
    first = [0.030 * noise for noise in _NOISE]
    verdict = verdict_of_runs(first, [0.020 * noise for noise in _NOISE[:5]], _TPOT)
    assert verdict.outcome is Outcome.BETTER
    assert plain(verdict.sentence).startswith("B is 50 % faster than A in TPOT (between ")
    assert verdict.sentence.endswith("7 and 5 runs).")


def test_that_a_verdict_is_settled_by_a_difference_or_by_an_interval_close_to_none() -> None:
    near = [0.02 * (1 + (noise - 1) / 20) for noise in _NOISE]
    assert running_verdict([0.02] * 7, near, _TPOT).is_settled
    assert not running_verdict([0.02] * 7, [0.02 * noise**3 for noise in _NOISE], _TPOT).is_settled
    assert running_verdict([0.02] * 7, [0.03 * noise for noise in _NOISE], _TPOT).is_settled


@pytest.mark.parametrize("kind", ["pairs", "runs"])
def test_that_equal_settings_are_told_apart_once_in_twenty_times_at_most(kind: str) -> None:
    generator = np.random.default_rng(21)
    judge = verdict_of_pairs if kind == "pairs" else verdict_of_runs
    claims = 0
    for _ in range(_TRIALS):
        first, second = generator.lognormal(-4, 0.03, (2, 5 if kind == "runs" else 7))
        claims += judge(list(first), list(second), _TPOT).outcome is not Outcome.NONE
    assert claims / _TRIALS <= 0.05


def test_that_looking_after_every_pair_claims_no_more_of_equal_settings() -> None:
    generator = np.random.default_rng(22)
    claims = 0
    for _ in range(_TRIALS):
        first, second = generator.lognormal(-4, 0.03, (2, 24))
        claims += any(
            running_verdict(list(first[:pairs]), list(second[:pairs]), _TPOT).outcome
            in (Outcome.BETTER, Outcome.WORSE)
            for pairs in range(2, 25)
        )
    assert claims / _TRIALS <= 0.05


def test_that_every_measure_makes_a_sentence() -> None:
    for measure in MEASURES:
        verdict = verdict_of_pairs([1.0] * 6, [0.5 * noise for noise in _NOISE[:6]], measure)
        expected = Outcome.WORSE if measure.is_more_better else Outcome.BETTER
        assert verdict.outcome is expected
        assert measure.label in verdict.sentence
