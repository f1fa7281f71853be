"""Which drafters a configuration asks for, in llama.cpp's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine_bridge.child.speculation.drafter import Drafter
from engine_bridge.child.speculation.lookup_counts import LookupCounts
from engine_bridge.child.speculation.ngram_cache import NgramCache
from engine_bridge.child.speculation.ngram_map_k import ngram_map_k
from engine_bridge.child.speculation.ngram_map_k4v import ngram_map_k4v
from engine_bridge.child.speculation.ngram_mod import NgramMod
from engine_bridge.child.speculation.ngram_simple import NgramSimple
from engine_bridge.settings.config import EngineConfig

# Drafters that need nothing but the text, by their kind, in llama.cpp's order.
_OF_THE_TEXT: dict[str, Callable[[EngineConfig], Drafter]] = {
    "ngram-simple": NgramSimple,
    "ngram-map-k": ngram_map_k,
    "ngram-map-k4v": ngram_map_k4v,
    "ngram-mod": NgramMod,
}


def drafters_of(
    config: EngineConfig,
    held: Mapping[str, Drafter],
    by_model: Mapping[str, Drafter],
    read: Callable[[str], LookupCounts],
) -> dict[str, Drafter]:
    """The drafters of ``config`` by their kind, the one to ask first in front.

    Args:
        config: What is to run.
        held: Drafters made before; they go on with what they remember.
        by_model: Drafters with a model at work, in llama.cpp's order; they go last.
        read: Gives the counts of a file.
    """
    chosen: dict[str, Drafter] = {}
    for kind, make in _OF_THE_TEXT.items():
        if kind in config.spec_types:
            chosen[kind] = held[kind] if kind in held else make(config)
    if "ngram-cache" in config.spec_types:
        chosen["ngram-cache"] = held.get("ngram-cache") or NgramCache(config, read)
    chosen |= {kind: one for kind, one in by_model.items() if kind in config.spec_types}
    return chosen
