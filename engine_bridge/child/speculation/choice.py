"""Which drafters a configuration asks for, in llama.cpp's order."""

from __future__ import annotations

from engine_bridge.child.speculation.draft_simple import DraftSimple
from engine_bridge.child.speculation.drafter import Drafter
from engine_bridge.child.speculation.in_turn import InTurn
from engine_bridge.child.speculation.ngram_simple import NgramSimple
from engine_bridge.settings.config import EngineConfig


def drafter_of(config: EngineConfig, draft_simple: DraftSimple | None) -> Drafter | None:
    """The drafter of ``config``, None without speculation.

    Args:
        config: What is to run.
        draft_simple: The draft model at work, None without one.
    """
    drafters: list[Drafter] = []
    if "ngram-simple" in config.spec_types:
        drafters.append(NgramSimple(config.ngram_size_n, config.ngram_size_m))
    if "draft-simple" in config.spec_types and draft_simple is not None:
        drafters.append(draft_simple)
    if len(drafters) > 1:
        return InTurn(tuple(drafters))
    return drafters[0] if drafters else None
