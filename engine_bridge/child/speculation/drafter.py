"""What every drafter offers to the loop.

Knows token arrays; must not know requests or steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine_bridge.settings.config import EngineConfig

NOTHING = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text that wants a draft.

    Attributes:
        seq: Number of its slot.
        history: (tokens,) int32: prompt and answer, the newest token last. A view into the slot,
            valid during the call.
        most_tok: Most tokens wanted, at least 1.
        texts: How many texts grow in this step, with a draft or without: they wait for it.
    """

    seq: int
    history: NDArray[np.int32]
    most_tok: int
    texts: int = 1


class Drafter(Protocol):
    """Guesses the tokens that follow some texts, cheaply, for all slots of a step at once.

    A drafter may remember what it saw in a slot. The order of calls for a slot: ``forget`` if
    another conversation's text was there, ``begin`` once the prompt is read, then as often as
    wanted ``draft`` and, where something was drafted and verified, ``accept``.
    """

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """Guess what follows each text.

        Returns:
            A draft each, (drafted,) int32; empty where nothing is guessed. What is longer than
            ``most_tok`` is cut by ``InTurn``.
        """
        ...

    def begin(self, seq: int, prompt: NDArray[np.int32]) -> None:
        """Take note that a prompt was read in a slot and its answer begins.

        Not said again when a running text moves to a new context, nor of a text that runs while
        the drafter is switched on.

        Args:
            seq: Number of the slot.
            prompt: (tokens,) int32, without the first token of the answer; valid during the call.
        """
        ...

    def accept(self, seq: int, accepted_tok: int, *, is_own: bool) -> None:
        """Take note of how much of a draft the model confirmed.

        Args:
            seq: Number of the slot.
            accepted_tok: Tokens that it confirmed, from 0 to the draft's length.
            is_own: Whether this drafter made the draft; else another one did.
        """
        ...

    def set_live(self, config: EngineConfig) -> None:
        """Take other settings, keeping what still counts of what is remembered."""
        ...

    def forget(self, seq: int) -> None:
        """Drop what was seen in a slot: it belongs to another conversation, or is gone."""
        ...


class Forgetful:
    """Part of a drafter that needs the text alone and remembers nothing of it."""

    def begin(self, seq: int, prompt: NDArray[np.int32]) -> None:
        """Nothing to take note of."""

    def accept(self, seq: int, accepted_tok: int, *, is_own: bool) -> None:
        """Nothing to learn."""

    def forget(self, seq: int) -> None:
        """Nothing to drop."""
