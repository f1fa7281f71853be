"""ngram-map-k4v: what mostly followed the last tokens, where they were followed by several things.

Drafts what llama.cpp's ngram-map-k4v drafts (``common_ngram_map_draft``): up to four continuations
of an n-gram are counted, and nothing is drafted while none of them is twice as frequent as the
others together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.speculation.ngram_map import MOST_COUNTED, Key, NgramMaps, TextMap, Value
from engine_bridge.child.speculation.ngram_search import starts_of
from engine_bridge.settings.config import EngineConfig


class _KeysAndValues(TextMap):
    """A map whose keys have up to four values each."""

    def _chosen(
        self, text: NDArray[np.int32], wanted: NDArray[np.int32], key: Key, match: int
    ) -> Value | None:
        if key.hits < self.min_hits:
            return None
        self._count(text, wanted, key, match)
        # The first of the most frequent; it is its count that decides, and where the key stood
        # last that is copied.
        best = max(key.values, key=lambda value: value.seen)
        others = sum(value.seen for value in key.values) - best.seen
        return None if others > 0 and best.seen < 2 * others else best

    def _count(
        self, text: NDArray[np.int32], wanted: NDArray[np.int32], key: Key, match: int
    ) -> None:
        """Count what followed ``key`` since the last time, that last place once more."""
        behind = starts_of(text, wanted, key.counted_to, match) + self._n
        followers = text[behind[:, np.newaxis] + np.arange(self._m)]
        for value in key.values:
            if not behind.size:
                break
            if value.start == 0:
                value.start, value.seen, value.draft_tok = int(behind[0]), 0, self._m
            known = text[value.start : value.start + self._m]
            # A value of an earlier turn may reach beyond the text.
            is_it = (followers == known).all(axis=1) if len(known) == self._m else behind < 0
            value.seen = min(value.seen + int(is_it.sum()), MOST_COUNTED)
            behind, followers = behind[~is_it], followers[~is_it]
        key.counted_to = match

    def _outlives(self, key: Key, stays_to: int) -> bool:
        if key.start >= stays_to:
            return False
        kept = [value for value in key.values if value.start < stays_to]
        gone = [value for value in key.values if value.start >= stays_to]
        for value in gone:
            value.start = value.seen = 0
        key.values = kept + gone
        return key.values[0].start > 0


def ngram_map_k4v(config: EngineConfig) -> NgramMaps:
    """The drafter for ``config``."""
    return NgramMaps(_KeysAndValues, config)
