"""Rows of logits compared, against the definition computed slowly in float64."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_bridge.child.row_scores import RowComparer
from engine_bridge.quality_scores import TokenScores

VOCAB = 700


@pytest.fixture
def comparer() -> Iterator[RowComparer]:
    made = RowComparer(VOCAB, threads=2)
    yield made
    made.close()


def logits(rows: int, vocab: int = VOCAB, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(0, 3, (rows, vocab)).astype(np.float32)


def slowly(base: NDArray[np.float32], row: NDArray[np.float32]) -> float:
    """The divergence over the tokens that the base finds likelier than exp(-16), as the tool."""
    log_p = base.astype(np.float64) - math.log(sum(math.exp(v) for v in base.astype(float)))
    log_q = row.astype(np.float64) - math.log(sum(math.exp(v) for v in row.astype(float)))
    return float(sum(math.exp(p) * (p - q) for p, q in zip(log_p, log_q, strict=True) if p > -16))


def test_that_a_divergence_is_the_one_done_by_hand() -> None:
    # p = (1/2, 1/4, 1/4), q = (1/4, 1/2, 1/4): KLD = 1/2 ln 2 - 1/4 ln 2 = 1/4 ln 2.
    base = np.log(np.array([[2.0, 1.0, 1.0]], np.float32)) + np.float32(7)
    row = np.log(np.array([[1.0, 2.0, 1.0]], np.float32)) - np.float32(3)
    comparer = RowComparer(3, threads=1)
    scores = comparer.compare(base, row, np.array([1], np.int32))
    comparer.close()
    assert scores.kld[0] == pytest.approx(math.log(2) / 4, rel=1e-6)
    assert scores.nll_base[0] == pytest.approx(math.log(4), rel=1e-6)
    assert scores.nll[0] == pytest.approx(math.log(2), rel=1e-6)
    assert not scores.is_same[0]


def test_that_rows_have_the_divergence_of_the_definition(comparer: RowComparer) -> None:
    base = logits(37)
    candidate = base + np.random.default_rng(1).normal(0.3, 0.05, base.shape).astype(np.float32)
    came = np.arange(37, dtype=np.int32)
    scores = comparer.compare(base, candidate, came)
    expected = [slowly(b, c) for b, c in zip(base, candidate, strict=True)]
    assert scores.kld == pytest.approx(expected, rel=1e-4)
    assert scores.kld.mean() == pytest.approx(np.mean(expected), rel=1e-5)
    wide = base.astype(np.float64)
    nll = np.log(np.exp(wide).sum(axis=1)) - wide[np.arange(37), came]
    assert scores.nll_base == pytest.approx(nll, rel=1e-6)
    assert list(scores.is_same) == list(base.argmax(axis=1) == candidate.argmax(axis=1))


def test_that_a_row_compared_with_itself_diverges_by_nothing(comparer: RowComparer) -> None:
    base = logits(50)
    scores = comparer.compare(base, base.copy(), np.zeros(50, np.int32))
    assert np.abs(scores.kld).max() < 1e-9
    assert scores.is_same.all()
    assert np.array_equal(scores.nll, scores.nll_base)


def test_that_a_shift_of_all_logits_changes_nothing(comparer: RowComparer) -> None:
    base = logits(20)
    scores = comparer.compare(base, base + np.float32(11.5), np.zeros(20, np.int32))
    assert np.abs(scores.kld).max() < 1e-5


def test_that_tokens_which_the_base_all_but_rules_out_are_left_out() -> None:
    # The third token has a share of exp(-20): it would add exp(-20) * 30 here.
    base = np.array([[0.0, 0.0, -20.0]], np.float32)
    row = np.array([[0.0, 0.0, -50.0]], np.float32)
    comparer = RowComparer(3, threads=1)
    scores = comparer.compare(base, row, np.array([0], np.int32))
    ruled_out = comparer.compare(
        np.array([[0.0, 0.0, -np.inf]], np.float32),
        np.array([[0.0, 0.0, -np.inf]], np.float32),
        np.array([0], np.int32),
    )
    comparer.close()
    assert abs(scores.kld[0]) < 5e-9
    assert ruled_out.kld[0] == 0.0


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_that_no_row_is_lost_on_the_way_through_threads(rows: int) -> None:
    comparer = RowComparer(VOCAB, threads=3)
    base, candidate = logits(rows), logits(rows, seed=1)
    together = comparer.compare(base, candidate, np.zeros(rows, np.int32))
    one_by_one = [
        comparer.compare(base[at : at + 1], candidate[at : at + 1], np.zeros(1, np.int32))
        for at in range(rows)
    ]
    comparer.close()
    assert np.array_equal(together.kld, TokenScores.joined(one_by_one).kld)


def test_that_memory_does_not_grow_with_the_rows() -> None:
    vocab = 32_000
    base = logits(8, vocab).repeat(16, axis=0)  # 16 MB
    candidate = base + np.float32(0.1)
    comparer = RowComparer(vocab, threads=2)
    came = np.zeros(len(base), np.int32)
    tracemalloc.start()
    comparer.compare(base, candidate, came)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    comparer.close()
    # A copy of one of the matrices would be 16 MB; the buffers stood before.
    assert peak_bytes < 2_000_000
