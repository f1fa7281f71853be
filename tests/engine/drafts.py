"""What the tests of draft models share: configurations, prompts, and a look at the drafter."""

from __future__ import annotations

from pathlib import Path

from engine_bridge.child.speculation.draft_simple import DraftSimple
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import InProcess, random_tokens, tiny_config

# An f32 cache and no flash attention: batch shapes must not decide between two tokens.
EXACT: dict[str, object] = {
    "cache_type_k": "f32", "cache_type_v": "f32", "draft_cache_type_k": "f32",
    "draft_cache_type_v": "f32", "flash_attn": "off", "ctx_per_slot_tok": 1024,
}  # fmt: skip


def drafting(target: Path, draft: Path, **values: object) -> EngineConfig:
    """The tiny configuration with ``draft`` as the draft model of ``target``."""
    return tiny_config(
        target, spec_types=["draft-simple"], draft_model_path=str(draft), **EXACT | values
    )


def prompts(count: int, tokens: int = 30) -> list[list[int]]:
    """Prompts of few different words."""
    return [random_tokens(tokens, seed=seed, high=310) for seed in range(count)]


def drafter_of(desk: InProcess) -> DraftSimple:
    """The draft model at work."""
    drafter = desk.batcher._drafting.drafters["draft-simple"]
    assert isinstance(drafter, DraftSimple)
    return drafter
