"""Why a turn computed tokens again: one test for each reason, as the chat is told it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_hybrid import TinyHybrid, write_tiny_hybrid
from tests.engine.tiny_window import write_tiny_window
from tests.tiny_model import TinyMamba, write_tiny_mamba

pytestmark = pytest.mark.engine
TEXT = random_tokens(300)


def config_of(path: Path, **values: object) -> EngineConfig:
    return tiny_config(path, batch_tok=128, ubatch_tok=64, **values)


def reason_of(desk: InProcess, prompt: list[int], conversation: str = "a", new_tok: int = 4) -> str:
    """Asks, and says why tokens were computed again; both events must say the same."""
    number = desk.ask(prompt, conversation=conversation, max_new_tok=new_tok, ignore_eog=True)
    reason = desk.finished(number).recompute_reason
    assert reason == desk.started(number).recompute_reason
    return reason


def test_that_a_changed_beginning_is_named(desk: InProcess, few_words_path: Path) -> None:
    desk.load(config_of(few_words_path))
    assert reason_of(desk, TEXT) == ""
    assert reason_of(desk, [*TEXT[:100], *random_tokens(200, seed=1)]) == (
        "The text differs from token 101 on: 203 computed tokens no longer apply."
    )


def test_that_a_window_that_moved_on_is_named(desk: InProcess, tmp_path: Path) -> None:
    desk.load(config_of(write_tiny_window(tmp_path / "window.gguf"), ctx_checkpoints=0))
    reason_of(desk, TEXT)
    reason = reason_of(desk, [*TEXT[:100], *random_tokens(50, seed=1)])
    assert "100 matching tokens are computed again" in reason
    assert "the sliding window of 64 tokens has moved on" in reason
    assert "--swa-full" in reason


@pytest.mark.parametrize("kind", ["mamba", "hybrid"])
def test_that_a_state_that_cannot_go_back_is_named(
    desk: InProcess, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / f"{kind}.gguf"
    if kind == "mamba":
        write_tiny_mamba(file, TinyMamba(vocab_tok=512))
    else:
        write_tiny_hybrid(file, TinyHybrid(seed=1))
    desk.load(config_of(file, ctx_checkpoints=0))
    reason_of(desk, TEXT)
    reason = reason_of(desk, [*TEXT[:100], *random_tokens(50, seed=1)])
    assert "100 matching tokens are computed again" in reason
    assert "keeps a state instead of a cache, of which no checkpoint is left" in reason


@pytest.mark.parametrize(
    "change", [{"cache_type_k": "f32"}, {"cache_type_v": "f32"}, {"flash_attn": "off"}], ids=str
)
def test_that_a_changed_setting_is_named(
    desk: InProcess, tmp_path: Path, change: dict[str, object]
) -> None:
    config = config_of(write_tiny_window(tmp_path / "window.gguf"), flash_attn="on")
    desk.load(config)
    reason_of(desk, TEXT)
    assert isinstance(desk.apply(config.with_values(change)), Applied)
    assert reason_of(desk, [*TEXT, 310]) == (
        "300 tokens are computed again: a changed setting made another cache."
    )


def test_that_who_took_the_slot_is_named(desk: InProcess, few_words_path: Path) -> None:
    desk.load(config_of(few_words_path, cache_ram_mib=0))
    reason_of(desk, TEXT)
    reason_of(desk, random_tokens(200, seed=1), "b")
    assert reason_of(desk, TEXT) == (
        "299 tokens are computed again: another conversation took the slot."
    )


def test_that_a_pool_that_was_short_is_named(desk: InProcess, few_words_path: Path) -> None:
    pool = {"slots": 3, "kv_unified": True, "ctx_total_tok": 512, "cache_ram_mib": 0}
    desk.load(config_of(few_words_path, **pool))
    reason_of(desk, TEXT)
    reason_of(desk, random_tokens(300, seed=1), "b")
    assert "the shared pool needed the cells for others" in reason_of(desk, TEXT)


def test_that_caching_that_is_off_is_named(desk: InProcess, few_words_path: Path) -> None:
    desk.load(config_of(few_words_path, cache_prompt=False))
    reason_of(desk, TEXT)
    assert "prompt caching is off" in reason_of(desk, TEXT)


def test_that_a_text_that_was_shifted_is_named(desk: InProcess, few_words_path: Path) -> None:
    """What the chat sends again is the whole text; the slot holds it without its middle."""
    desk.load(config_of(few_words_path, ctx_per_slot_tok=512, context_shift=True, keep_tok=20))
    reason_of(desk, TEXT, new_tok=300)
    assert reason_of(desk, [*TEXT, 310]) == (
        "280 tokens are computed again: a context shift had dropped a part of the text and moved "
        "up what follows."
    )
