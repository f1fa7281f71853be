"""Figures of scored tokens, against the formulas of llama.cpp's tool written down once more."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine_bridge.quality_scores import TokenScores, mean_of, share_of, text_figures

CTX_TOK = 64
SCORED = CTX_TOK - 1 - CTX_TOK // 2


def made_up(seed: int) -> TokenScores:
    random = np.random.default_rng(seed)
    nll_base = random.gamma(2.0, 1.5, SCORED)
    return TokenScores(
        nll_base=nll_base,
        nll=nll_base + random.normal(0.01, 0.1, SCORED),
        kld=random.gamma(0.5, 0.02, SCORED),
        is_same=random.random(SCORED) < 0.9,
    )


def tool_mean(values: np.ndarray) -> tuple[float, float]:
    """``mean_and_uncertainty`` of perplexity.cpp: sums, and the difference of two of them."""
    count = len(values)
    mean = sum(values) / count
    variance = sum(values * values) / count - mean * mean
    return mean, math.sqrt(variance / (count - 1))


def test_that_a_mean_and_its_error_are_those_done_by_hand() -> None:
    # Mean 2.5; squared distances 2.25, 0.25, 0.25, 2.25: variance 1.25, of the mean 1.25 / 3.
    estimate = mean_of(np.array([1.0, 2.0, 3.0, 4.0]))
    assert estimate.value == 2.5
    assert estimate.error == pytest.approx(math.sqrt(1.25 / 3))


def test_that_a_share_and_its_error_are_those_done_by_hand() -> None:
    estimate = share_of(np.array([True, True, True, False]))
    assert estimate.value == 0.75
    assert estimate.error == pytest.approx(math.sqrt(0.75 * 0.25 / 3))


def test_that_one_token_has_no_error() -> None:
    assert mean_of(np.array([3.0])).error == 0.0
    assert share_of(np.array([True])).error == 0.0


def test_that_the_figures_are_those_of_the_tools_formulas() -> None:
    chunks = [made_up(1), made_up(2), made_up(3)]
    found = text_figures(chunks, CTX_TOK)
    both = TokenScores.joined(chunks)

    (log_ppl, log_error), (log_base, base_error) = tool_mean(both.nll), tool_mean(both.nll_base)
    count = both.kld.size
    covariance = (sum(both.nll * both.nll_base) / count - log_ppl * log_base) / (count - 1)
    ratio_error = math.sqrt(log_error**2 + base_error**2 - 2 * covariance)
    kld, kld_error = tool_mean(both.kld)

    assert (found.chunks, found.tokens) == (3, 3 * SCORED)
    assert found.ppl.value == pytest.approx(math.exp(log_ppl), rel=1e-12)
    assert found.ppl.error == pytest.approx(math.exp(log_ppl) * log_error, rel=1e-9)
    assert found.ppl_base.value == pytest.approx(math.exp(log_base), rel=1e-12)
    assert found.ppl_ratio.value == pytest.approx(math.exp(log_ppl - log_base), rel=1e-12)
    assert found.ppl_ratio.error == pytest.approx(found.ppl_ratio.value * ratio_error, rel=1e-6)
    assert (found.kld.value, found.kld.error) == pytest.approx((kld, kld_error), rel=1e-9)
    ordered = sorted(both.kld)
    assert found.kld_max == ordered[-1]
    place = 0.99 * (count - 1)
    below, part = ordered[int(place)], place - int(place)
    assert found.kld_p99 == pytest.approx((1 - part) * below + part * ordered[int(place) + 1])


def test_that_every_token_stands_in_one_stretch_of_the_window() -> None:
    chunks = [made_up(1), made_up(2)]
    depths = text_figures(chunks, CTX_TOK).depths
    assert (depths[0].begin_tok, depths[-1].end_tok) == (CTX_TOK // 2, CTX_TOK - 1)
    assert [d.end_tok for d in depths[:-1]] == [d.begin_tok for d in depths[1:]]
    assert sum(d.tokens for d in depths) == 2 * SCORED


def test_that_a_stretch_has_the_tokens_of_its_positions() -> None:
    high = TokenScores(
        nll_base=np.ones(SCORED), nll=np.ones(SCORED),
        kld=np.arange(SCORED, dtype=np.float64), is_same=np.arange(SCORED) < SCORED // 2,
    )  # fmt: skip
    depths = text_figures([high, high], CTX_TOK).depths
    first, last = depths[0], depths[-1]
    assert first.kld.value == pytest.approx((first.tokens / 2 - 1) / 2)
    assert last.kld.value > first.kld.value
    assert (first.same_top.value, last.same_top.value) == (1.0, 0.0)
