"""Which drafter a configuration asks for."""

from __future__ import annotations

from engine_bridge.child.speculation.drafter import Drafter
from engine_bridge.child.speculation.ngram_simple import NgramSimple
from engine_bridge.settings.config import EngineConfig


def drafter_of(config: EngineConfig) -> Drafter | None:
    """The drafter of ``config``, None without speculation."""
    if "ngram-simple" in config.spec_types:
        return NgramSimple(config.ngram_size_n, config.ngram_size_m)
    return None
