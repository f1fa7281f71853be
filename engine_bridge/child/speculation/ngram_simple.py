"""ngram-simple: what followed the latest words the last time they occurred.

Drafts exactly what llama.cpp's ``common_ngram_simple_draft`` (common/ngram-map.cpp) drafts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.speculation.drafter import NOTHING, Forgetful, Wanted
from engine_bridge.child.speculation.ngram_search import starts_of
from engine_bridge.settings.config import EngineConfig


class NgramSimple(Forgetful):
    """Looks the last tokens up in the text before them.

    Attributes:
        match_tok: Last tokens that must have occurred before, at least 1.
        draft_tok: Most tokens copied from behind that place. Nothing is drafted where fewer than
            ``match_tok`` can be copied, so a draft length below it never drafts: llama.cpp's rule.
    """

    def __init__(self, config: EngineConfig) -> None:
        """Look up as ``config`` says."""
        self.set_live(config)

    def set_live(self, config: EngineConfig) -> None:
        """Take other lengths."""
        self.match_tok, self.draft_tok = config.ngram_size_n, config.ngram_size_m

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """Look every text up in itself."""
        return [self.looked_up(one.history, one.most_tok) for one in wanted]

    def looked_up(self, history: NDArray[np.int32], most_tok: int) -> NDArray[np.int32]:
        """Tokens that followed the latest earlier occurrence of the last ``match_tok`` tokens."""
        n, m = self.match_tok, self.draft_tok
        before = len(history) - 1  # llama.cpp counts the text without the token just drawn
        if before <= n + m + 1 or m < n:
            return NOTHING
        # Start 0 is never looked at: it means "no match" in llama.cpp.
        starts = starts_of(history, history[-n:], 1, before - n - 1)
        if not starts.size:
            return NOTHING
        at = int(starts[-1])
        length = min(m, before - (at + n))
        if length < n:
            return NOTHING
        return history[at + n : at + n + min(length, most_tok)]
