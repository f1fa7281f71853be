"""What is added to the scores of some tokens before the likeliest one is taken.

Pure arithmetic on rows of scores; must not know streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray


class Bias:
    """Biases of some tokens; minus infinity forbids one.

    Args:
        tokens: (biased,) int64, each once.
        values: (biased,) float32.
    """

    def __init__(self, tokens: NDArray[np.int64], values: NDArray[np.float32]) -> None:
        """Keep the parts."""
        self._tokens = tokens
        self._values = values
        self._touched = frozenset(tokens.tolist())
        self._raises = bool(np.any(values > 0))

    @property
    def matters_for(self) -> frozenset[int] | None:
        """Which likeliest tokens it can change into others; None for any."""
        return None if self._raises else self._touched

    @classmethod
    def of(cls, biases: Mapping[int, float]) -> Self | None:
        """``biases`` by token; None for none."""
        if not biases:
            return None
        tokens = np.fromiter(biases.keys(), np.int64, len(biases))
        return cls(tokens, np.fromiter(biases.values(), np.float32, len(biases)))

    def likeliest(self, row: NDArray[np.float32], unbiased: int) -> int:
        """The likeliest token of a row of scores, which may be changed.

        Args:
            row: (vocab,) scores.
            unbiased: The token with the best of them.
        """
        # Where nothing is raised, a best token that is not lowered stays the best.
        if not self._raises and unbiased not in self._touched:
            return unbiased
        row[self._tokens] += self._values
        return int(row.argmax())
