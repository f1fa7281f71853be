"""SGLang: one pool of a size that can be said, and drafts by steps."""

from __future__ import annotations

import json
import shlex

import pytest

from app.export import sglang
from app.export.carried import Manner
from app.export.dialect import Export
from app.export.engine_words import engine_words
from app.export.other_weights import DRAFT_PLACE
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.engine_line import flags_of
from tests.unit.fake_client import model_facts


def _export(values: dict[str, object]) -> Export:
    return sglang.export(EngineConfig.from_values(values), None, model_facts())


def _flags(values: dict[str, object]) -> dict[str, list[str]]:
    return flags_of(shlex.split(_export(values).text)[1:], engine_words("sglang"))


@pytest.mark.parametrize(
    ("values", "context", "requests", "pool"),
    [
        ({"ctx_per_slot_tok": 4096, "slots": 4}, "4096", "4", "16384"),
        ({"ctx_per_slot_tok": 8192, "slots": 6, "kv_unified": True, "ctx_total_tok": 20480},
         "8192", "6", "20480"),
        # Nothing is multiplied: one slot has its context and the pool is as large.
        ({"ctx_per_slot_tok": 2048, "slots": 1}, "2048", "1", "2048"),
    ],
)  # fmt: skip
def test_that_context_and_pool_are_two_numbers(
    values: dict[str, object], context: str, requests: str, pool: str
) -> None:
    flags = _flags(values)
    assert flags["--context-length"] == [context]
    assert flags["--max-running-requests"] == [requests]
    assert flags["--max-total-tokens"] == [pool]


@pytest.mark.parametrize(
    ("type_k", "said", "manner"),
    [
        ("f16", "auto", Manner.TRANSLATED),
        ("bf16", "bf16", Manner.SAID),
        ("q8_0", "fp8_e4m3", Manner.TRANSLATED),
    ],
)
def test_that_the_cache_has_a_format_of_its_own(type_k: str, said: str, manner: Manner) -> None:
    values: dict[str, object] = {"cache_type_k": type_k, "cache_type_v": type_k}
    assert _flags(values)["--kv-cache-dtype"] == [said]
    assert _export(values).carried["cache_type_k"].manner is manner


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"spec_types": ("draft-simple",), "draft_n_max": 4},
            {"--speculative-algorithm": "STANDALONE", "--speculative-draft-model-path": DRAFT_PLACE,
             "--speculative-num-steps": "4", "--speculative-eagle-topk": "1",
             "--speculative-num-draft-tokens": "5", "--speculative-draft-kv-cache-dtype": "auto"},
        ),
        (
            {"spec_types": ("draft-mtp",), "draft_n_max": 3, "draft_cache_type_k": "q8_0",
             "draft_cache_type_v": "q8_0"},
            {"--speculative-algorithm": "NEXTN", "--speculative-num-steps": "3",
             "--speculative-eagle-topk": "1", "--speculative-num-draft-tokens": "4",
             "--speculative-draft-kv-cache-dtype": "fp8_e4m3"},
        ),
        (
            {"spec_types": ("draft-dflash",), "draft_n_max": 8},
            {"--speculative-algorithm": "DFLASH", "--speculative-draft-model-path": DRAFT_PLACE,
             "--speculative-dflash-block-size": "8", "--speculative-draft-kv-cache-dtype": "auto"},
        ),
        (
            {"spec_types": ("ngram-map-k",), "ngram_size_m": 12},
            {"--speculative-algorithm": "NGRAM", "--speculative-num-draft-tokens": "12"},
        ),
        ({}, {}),
    ],
)  # fmt: skip
def test_that_drafts_are_steps_of_one_guess(
    values: dict[str, object], said: dict[str, str]
) -> None:
    found = {f: v[0] for f, v in _flags(values).items() if f.startswith("--speculative")}
    assert found == said


@pytest.mark.parametrize("kind", ["draft-dflash", "draft-dspark"])
def test_that_blocks_are_not_drafted_where_boards_have_layers_of_their_own(kind: str) -> None:
    """SGLang refuses to start with both."""
    two: dict[str, object] = {"spec_types": (kind,), "devices": ("CUDA0", "CUDA1")}
    flags = _flags(two)
    assert flags["--pp-size"] == ["2"]
    assert not any(flag.startswith("--speculative") for flag in flags)
    assert "split mode row" in _export(two).not_carried["spec_types"]
    cut = _flags(two | {"split_mode": "row"})
    assert cut["--tp-size"] == ["2"]
    assert "--speculative-algorithm" in cut


@pytest.mark.parametrize(
    ("devices", "said"),
    [
        (("CUDA2", "CUDA3"), {"--base-gpu-id": ["2"]}),
        (("CUDA0", "CUDA2", "CUDA4"), {"--base-gpu-id": ["0"], "--gpu-id-step": ["2"]}),
        (("CUDA1",), {"--base-gpu-id": ["1"]}),
        (("CUDA0", "CUDA1", "CUDA3"), {}),
        (("CUDA1", "CUDA0"), {}),
    ],
)
def test_that_boards_are_counted_on_from_the_first(
    devices: tuple[str, ...], said: dict[str, list[str]]
) -> None:
    flags = _flags({"devices": devices})
    assert {f: flags[f] for f in ("--base-gpu-id", "--gpu-id-step") if f in flags} == said
    if not said:
        assert "CUDA_VISIBLE_DEVICES" in _export({"devices": devices}).not_carried["devices"]
    if len(devices) > 1:
        assert flags["--pp-size"] == [str(len(devices))]


def test_that_ram_for_prompts_is_whole_gigabytes() -> None:
    flags = _flags({"cache_ram_mib": 1500})
    assert flags["--hicache-size"] == ["2"]
    assert "--enable-hierarchical-cache" in flags
    assert "--hicache-size" not in _flags({})
    assert "--hicache-size" not in _flags({"cache_ram_mib": 1500, "cache_prompt": False})


def test_that_caches_are_switched_by_their_flags() -> None:
    flags = _flags({"cache_prompt": False, "swa_full": True, "prefill_chunk_tok": 128})
    assert {"--disable-radix-cache", "--disable-hybrid-swa-memory"} <= set(flags)
    assert flags["--chunked-prefill-size"] == ["128"]
    assert flags["--max-prefill-tokens"] == ["2048"]


def test_that_sampling_is_what_requests_leave_out() -> None:
    export = _export({"top_k": 0, "repeat_penalty": 2.5, "ignore_eos": True})
    flags = flags_of(shlex.split(export.text)[1:], engine_words("sglang"))
    said = json.loads(flags["--preferred-sampling-params"][0])
    assert said["top_k"] == -1
    assert said["repetition_penalty"] == 2.0  # the most it takes
    assert said["ignore_eos"] is True
    assert "2 is the most" in export.carried["repeat_penalty"].how
    assert any("/v1" in note for note in export.notes)
