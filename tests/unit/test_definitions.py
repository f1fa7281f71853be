"""The definitions, by hand-computed examples."""

from __future__ import annotations

import numpy as np
import pytest

from engine_bridge.metrics.definitions import (
    DEFINITIONS,
    acceptance,
    acceptance_by_position,
    expected_tokens_per_pass,
    goodput_req_s,
    itl_s,
    percentile,
    prefill_speed_tok_s,
    stream_speed_tok_s,
    throughput_tok_s,
    tpot_s,
    ttft_s,
)


@pytest.mark.parametrize("key", sorted(DEFINITIONS))
def test_that_every_definition_is_a_sentence(key: str) -> None:
    text = DEFINITIONS[key]
    assert text.endswith(".")
    assert 20 < len(text) < 300


def test_that_tpot_leaves_the_first_token_out() -> None:
    assert tpot_s(first_token_s=2.0, last_token_s=3.0, tokens=11) == pytest.approx(0.1)


@pytest.mark.parametrize("tokens", [0, 1])
def test_that_tpot_is_undefined_below_two_tokens(tokens: int) -> None:
    assert tpot_s(1.0, 1.0, tokens) is None
    assert stream_speed_tok_s(None) is None


def test_that_ttft_is_the_wait_for_the_first_token() -> None:
    assert ttft_s(10.0, 10.25) == pytest.approx(0.25)


def test_that_itl_counts_gaps_between_steps_not_tokens() -> None:
    assert itl_s([1.0, 1.1, 1.4]) == pytest.approx([0.1, 0.3])
    assert itl_s([1.0]).size == 0


def test_that_percentiles_leave_gaps_out() -> None:
    assert percentile([1.0, np.nan, 3.0, np.inf], 50) == 2.0
    assert percentile([np.nan], 99) is None
    assert percentile([], 50) is None


def test_that_speeds_are_inverses_and_quotients() -> None:
    assert stream_speed_tok_s(0.02) == pytest.approx(50)
    assert throughput_tok_s(200, 4.0) == 50
    assert throughput_tok_s(200, 0.0) is None
    assert prefill_speed_tok_s(1000, 400, 0.3) == pytest.approx(2000)
    assert prefill_speed_tok_s(400, 400, 0.3) is None


def test_that_goodput_needs_both_limits() -> None:
    requests = [
        (0.2, 0.02),  # good
        (0.9, 0.02),  # late first token
        (0.2, 0.09),  # slow text
        (None, None),  # no token at all
        (0.3, None),  # one token: judged by TTFT
    ]
    assert goodput_req_s(requests, 10.0, ttft_limit_s=0.8, tpot_limit_s=0.05) == pytest.approx(0.2)
    assert goodput_req_s([], 0.0, 0.8, 0.05) is None


def test_that_acceptance_is_none_without_drafts() -> None:
    assert acceptance(0, 0) is None
    assert acceptance(208, 162) == pytest.approx(162 / 208)
    assert acceptance_by_position((10, 8, 0), (8, 4)) == (0.8, 0.5, None)


@pytest.mark.parametrize(
    ("alpha", "drafted", "expected"),
    [(0.0, 5, 1.0), (1.0, 5, 6.0), (0.5, 1, 1.5), (0.8, 4, (1 - 0.8**5) / 0.2)],
)
def test_that_expected_tokens_follow_the_formula(
    alpha: float, drafted: int, expected: float
) -> None:
    assert expected_tokens_per_pass(alpha, drafted) == pytest.approx(expected)


@pytest.mark.parametrize(("alpha", "drafted"), [(-0.1, 1), (1.1, 1), (float("nan"), 1), (0.5, -1)])
def test_that_an_impossible_draft_is_refused(alpha: float, drafted: int) -> None:
    with pytest.raises(ValueError, match="draft"):
        expected_tokens_per_pass(alpha, drafted)
