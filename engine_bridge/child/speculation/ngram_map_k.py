"""ngram-map-k: what followed the last tokens when they first came again.

Drafts what llama.cpp's ngram-map-k drafts (``common_ngram_map_draft`` with ``key_only``). Unlike
ngram-simple it learns: of what stands behind an n-gram it drafts as much as was confirmed the last
time, and nothing once nothing was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.speculation.ngram_map import Key, NgramMaps, TextMap, Value
from engine_bridge.settings.config import EngineConfig


class _Keys(TextMap):
    """A map whose keys have one value each."""

    def _chosen(
        self, text: NDArray[np.int32], wanted: NDArray[np.int32], key: Key, match: int
    ) -> Value:
        return key.values[0]

    def _outlives(self, key: Key, stays_to: int) -> bool:
        return key.start < stays_to


def ngram_map_k(config: EngineConfig) -> NgramMaps:
    """The drafter for ``config``."""
    return NgramMaps(_Keys, config)
