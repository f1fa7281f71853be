"""What every drafter offers to the loop.

Knows token arrays; must not know requests or steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

NOTHING = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text that wants a draft.

    Attributes:
        seq: Number of its slot.
        history: (tokens,) int32: prompt and answer, the newest token last.
        most_tok: Most tokens wanted, at least 1.
    """

    seq: int
    history: NDArray[np.int32]
    most_tok: int


class Drafter(Protocol):
    """Guesses the tokens that follow some texts, cheaply, for all slots of a step at once."""

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """Guess what follows each text.

        Returns:
            A draft each, (drafted,) int32, at most ``most_tok`` long; empty where nothing is
            guessed.
        """
        ...
