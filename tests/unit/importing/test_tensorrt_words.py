"""TensorRT-LLM's words: a line and a file, of which the line wins."""

from __future__ import annotations

from app.importing.invocation import Invocation
from app.importing.tensorrt_words import understand
from tests.unit.importing.invocations import call, codes, document, problem


def test_that_the_line_is_read() -> None:
    found = understand(
        call("trtllm-serve serve nvidia/Qwen3-FP8 --max_seq_len 8192 --max_batch_size 16 "
             "--max_num_tokens 4096 --tp_size 2 --kv_cache_free_gpu_memory_fraction 0.8 "
             "--extra_llm_api_options x.yaml --port 8001")
    )  # fmt: skip
    assert found.target == "tensorrt-llm"
    assert found.settings == {"ctx_per_slot_tok": 8192, "slots": 16, "batch_tok": 4096}
    assert found.other == {
        "source_model": "nvidia/Qwen3-FP8", "tensor_parallel": 2, "gpu_mem_fraction": 0.8,
        "config_file": "x.yaml", "port": 8001,
    }  # fmt: skip
    assert {"not_gguf", "config_file"} <= codes(found)


def test_that_serve_may_be_left_out() -> None:
    assert understand(call("trtllm-serve m.gguf")).settings == {"model_path": "m.gguf"}


def test_that_the_file_is_read() -> None:
    found = understand(
        document(
            "yaml",
            kv_cache_config__enable_block_reuse="false",
            kv_cache_config__max_tokens="65536",
            kv_cache_config__dtype="bfloat16",
            kv_cache_config__host_cache_size="1073741824",
            speculative_config__decoding_type="MTP",
            speculative_config__max_draft_len="3",
            cuda_graph_config__enable_padding="true",
        )
    )
    assert found.settings == {
        "cache_prompt": False, "ctx_total_tok": 65536, "cache_type_k": "bf16",
        "cache_type_v": "bf16", "cache_ram_mib": 1024, "spec_types": ("draft-mtp",),
        "draft_n_max": 3,
    }  # fmt: skip
    assert any("cuda_graph_config.enable_padding: true" in note for note in found.notes)
    assert "no_model" not in codes(found)


def test_that_the_line_wins_over_the_file() -> None:
    found = understand(
        Invocation("posix", "trtllm-serve", ("m.gguf", "--max_batch_size", "4"),
                   values={"max_batch_size": ("8",), "max_seq_len": ("1024",)})
    )  # fmt: skip
    assert found.settings["slots"] == 4
    assert found.settings["ctx_per_slot_tok"] == 1024


def test_that_ngrams_have_lengths_of_their_own() -> None:
    found = understand(
        document("yaml", speculative_config__max_draft_len="4",
                 speculative_config__decoding_type="NGram",
                 speculative_config__max_matching_ngram_size="2")
    )  # fmt: skip
    assert found.settings == {"spec_types": ("ngram-simple",), "ngram_size_m": 4, "ngram_size_n": 2}


def test_that_fp8_and_lookahead_are_told_of() -> None:
    found = understand(
        document(
            "yaml", kv_cache_config__dtype="fp8", speculative_config__decoding_type="Lookahead"
        )
    )
    assert found.settings == {}
    assert "fp8" in problem(found, "not_transferable")
    assert "Lookahead" in problem(found, "no_heir")


def test_that_keys_that_it_does_not_have_are_told_of() -> None:
    found = understand(document("yaml", kv_cache_config__max_tokenz="1"))
    assert "max_tokenz" in problem(found, "unknown_key")


def test_that_set_says_what_the_file_would() -> None:
    found = understand(
        call("trtllm-serve m.gguf --set kv_cache_config.enable_block_reuse=false --set a.b=1")
    )
    assert found.settings["cache_prompt"] is False
    assert any("--set a.b=1" in note for note in found.notes)
