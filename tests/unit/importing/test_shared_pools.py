"""Engines whose conversations share one pool: nothing of it is multiplied on the desk."""

from __future__ import annotations

import pytest

from app.importing.found import Found
from app.importing.found_settings import settings_for
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value


@pytest.mark.parametrize("target", ["vllm", "sglang", "tensorrt-llm"])
@pytest.mark.parametrize(
    ("settings", "pool"),
    [
        ({"ctx_per_slot_tok": 32768, "slots": 6}, 32768),
        ({"ctx_per_slot_tok": 32768, "slots": 6, "ctx_total_tok": 100_096}, 100_096),
        ({"ctx_per_slot_tok": 32768, "slots": 1}, 32768),
    ],
)
def test_that_the_pool_is_not_multiplied(
    target: str, settings: dict[str, Value | None], pool: int
) -> None:
    config = EngineConfig().with_values(dict(settings_for(Found(target, settings)).values))
    assert config.kv_unified
    assert config.pool_tok == pool
    assert config.slot_cap_tok == 32768


def test_that_a_context_alone_is_shared_too() -> None:
    values = settings_for(Found("vllm", {"ctx_per_slot_tok": 8192})).values
    assert EngineConfig().with_values(dict(values)).pool_tok == 8192


def test_that_ollama_gives_each_slot_its_own() -> None:
    found = Found("ollama", {"ctx_per_slot_tok": 8192, "slots": 4, "kv_unified": False})
    config = EngineConfig().with_values(dict(settings_for(found).values))
    assert config.pool_tok == 4 * 8192
