from __future__ import annotations

import math
from collections import Counter
from random import Random
from statistics import fmean, median, pstdev

import pytest

from app.experiments.lengths import (
    LIMIT_TOK,
    Fixed,
    Lengths,
    LogNormal,
    Observed,
    Uniform,
    lengths_of,
)
from app.experiments.workload_error import WorkloadError

DRAWS = 20_000


def drawn(lengths: Lengths, seed: int = 7) -> list[int]:
    random = Random(seed)
    return [lengths.draw(random) for _ in range(DRAWS)]


def test_that_a_fixed_length_is_always_itself() -> None:
    assert set(drawn(Fixed(200))) == {200}


def test_that_uniform_lengths_reach_both_ends_and_prefer_none() -> None:
    counts = Counter(drawn(Uniform(10, 19)))
    assert sorted(counts) == list(range(10, 20))
    # 2,000 each; five standard deviations are 212.
    assert all(abs(count - DRAWS / 10) < 212 for count in counts.values())


def test_that_log_normal_lengths_have_the_median_and_the_sigma_asked_for() -> None:
    lengths = drawn(LogNormal(200, 0.6))
    assert median(lengths) == pytest.approx(200, rel=0.02)
    assert pstdev([math.log(tok) for tok in lengths]) == pytest.approx(0.6, rel=0.02)
    # Skewed to the right: the mean lies above the median by exp(sigma^2 / 2).
    assert fmean(lengths) == pytest.approx(200 * math.exp(0.18), rel=0.02)


def test_that_limits_of_log_normal_lengths_hold_and_nothing_piles_up_there() -> None:
    lengths = drawn(LogNormal(200, 1.0, 100, 400))
    assert min(lengths) >= 100
    assert max(lengths) <= 400
    counts = Counter(lengths)
    assert counts[400] < 3 * counts[390] + 30
    assert counts[100] < 3 * counts[110] + 30


def test_that_limits_that_leave_one_length_give_that_length() -> None:
    assert set(drawn(LogNormal(200, 3.0, 200, 200))) == {200}


def test_that_observed_lengths_come_as_often_as_they_were_seen() -> None:
    counts = Counter(drawn(Observed((50, 50, 50, 800))))
    assert set(counts) == {50, 800}
    assert counts[50] / DRAWS == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize(
    "lengths",
    [
        Fixed(64),
        Uniform(100, 401),
        LogNormal(120, 0.5),
        LogNormal(60, 0.9, 16, 200),
        LogNormal(60, 2.0, 50, 70),
        Observed((10, 20, 60)),
    ],
)
def test_that_the_mean_is_the_mean_of_what_is_drawn(lengths: Lengths) -> None:
    assert lengths.mean_tok == pytest.approx(fmean(drawn(lengths)), rel=0.02)


def test_that_the_same_seed_draws_the_same() -> None:
    lengths = LogNormal(120, 0.5, 10, 1000)
    assert drawn(lengths, 3) == drawn(lengths, 3)
    assert drawn(lengths, 3) != drawn(lengths, 4)


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("200", Fixed(200)),
        (" fixed:200 ", Fixed(200)),
        ("uniform:100:400", Uniform(100, 400)),
        ("lognormal:200:0.6", LogNormal(200, 0.6)),
        ("lognormal:200:0.6:20", LogNormal(200, 0.6, 20)),
        ("lognormal:200:0.6:20:900", LogNormal(200, 0.6, 20, 900)),
        ("values:120,300, 80", Observed((120, 300, 80))),
    ],
)
def test_that_each_spread_can_be_written_as_a_word(text: str, lengths: Lengths) -> None:
    assert lengths_of("prompt_tok", text) == lengths


@pytest.mark.parametrize(
    "text",
    ["", "many", "uniform", "uniform:", "uniform:1", "uniform:1:2:3", "lognormal:5", "gauss:1:2",
     "lognormal:1:2:3:4:5", "values:", "values:1,,2", "1.5", "fixed:x", "lognormal:a:b"],
)  # fmt: skip
def test_that_a_word_that_is_none_is_a_sentence_with_the_right_ones(text: str) -> None:
    with pytest.raises(WorkloadError, match=r"^prompt_tok takes 200, .*; got '.*'\.$"):
        lengths_of("prompt_tok", text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "must be at least 1 token; got 0"),
        ("-5", "must be at least 1 token; got -5"),
        (str(LIMIT_TOK + 1), "must be at most 1,000,000 tokens"),
        ("uniform:0:5", "at least 1"),
        ("uniform:1:2000000", "at most"),
        ("uniform:400:100", "goes from 400 to 100; the shorter comes first"),
        ("lognormal:200:0", "sigma of 0"),
        ("lognormal:200:-1", "sigma of -1"),
        ("lognormal:200:nan", "sigma of nan"),
        ("lognormal:200:9", "sigma of 9"),
        ("lognormal:0:0.5", "median of 0 outside its limits"),
        ("lognormal:200:0.5:300", "median of 200 outside its limits"),
        ("lognormal:200:0.5:-3", "at least 1"),
        ("values:5,-1", "at least 1 token; got -1"),
    ],
)
def test_that_lengths_that_cannot_be_are_a_sentence(text: str, words: str) -> None:
    with pytest.raises(WorkloadError, match=f"^prompt_tok .*{words}"):
        lengths_of("prompt_tok", text)


def test_that_an_empty_list_is_told() -> None:
    assert Observed(()).problem() == "is a list of lengths without one"


def test_that_each_spread_has_words_with_its_unit() -> None:
    assert Fixed(1200).words == "1,200 tokens"
    assert Uniform(100, 1400).words == "100 to 1,400 tokens"
    assert LogNormal(200, 0.6).words == "about 200 tokens (log-normal, sigma 0.6)"
    assert Observed((80, 300, 80)).words == "80 to 300 tokens (3 observed lengths)"
    assert Observed((80,)).words == "80 tokens"
