"""What every drafter offers to the loop.

Knows token arrays; must not know the engine, slots or requests.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Drafter(Protocol):
    """Guesses the tokens that follow a text, cheaply."""

    def draft(self, history: NDArray[np.int32], most_tok: int) -> NDArray[np.int32]:
        """Guess what follows.

        Args:
            history: (tokens,) int32: prompt and answer, the newest token last.
            most_tok: Most tokens wanted, at least 1.

        Returns:
            (drafted,) int32, at most ``most_tok`` long; empty where nothing is guessed.
        """
        ...
