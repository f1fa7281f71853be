"""The drafters of a desk: each asks for what those before it left without a draft.

The order is llama.cpp's (``common_speculative_draft``): drafters that need no model go first, and
what became of a draft is told to all, as its own to the one that made it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.speculation.drafter import NOTHING, Drafter, Wanted


class InTurn:
    """Drafters in order of precedence.

    Attributes:
        drafters: The one to ask first in front.
    """

    def __init__(self, drafters: Sequence[Drafter]) -> None:
        """Ask ``drafters``."""
        self.drafters = tuple(drafters)
        self._last: dict[int, Drafter] = {}  # slot: who made its latest draft

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """The first draft that is not empty, for each text, at most ``most_tok`` long."""
        drafts = [NOTHING] * len(wanted)
        left = list(range(len(wanted)))
        for drafter in self.drafters:
            for number, draft in zip(
                left, drafter.draft([wanted[number] for number in left]), strict=True
            ):
                if draft.size:
                    drafts[number] = draft[: wanted[number].most_tok]
                    self._last[wanted[number].seq] = drafter
            left = [number for number in left if not drafts[number].size]
            if not left:
                break
        return drafts

    def begin(self, seq: int, prompt: NDArray[np.int32]) -> None:
        """Tell all that a prompt was read."""
        for drafter in self.drafters:
            drafter.begin(seq, prompt)

    def accept(self, seq: int, accepted_tok: int) -> None:
        """Tell all what became of the latest draft of a slot."""
        made_it = self._last[seq]
        for drafter in self.drafters:
            drafter.accept(seq, accepted_tok, is_own=drafter is made_it)

    def forget(self, seq: int) -> None:
        """Make all forget what they saw in a slot."""
        for drafter in self.drafters:
            drafter.forget(seq)
