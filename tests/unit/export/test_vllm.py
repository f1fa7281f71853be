"""vLLM: one pool that is never multiplied, a share of the card, JSON that reads back."""

from __future__ import annotations

import json
import shlex

import pytest

from app.export import vllm
from app.export.carried import Manner
from app.export.dialect import Export
from app.export.engine_words import engine_words
from app.export.other_weights import DRAFT_PLACE
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.engine_line import flags_of
from tests.unit.fake_client import model_facts


def _export(values: dict[str, object]) -> Export:
    return vllm.export(EngineConfig.from_values(values), None, model_facts())


def _flags(values: dict[str, object]) -> dict[str, list[str]]:
    return flags_of(shlex.split(_export(values).text)[1:], engine_words("vllm"))


def _drafts(values: dict[str, object]) -> dict[str, object]:
    read: dict[str, object] = json.loads(_flags(values)["--speculative-config"][0])
    return read


def test_that_the_line_is_vllm_serve_with_the_place_of_the_model() -> None:
    words = shlex.split(_export({}).text)
    assert words[:3] == ["vllm", "serve", "<MODEL: hub name or folder>"]


@pytest.mark.parametrize(
    ("values", "per_sequence", "sequences"),
    [
        ({"ctx_per_slot_tok": 4096, "slots": 4}, "4096", "4"),
        ({"ctx_per_slot_tok": 1000, "slots": 32}, "1000", "32"),
        ({"ctx_per_slot_tok": 8192, "kv_unified": True, "ctx_total_tok": 4096}, "4096", "4"),
    ],
)
def test_that_context_is_per_sequence_and_never_multiplied(
    values: dict[str, object], per_sequence: str, sequences: str
) -> None:
    flags = _flags(values)
    assert flags["--max-model-len"] == [per_sequence]
    assert flags["--max-num-seqs"] == [sequences]
    pool = _export(values).carried["kv_unified"]
    assert "one pool" in pool.how
    assert (pool.manner is Manner.SAID) == bool(values.get("kv_unified")), "it is always so there"


def test_that_the_pool_s_size_is_named_as_what_memory_decides() -> None:
    reason = _export({"slots": 4, "ctx_per_slot_tok": 4096}).not_carried["ctx_total_tok"]
    assert "--gpu-memory-utilization" in reason
    assert "16,384" in reason


def test_that_the_share_of_a_card_is_shown_by_an_example() -> None:
    # 24 GiB are 24,576 MiB: all but 1,024 of them.
    assert "0.958 on a card of 24 GiB" in _export({}).not_carried["fit_margin_mib"]


@pytest.mark.parametrize(
    ("type_k", "type_v", "said"),
    [
        ("f16", "f16", "auto"), ("bf16", "bf16", "auto"), ("f32", "f32", "auto"),
        ("q8_0", "q8_0", "fp8"), ("q4_0", "q8_0", "fp8"), ("q8_0", "f16", "auto"),
    ],
)  # fmt: skip
def test_that_the_cache_has_one_format(type_k: str, type_v: str, said: str) -> None:
    values: dict[str, object] = {"cache_type_k": type_k, "cache_type_v": type_v}
    assert _flags(values)["--kv-cache-dtype"] == [said]
    outvoted = [one for one in _export(values).not_carried if one.startswith("cache_type")]
    assert len(outvoted) == (type_k != type_v)


def test_that_a_step_has_room_for_every_sequence() -> None:
    assert _flags({"batch_tok": 16, "slots": 64})["--max-num-batched-tokens"] == ["64"]
    assert _flags({"batch_tok": 256, "slots": 64})["--max-num-batched-tokens"] == ["256"]


def test_that_prompts_are_cut_no_coarser_than_a_context() -> None:
    values: dict[str, object] = {"prefill_chunk_tok": 2048, "ctx_per_slot_tok": 1024}
    assert _flags(values)["--long-prefill-token-threshold"] == ["1024"]
    assert "--long-prefill-token-threshold" not in _flags({})


def test_that_prefix_caching_is_said_either_way() -> None:
    assert "--enable-prefix-caching" in _flags({"cache_prompt": True})
    assert "--no-enable-prefix-caching" in _flags({"cache_prompt": False})


@pytest.mark.parametrize(
    ("mib", "gib"), [(2048, "2"), (512, "0.5"), (8192, None), (0, None), (-1, None)]
)
def test_that_ram_for_prompts_is_said_where_it_was_chosen(mib: int, gib: str | None) -> None:
    said = _flags({"cache_ram_mib": mib}).get("--kv-offloading-size")
    assert said == (None if gib is None else [gib])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"devices": ("CUDA0", "CUDA2")},
            {"--pipeline-parallel-size": ["2"], "--device-ids": ["0,2"]},
        ),
        ({"tensor_split": ("1", "0", "1"), "split_mode": "row"}, {"--tensor-parallel-size": ["2"]}),
        ({"tensor_split": ("0", "0"), "split_mode": "row"}, {}),  # none at all is no share
        ({"split_mode": "none", "main_gpu": 3}, {"--device-ids": ["3"]}),
        (
            {"devices": ("CUDA4", "CUDA1"), "split_mode": "none", "main_gpu": 1},
            {"--device-ids": ["1"]},
        ),
        ({"devices": ("Vulkan0",)}, {}),
        ({"split_mode": "tensor"}, {}),
        ({"devices": ("none",)}, {}),
    ],
)  # fmt: skip
def test_that_boards_are_counted_and_numbered(
    values: dict[str, object], said: dict[str, list[str]]
) -> None:
    flags = _flags(values)
    about_boards = ("--pipeline-parallel-size", "--tensor-parallel-size", "--device-ids")
    assert {flag: flags[flag] for flag in about_boards if flag in flags} == said


def test_that_how_many_boards_there_are_is_not_guessed() -> None:
    reason = _export({"split_mode": "row"}).not_carried["split_mode"]
    assert "--tensor-parallel-size N" in reason


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"spec_types": ("ngram-simple",), "ngram_size_n": 5, "ngram_size_m": 9},
            {"method": "ngram", "num_speculative_tokens": 9, "prompt_lookup_max": 5,
             "prompt_lookup_min": 5},
        ),
        (
            {"spec_types": ("ngram-mod",), "ngram_mod_n_match": 20, "ngram_mod_n_max": 40},
            {"method": "ngram", "num_speculative_tokens": 40, "prompt_lookup_max": 20,
             "prompt_lookup_min": 20},
        ),
        (
            {"spec_types": ("ngram-cache",)},
            {"method": "ngram", "num_speculative_tokens": 8, "prompt_lookup_max": 4,
             "prompt_lookup_min": 1},
        ),
        (
            {"spec_types": ("draft-simple",), "draft_model_path": "/d.gguf", "draft_n_max": 4},
            {"method": "draft_model", "num_speculative_tokens": 4, "model": DRAFT_PLACE},
        ),
        (
            {"spec_types": ("draft-mtp",), "draft_n_max": 2, "draft_cache_type_k": "q8_0",
             "draft_cache_type_v": "q8_0"},
            {"method": "mtp", "num_speculative_tokens": 2, "kv_cache_dtype": "fp8"},
        ),
        (
            {"spec_types": ("draft-eagle3",)},
            {"method": "eagle3", "num_speculative_tokens": 3, "model": DRAFT_PLACE},
        ),
    ],
)  # fmt: skip
def test_that_drafts_are_json(values: dict[str, object], said: dict[str, object]) -> None:
    assert _drafts(values) == said


def test_that_every_method_is_one_that_vllm_has() -> None:
    word = engine_words("vllm").flag("--spec-method")
    assert word is not None
    for kind in ("ngram-simple", "draft-simple", "draft-eagle3", "draft-mtp", "draft-dflash",
                 "draft-dspark"):  # fmt: skip
        assert word.why_not(str(_drafts({"spec_types": (kind,)})["method"])) is None


def test_that_kinds_behind_the_first_are_named() -> None:
    export = _export({"spec_types": ("ngram-simple", "draft-mtp")})
    assert "leaves out draft-mtp" in export.carried["spec_types"].how
    assert "--speculative-config" not in _flags({})


def test_that_sampling_is_said_whatever_the_model_s_own_file_has() -> None:
    flags = _flags({"temperature": 0.3, "top_k": 0, "repeat_penalty": 1.2, "max_new_tok": 99})
    assert flags["--generation-config"] == ["vllm"]
    assert json.loads(flags["--override-generation-config"][0]) == {
        "temperature": 0.3, "top_k": 0, "min_p": 0.05, "top_p": 0.95, "repetition_penalty": 1.2,
        "max_new_tokens": 99,
    }  # fmt: skip


def test_that_a_top_p_of_nothing_becomes_the_likeliest_token() -> None:
    said = json.loads(_flags({"top_p": 0.0})["--override-generation-config"][0])
    assert (said["top_p"], said["top_k"]) == (1.0, 1)


def test_that_samplers_of_llama_cpp_alone_are_named() -> None:
    not_carried = _export({"dry_multiplier": 0.8}).not_carried
    assert {"dry_multiplier", "mirostat", "typical_p", "xtc_probability", "seed"} <= set(
        not_carried
    )
