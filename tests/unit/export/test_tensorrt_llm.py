"""TensorRT-LLM: flags with underscores and a YAML of options beside them."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
import yaml

from app.export import tensorrt_llm
from app.export.dialect import Export
from app.export.engine_words import engine_words
from app.export.other_weights import DRAFT_PLACE
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.engine_line import flags_of
from tests.unit.fake_client import model_facts


def _export(values: dict[str, object]) -> Export:
    return tensorrt_llm.export(EngineConfig.from_values(values), None, model_facts())


def _flags(values: dict[str, object]) -> dict[str, list[str]]:
    return flags_of(shlex.split(_export(values).text)[2:], engine_words("tensorrt_llm"))


def _options(values: dict[str, object]) -> dict[str, Any]:
    (file,) = _export(values).files
    read: dict[str, Any] = yaml.safe_load(file.text)
    return read


def test_that_the_line_reads_the_file_beside_it() -> None:
    words = shlex.split(_export({}).text)
    assert words[:3] == ["trtllm-serve", "serve", "<MODEL: hub name or folder>"]
    assert words[words.index("--config") + 1] == _export({}).files[0].name


def test_that_context_slots_and_pool_are_three_numbers() -> None:
    values: dict[str, object] = {"ctx_per_slot_tok": 4096, "slots": 6, "batch_tok": 1024}
    flags = _flags(values)
    assert flags["--max_seq_len"] == ["4096"]
    assert flags["--max_batch_size"] == ["6"]
    assert flags["--max_num_tokens"] == ["1024"]
    assert "--enable_chunked_prefill" in flags  # a prompt may be longer than a step
    assert _options(values)["kv_cache_config"]["max_tokens"] == 24576
    shared = values | {"kv_unified": True, "ctx_total_tok": 8192}
    assert _options(shared)["kv_cache_config"]["max_tokens"] == 8192


@pytest.mark.parametrize(
    ("type_k", "type_v", "said"),
    [
        ("f16", "f16", "auto"), ("bf16", "bf16", "bfloat16"), ("f32", "f32", "float32"),
        ("f32", "f16", "float32"), ("q8_0", "q8_0", "fp8"), ("q4_0", "q4_0", "fp8"),
    ],
)  # fmt: skip
def test_that_the_cache_s_format_stands_in_the_file(type_k: str, type_v: str, said: str) -> None:
    values: dict[str, object] = {"cache_type_k": type_k, "cache_type_v": type_v}
    assert _options(values)["kv_cache_config"]["dtype"] == said


def test_that_reuse_and_ram_are_options() -> None:
    cache = _options({"cache_prompt": False, "cache_ram_mib": 2048})["kv_cache_config"]
    assert cache["enable_block_reuse"] is False
    assert cache["host_cache_size"] == 2 * 2**30
    assert "host_cache_size" not in _options({})["kv_cache_config"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"spec_types": ("draft-simple",), "draft_n_max": 4},
            {"decoding_type": "Draft_Target", "max_draft_len": 4, "speculative_model": DRAFT_PLACE},
        ),
        (
            {"spec_types": ("draft-mtp",), "draft_n_max": 1},
            {"decoding_type": "MTP", "max_draft_len": 1},
        ),
        (
            {"spec_types": ("ngram-simple",), "ngram_size_n": 3, "ngram_size_m": 7},
            {"decoding_type": "NGram", "max_draft_len": 7, "max_matching_ngram_size": 3},
        ),
        (
            {"spec_types": ("ngram-mod",), "ngram_mod_n_match": 16, "ngram_mod_n_max": 32},
            {"decoding_type": "NGram", "max_draft_len": 32, "max_matching_ngram_size": 16},
        ),
        ({"spec_types": ("ngram-cache",)}, {"decoding_type": "NGram", "max_draft_len": 8}),
        ({}, None),
    ],
)
def test_that_drafts_are_options(values: dict[str, object], said: dict[str, object] | None) -> None:
    assert _options(values).get("speculative_config") == said


def test_that_boards_are_counted_and_their_choice_is_told() -> None:
    values: dict[str, object] = {"devices": ("CUDA1", "CUDA3"), "split_mode": "tensor"}
    assert _flags(values)["--tensor_parallel_size"] == ["2"]
    assert "CUDA_VISIBLE_DEVICES=1,3" in _export(values).not_carried["devices"]


def test_that_sampling_is_left_to_requests() -> None:
    not_carried = _export({"temperature": 0.2}).not_carried
    assert {"temperature", "top_k", "max_new_tok", "grammar"} <= set(not_carried)
    assert "with each request" in not_carried["temperature"]
