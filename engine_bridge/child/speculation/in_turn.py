"""Several drafters: each asks for what those before it left without a draft.

The order is llama.cpp's (``common_speculative_draft``): drafters that need no model go first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.speculation.drafter import NOTHING, Drafter, Wanted


@dataclass(frozen=True)
class InTurn:
    """Drafters in order of precedence.

    Attributes:
        drafters: The one to ask first in front.
    """

    drafters: tuple[Drafter, ...]

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """The first draft that is not empty, for each text."""
        drafts = [NOTHING] * len(wanted)
        left = list(range(len(wanted)))
        for drafter in self.drafters:
            for number, draft in zip(
                left, drafter.draft([wanted[number] for number in left]), strict=True
            ):
                drafts[number] = draft
            left = [number for number in left if not drafts[number].size]
            if not left:
                break
        return drafts
