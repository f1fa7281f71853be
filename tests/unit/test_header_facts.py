"""Facts of a model from its header alone, against llama.cpp's own dry run where it can be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.planning import plan_in_throwaway_process
from engine_bridge.gguf_window import GgufError
from engine_bridge.header_facts import HeaderFacts, KvBytes, read_header_facts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from tests import models
from tests.tiny_model import TinyLlama, write_tiny_llama
from tests.unit.gguf_bytes import Gguf, llama_values

CTX_TOK = 8192
UBATCH_TOK = 512


def facts_of(folder: Path, values: dict[str, object]) -> HeaderFacts:
    path = folder / "small.gguf"
    path.write_bytes(Gguf(values).file())
    return read_header_facts(path)


def of_architecture(arch: str, **changes: object) -> dict[str, object]:
    """The small llama's header under another architecture's keys."""
    values = llama_values(**changes)
    renamed = {key.replace("llama.", f"{arch}.", 1): value for key, value in values.items()}
    return renamed | {"general.architecture": arch}


def cache_bytes(facts: HeaderFacts, cache_type: str, ctx_tok: int) -> int:
    """What one slot's cache takes by the facts: windowed layers keep the window and a batch."""
    per_token = facts.kv_bytes_per_token(cache_type)
    assert per_token is not None
    kept = pad_context_tok(min(ctx_tok, facts.window_tok + UBATCH_TOK))
    return per_token.full * ctx_tok + per_token.windowed * kept


def planned_cache_bytes(path: Path, cache_type: str) -> int:
    config = EngineConfig.from_values(
        {
            "model_path": str(path), "slots": 1, "ctx_per_slot_tok": CTX_TOK, "flash_attn": "on",
            "cache_type_k": cache_type, "cache_type_v": cache_type, "ubatch_tok": UBATCH_TOK,
        }
    )  # fmt: skip
    return plan_in_throwaway_process(config).plan.bytes.kv


@pytest.mark.engine
@pytest.mark.parametrize("cache_type", ["f16", "q8_0", "q4_0"])
def test_that_bytes_per_token_are_what_the_engine_allocates(
    tmp_path: Path, cache_type: str
) -> None:
    shape = TinyLlama(layers=3, heads=8, kv_heads=2, head_dim=64, ctx_train_tok=CTX_TOK)
    path = write_tiny_llama(tmp_path / "tiny.gguf", shape)
    facts = read_header_facts(path)
    assert cache_bytes(facts, cache_type, CTX_TOK) == planned_cache_bytes(path, cache_type)


@pytest.mark.engine
@pytest.mark.parametrize("cache_type", ["f16", "q8_0"])
def test_that_windowed_layers_are_counted_apart(cache_type: str) -> None:
    path = models.gemma_path()
    facts = read_header_facts(path)
    assert (facts.windowed_layers, facts.cached_layers, facts.window_tok) == (15, 18, 512)
    assert cache_bytes(facts, cache_type, CTX_TOK) == planned_cache_bytes(path, cache_type)


def test_that_a_header_says_what_a_person_wants_to_know(tmp_path: Path) -> None:
    values = llama_values() | {
        "general.license": "apache-2.0",
        "tokenizer.chat_template": "{{ messages }}",
    }
    facts = facts_of(tmp_path, values)
    assert (facts.name, facts.architecture, facts.layers) == ("Small", "llama", 2)
    assert (facts.heads, facts.kv_heads, facts.gqa_ratio) == (4, 2, 2.0)
    assert (facts.ctx_train_tok, facts.vocab) == (4096, 3)
    assert facts.has_chat_template
    assert facts.licence == "apache-2.0"
    assert facts.mix == (("Q8_0", 64 * 68), ("F32", 768))


def test_that_every_cache_type_has_its_bytes(tmp_path: Path) -> None:
    shape = TinyLlama(layers=2, kv_heads=2, head_dim=32)
    facts = read_header_facts(write_tiny_llama(tmp_path / "tiny.gguf", shape))
    values = 2 * 2 * 2 * 32  # K and V, layers, KV heads, head
    for name, kind in CACHE_TYPES.items():
        expected = values // kind.block_values * kind.block_bytes
        assert facts.kv_bytes_per_token(name) == KvBytes(expected, 0)


def test_that_a_head_that_does_not_divide_into_blocks_has_no_quantised_cache(
    tmp_path: Path,
) -> None:
    facts = facts_of(tmp_path, llama_values(attention__key_length=80, attention__value_length=80))
    assert facts.kv_bytes_per_token("q8_0") is None
    assert facts.kv_bytes_per_token("f16") == KvBytes(2 * 2 * 2 * 80 * 2, 0)


def test_that_experts_are_counted(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, llama_values(expert_count=8, expert_used_count=2))
    assert (facts.experts, facts.experts_used) == (8, 2)


def test_that_a_recurrent_model_promises_no_cache(tiny_mamba_path: Path) -> None:
    facts = read_header_facts(tiny_mamba_path)
    assert facts.is_recurrent
    assert facts.cache == ()
    assert facts.kv_bytes_per_token("f16") == KvBytes(0, 0)


def test_that_an_mmproj_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(GgufError, match="vision part"):
        facts_of(tmp_path, {"general.architecture": "clip", "general.type": "mmproj"})


WINDOW = {"attention__sliding_window": 64}
WINDOWS = [
    ("llama", 4, WINDOW, (0, 0)),  # llama.cpp ignores it there
    ("gemma2", 4, {}, (4096, 2)),
    ("gemma2", 4, WINDOW, (64, 2)),
    ("gemma3", 12, WINDOW, (64, 10)),
    ("gemma3", 12, {}, (0, 0)),
    ("cohere2", 8, WINDOW, (64, 6)),
    ("exaone4", 30, WINDOW, (0, 0)),
    ("exaone4", 64, {}, (4096, 48)),
    ("llama4", 8, {"attention__sliding_window": 0}, (0, 0)),
    ("llama4", 8, {}, (8192, 6)),
    ("gemma4", 4, WINDOW | {"attention__sliding_window_pattern": [1, 1, 1, 0]}, (64, 3)),
]


@pytest.mark.parametrize(("arch", "layers", "changes", "expected"), WINDOWS)
def test_that_windows_follow_llama_cpp(
    tmp_path: Path, arch: str, layers: int, changes: dict[str, object], expected: tuple[int, int]
) -> None:
    facts = facts_of(tmp_path, of_architecture(arch, block_count=layers, **changes))
    assert (facts.window_tok, facts.windowed_layers) == expected


def test_that_a_name_is_one_short_line(tmp_path: Path) -> None:
    """It stands on buttons and with every stored answer, and whoever made the file wrote it."""
    for written, shown in (
        ("  Two \n lines\t", "Two lines"),
        ("gnp\u202e.live\0 \u200bx", "gnp.live x"),
        ("\u202e \u200b", "small"),
        ("世界 🦙", "世界 🦙"),
        ("word " * 10_000, "word " * 23 + "word…"),
    ):
        values = llama_values() | {"general.name": written, "general.license": written}
        facts = facts_of(tmp_path, values)
        assert facts.name == shown
        assert "\n" not in facts.licence


def test_that_an_architecture_of_megabytes_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(GgufError, match="is no name") as caught:
        facts_of(tmp_path, llama_values() | {"general.architecture": "llama" * 100_000})
    assert len(str(caught.value)) < 200
