"""Where some tokens stand in a text, and the hash that llama.cpp files them under.

Knows arrays of tokens; must not know drafts.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Unsigned = TypeVar("_Unsigned", np.uint32, np.uint64)


def starts_of(
    text: NDArray[np.int32], pattern: NDArray[np.int32], first: int, last: int
) -> NDArray[np.int64]:
    """Every start in ``first`` … ``last`` where ``pattern`` stands, ascending.

    Args:
        text: (tokens,) int32.
        pattern: (n,) int32, n at least 1.
        first: At least 0.
        last: At most ``len(text) - n``.
    """
    n = len(pattern)
    # Starts whose last token fits, then those of them whose token before that fits, and so on:
    # a frequent token (a line end) leaves thousands, and no Python loop may walk over them.
    starts = np.flatnonzero(text[first + n - 1 : last + n] == pattern[-1]) + first
    for offset in range(n - 2, -1, -1):
        if not starts.size:
            break
        starts = starts[text[starts + offset] == pattern[offset]]
    return starts


def hash_weights(factor: int, n: int, kind: type[_Unsigned]) -> NDArray[_Unsigned]:
    """What each of ``n`` tokens counts in h ← h · ``factor`` + token, modulo 2^bits of ``kind``."""
    modulus = 1 << (8 * np.dtype(kind).itemsize)
    return np.array([pow(factor, n - 1 - place, modulus) for place in range(n)], kind)


def hashes(tokens: NDArray[np.int32], weights: NDArray[_Unsigned]) -> NDArray[_Unsigned]:
    """The hash of every run of ``len(weights)`` tokens, in the text's order.

    Args:
        tokens: (tokens,) int32, at least as many as there are weights.
        weights: From ``hash_weights``; the arithmetic wraps around as theirs does.
    """
    return np.correlate(tokens.astype(weights.dtype), weights, "valid")
