"""Each sampler alone, on the scores of a real step, against what its paper says in numpy."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_bridge.child.candidates import Candidates
from engine_bridge.child.llama import Context, Model
from engine_bridge.child.sampler_chain import SamplerChain
from engine_bridge.child.sampling import add_samplers, biases_of, is_greedy
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import random_tokens, tiny_config

pytestmark = pytest.mark.engine
TEXT = [*random_tokens(12, seed=3), *random_tokens(12, seed=3), *random_tokens(5, seed=3)]
# Everything off, so that each test switches on what it is about.
OFF = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "seed": 1}
Scores = NDArray[np.float64]


@pytest.fixture(scope="module")
def context(few_words_path: Path) -> Iterator[Context]:
    """A context after one step over ``TEXT``."""
    config = tiny_config(few_words_path)
    model = Model.load(str(few_words_path), config)
    made = Context.create(model, config)
    batch, count = made.new_batch(len(TEXT)), len(TEXT)
    batch.token[:], batch.pos[:], batch.wants_logits[-1] = TEXT, range(count), 1
    assert made.decode(batch, count) == 0
    yield made
    made.close()
    model.close()


@pytest.fixture
def scores(context: Context) -> Scores:
    """What the step brought, sharper, so that filters have something to cut."""
    sharper: Scores = context.logits()[0].astype(np.float64) * 3
    return sharper


def _left(context: Context, scores: Scores, values: Mapping[str, object]) -> dict[int, float]:
    """Tokens that the samplers of ``values`` leave, with their scores before the draw."""
    config = EngineConfig.from_values({**OFF, **values})
    chain = SamplerChain()
    biases = biases_of(config)
    add_samplers(chain, config, context.model, biases, TEXT)
    candidates = Candidates(context.model.vocab)
    candidates.fill(context, len(TEXT) - 1)
    candidates.tokens["logit"] = scores
    candidates.apply(chain._chain)
    array = candidates._array
    left = ctypes.cast(array.data, ctypes.POINTER(type(array.data[0])))
    found = {left[n].id: float(left[n].logit) for n in range(array.size)}
    assert candidates.selected in found
    chain.close()
    return {token: score for token, score in found.items() if score > -np.inf}


def _probabilities(scores: Scores) -> Scores:
    shares = np.exp(scores - scores.max())
    whole: Scores = shares / shares.sum()
    return whole


def _reached(order: NDArray[np.int64], shares: Scores, sum_wanted: float) -> set[int]:
    """The first tokens of ``order`` whose shares reach a sum."""
    count = int(np.searchsorted(np.cumsum(shares[order]), sum_wanted)) + 1
    return set(order[:count].tolist())


def test_that_nothing_is_cut_while_all_is_off(context: Context, scores: Scores) -> None:
    left = _left(context, scores, {})
    assert len(left) == context.model.vocab
    assert left[7] == pytest.approx(scores[7], rel=1e-5)


def test_that_top_k_leaves_the_k_best(context: Context, scores: Scores) -> None:
    assert set(_left(context, scores, {"top_k": 9})) == set(np.argsort(-scores)[:9].tolist())


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_that_top_p_leaves_the_fewest_that_reach_the_sum(
    context: Context, scores: Scores, share: float
) -> None:
    shares = _probabilities(scores)
    assert set(_left(context, scores, {"top_p": share})) == _reached(
        np.argsort(-shares), shares, share
    )


def test_that_min_p_leaves_those_near_the_best(context: Context, scores: Scores) -> None:
    shares = _probabilities(scores)
    wanted = set(np.flatnonzero(shares >= 0.2 * shares.max()).tolist())
    assert 1 < len(wanted) < context.model.vocab
    assert set(_left(context, scores, {"min_p": 0.2})) == wanted


def test_that_typical_leaves_those_of_usual_surprise(context: Context, scores: Scores) -> None:
    shares = _probabilities(scores)
    surprise = -np.log(shares)
    order = np.argsort(np.abs(surprise - (shares * surprise).sum()))
    assert set(_left(context, scores, {"typical_p": 0.5})) == _reached(order, shares, 0.5)


def test_that_top_n_sigma_leaves_those_within_deviations(context: Context, scores: Scores) -> None:
    wanted = set(np.flatnonzero(scores >= scores.max() - 1.5 * scores.std()).tolist())
    assert 1 < len(wanted) < context.model.vocab
    assert set(_left(context, scores, {"top_n_sigma": 1.5})) == wanted


def test_that_xtc_leaves_the_last_of_the_likely(context: Context, scores: Scores) -> None:
    shares = _probabilities(scores)
    likely = np.flatnonzero(shares >= 0.02)
    assert len(likely) > 1
    kept = likely[shares[likely].argmin()]
    left = _left(context, scores, {"xtc_probability": 1.0, "xtc_threshold": 0.02})
    assert set(likely.tolist()) & set(left) == {int(kept)}
    assert len(left) == context.model.vocab - len(likely) + 1


@pytest.mark.parametrize(
    "values", [{"xtc_probability": 0.0}, {"xtc_probability": 1.0, "xtc_threshold": 0.6}]
)
def test_that_xtc_can_be_off(context: Context, scores: Scores, values: dict[str, object]) -> None:
    assert len(_left(context, scores, values)) == context.model.vocab


def test_that_the_temperature_divides_the_scores(context: Context, scores: Scores) -> None:
    left = _left(context, scores, {"temperature": 0.5})
    assert left[7] == pytest.approx(scores[7] / 0.5, rel=1e-5)


def test_that_the_range_moves_the_temperature_with_uncertainty(
    context: Context, scores: Scores
) -> None:
    shares = _probabilities(scores)
    entropy = -(shares * np.log(shares)).sum() / np.log(len(shares))
    made = 0.4 + (1.6 - 0.4) * entropy**2.0
    left = _left(context, scores, {"dynatemp_range": 0.6, "dynatemp_exponent": 2.0})
    assert left[7] == pytest.approx(scores[7] / made, rel=1e-3)


def test_that_penalties_count_the_window(context: Context, scores: Scores) -> None:
    window = 20
    values = {"repeat_penalty": 1.5, "presence_penalty": 0.5, "frequency_penalty": 0.25}
    left = _left(context, scores, {**values, "repeat_last_n_tok": window})
    tokens, counts = np.unique(TEXT[-window:], return_counts=True)
    wanted = scores.copy()
    seen = wanted[tokens]
    wanted[tokens] = np.where(seen > 0, seen / 1.5, seen * 1.5) - 0.5 - 0.25 * counts
    assert [left[t] for t in range(len(wanted))] == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def test_that_dry_punishes_what_would_go_on_with_a_passage(
    context: Context, scores: Scores
) -> None:
    values = {"dry_multiplier": 1.25, "dry_base": 2.0, "dry_allowed_tok": 3}
    left = _left(context, scores, values)
    # The last 5 tokens stood here before, twice, and this one followed; no breaker between.
    followed, repeated = TEXT[5], 5
    changed = {t for t, score in left.items() if abs(score - scores[t]) > 1e-3}
    punished = [t for t in range(len(TEXT)) if TEXT[t : t + repeated] == TEXT[-repeated:]]
    assert len(punished) == 3
    # The whole first passage stood before the second: 12 and 5 more.
    lengths = {followed: 17}
    assert changed == set(lengths)
    penalty = 1.25 * 2.0 ** (lengths[followed] - 3)
    assert left[followed] == pytest.approx(scores[followed] - penalty, rel=1e-4)


def test_that_biases_add_up_and_forbid(context: Context, scores: Scores) -> None:
    left = _left(context, scores, {"logit_bias": ("310+2", "310+0.5", "311-1", "312-inf")})
    assert left[310] == pytest.approx(scores[310] + 2.5, rel=1e-5)
    assert left[311] == pytest.approx(scores[311] - 1, rel=1e-5)
    assert 312 not in left


def test_that_mirostat_takes_the_place_of_filters(context: Context, scores: Scores) -> None:
    values = {"mirostat": 2, "mirostat_ent": 20.0, "top_k": 1, "repeat_penalty": 3.0}
    assert len(_left(context, scores, values)) > 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, True),
        ({"top_k": 5, "top_p": 0.5, "min_p": 0.2, "top_n_sigma": 1.0}, True),
        ({"logit_bias": ("5+1",)}, True),
        ({"adaptive_target": 0.3}, True),
        ({"mirostat": 2, "repeat_penalty": 1.5, "xtc_probability": 1.0}, True),
        ({"xtc_probability": 0.5, "xtc_threshold": 0.6}, True),
        ({"dry_multiplier": 1.0, "dry_last_n_tok": 0}, True),
        ({"xtc_probability": 0.5}, False),
        ({"typical_p": 0.9}, False),
        ({"dynatemp_range": 0.1}, False),
        ({"dry_multiplier": 0.8}, False),
        ({"repeat_penalty": 1.1}, False),
        ({"grammar": 'root ::= "a"'}, False),
        ({"json_schema": "{}"}, False),
        ({"temperature": 0.1}, False),
    ],
)
def test_that_no_chain_is_made_where_the_likeliest_token_is_drawn_anyway(
    context: Context, scores: Scores, values: dict[str, object], expected: bool
) -> None:
    config = EngineConfig.from_values({"temperature": 0.0, **values})
    assert is_greedy(config) is expected
    if expected and not config.logit_bias:
        left = _left(context, scores, {**OFF, "temperature": 0.0, **values})
        assert max(left, key=lambda token: left[token]) == scores.argmax()
