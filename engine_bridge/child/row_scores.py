"""Two matrices of logits compared row by row, as ``llama-perplexity --kl-divergence`` does it.

A row has as many values as the vocabulary has tokens, 30,000 to 260,000, and a chunk has hundreds
of rows: they are taken a few at a time in buffers that are used again, on several threads (numpy
lets go of the interpreter's lock), elementwise in float32, sums in float64.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_bridge.quality_scores import TokenScores

# llama.cpp's tool leaves tokens out of the divergence that the base finds less likely than this.
_LEAST_SHARE = math.exp(-16)
# Values of a buffer: three of them stay in the caches of a processor.
_BLOCK_VALUES = 1 << 19


@dataclass(frozen=True)
class _Buffers:
    """Room for some rows: shares of the base, differences of the two, which are left out."""

    weights: NDArray[np.float32]
    gaps: NDArray[np.float32]
    is_rare: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: int, vocab: int) -> _Buffers:
        shape = (rows, vocab)
        return cls(np.empty(shape, np.float32), np.empty(shape, np.float32), np.empty(shape, bool))


class RowComparer:
    """Scores rows of logits; close it when done.

    Args:
        vocab: Tokens of the vocabulary.
        threads: Threads that compute, at least 1.
    """

    def __init__(self, vocab: int, threads: int) -> None:
        """Reserve buffers for each thread."""
        self._rows = max(1, _BLOCK_VALUES // vocab)
        self._buffers = [_Buffers.of(self._rows, vocab) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="rows")

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def compare(
        self,
        base: NDArray[np.float32],
        candidate: NDArray[np.float32],
        came: NDArray[np.int32],
    ) -> TokenScores:
        """Score some rows (at least one).

        Args:
            base: Logits of the base, (rows, vocab).
            candidate: Logits of the candidate, (rows, vocab).
            came: The token that came after each row, (rows,).
        """
        ends = np.linspace(0, len(came), len(self._buffers) + 1).astype(int)

        def part(number: int) -> list[TokenScores]:
            begin, end = int(ends[number]), int(ends[number + 1])
            blocks = [slice(at, min(end, at + self._rows)) for at in range(begin, end, self._rows)]
            buffers = self._buffers[number]
            return [_scored(base[b], candidate[b], came[b], buffers) for b in blocks]

        parts = self._pool.map(part, range(len(self._buffers)))
        return TokenScores.joined([block for blocks in parts for block in blocks])


def _scored(
    base: NDArray[np.float32],
    candidate: NDArray[np.float32],
    came: NDArray[np.int32],
    buffers: _Buffers,
) -> TokenScores:
    rows = np.arange(len(came))
    weights, gaps = buffers.weights[: rows.size], buffers.gaps[: rows.size]
    is_rare = buffers.is_rare[: rows.size]
    top_base, top = base.argmax(axis=1), candidate.argmax(axis=1)
    most_base, most = base[rows, top_base], candidate[rows, top]

    np.subtract(candidate, most[:, None], out=weights)
    np.exp(weights, out=weights)
    log_sum = np.log(weights.sum(axis=1, dtype=np.float64)) + most

    np.subtract(base, most_base[:, None], out=weights)
    np.exp(weights, out=weights)
    total = weights.sum(axis=1, dtype=np.float64)
    log_sum_base = np.log(total) + most_base

    # log p - log q of a token is the difference of its logits less that of the two sums.
    shift = (log_sum_base - log_sum).astype(np.float32)
    np.less_equal(weights, (total * _LEAST_SHARE).astype(np.float32)[:, None], out=is_rare)
    with np.errstate(invalid="ignore"):  # tokens that both rule out: left out below
        np.subtract(base, candidate, out=gaps)
    np.subtract(gaps, shift[:, None], out=gaps)
    np.copyto(gaps, 0, where=is_rare)
    np.multiply(gaps, weights, out=gaps)
    return TokenScores(
        nll_base=log_sum_base - base[rows, came],
        nll=log_sum - candidate[rows, came],
        kld=gaps.sum(axis=1, dtype=np.float64) / total,
        is_same=top_base == top,
    )
