"""How sure a draft model is of its likeliest token."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# llama.cpp's draft sampler knows the ten likeliest tokens; a probability is a share among them.
_TOP_K = 10


def confidence(logits: NDArray[np.float32]) -> list[float]:
    """How sure each row of ``logits``, (rows, vocab), is of its likeliest token, from 0 to 1."""
    count = min(_TOP_K, logits.shape[1])
    top = np.partition(logits, logits.shape[1] - count, axis=1)[:, -count:]
    shares: list[float] = (1.0 / np.exp(top - top.max(axis=1, keepdims=True)).sum(axis=1)).tolist()
    return shares
