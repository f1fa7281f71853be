"""LM Studio's words: names of its own, shares of layers, the pool that all share."""

from __future__ import annotations

import pytest

from app.importing.importer import import_text
from app.importing.lmstudio_words import understand
from tests.unit.importing.invocations import call, codes, document, problem


def test_that_a_loading_is_read() -> None:
    found = understand(
        call("lms load qwen/qwen3-8b --gpu max --context-length 32768 --parallel 4 "
             "--identifier mine --ttl 3600 -y")
    )  # fmt: skip
    assert found.settings == {
        "n_gpu_layers": "all", "ctx_total_tok": 32768, "slots": 4, "kv_unified": True,
        "ctx_per_slot_tok": 32768,
    }  # fmt: skip
    assert set(found.derived) == {"kv_unified", "ctx_per_slot_tok"}
    assert found.other == {"source_model": "qwen/qwen3-8b", "alias": "mine", "ttl_s": 3600}
    assert codes(found) == {"no_model"}


@pytest.mark.parametrize(
    ("share", "layers"), [("off", 0), ("0", 0), ("max", "all"), ("1.0", "all")]
)
def test_that_whole_shares_are_numbers(share: str, layers: object) -> None:
    assert understand(call(f"lms load m --gpu {share}")).settings["n_gpu_layers"] == layers


def test_that_a_part_of_the_layers_stays_open() -> None:
    found = understand(call("lms load m --gpu 0.5"))
    assert found.settings["n_gpu_layers"] is None
    assert found.other["gpu_ratio"] == 0.5
    assert "share of the layers" in problem(found, "not_transferable")


def test_that_drafts_are_read() -> None:
    found = understand(
        call("lms load m --speculative-draft-simple --speculative-draft-model d "
             "--speculative-draft-max-tokens 8 --speculative-draft-min-tokens 2 "
             "--speculative-draft-min-continue-probability 0.7")
    )  # fmt: skip
    assert found.settings == {
        "spec_types": ("draft-simple",), "draft_n_max": 8, "draft_n_min": 2, "draft_p_min": 0.7,
    }  # fmt: skip
    assert found.other["draft_source_model"] == "d"


def test_that_layers_that_guess_ahead_can_be_switched_off() -> None:
    on = understand(call("lms load m --speculative-draft-mtp"))
    off = understand(call("lms load m --no-speculative-draft-mtp"))
    assert (on.settings["spec_types"], off.settings["spec_types"]) == (("draft-mtp",), ())


def test_that_nothing_is_abbreviated() -> None:
    found = understand(call("lms load m --context 4096"))
    assert found.settings == {}
    assert "unknown_flag" in codes(found)


def test_that_a_server_is_read() -> None:
    assert understand(call("lms server start --port 1234 --bind 0.0.0.0 --cors")).other == {
        "port": 1234, "host": "0.0.0.0",
    }  # fmt: skip


def test_that_a_load_configuration_is_read() -> None:
    found = understand(
        document(
            "json",
            contextLength="8192",
            maxParallelPredictions="2",
            useUnifiedKvCache="false",
            gpu__ratio="max",
            gpu__mainGpu="1",
            flashAttention="true",
            llamaKCacheQuantizationType="q8_0",
            llamaVCacheQuantizationType="false",
            evalBatchSize="1024",
            offloadKVCacheToGpu="false",
            tryMmap="true",
            keepModelInMemory="true",
            numExperts="4",
        )
    )
    assert found.settings == {
        "ctx_total_tok": 8192, "slots": 2, "kv_unified": False, "ctx_per_slot_tok": 4096,
        "n_gpu_layers": "all", "main_gpu": 1, "flash_attn": "on", "cache_type_k": "q8_0",
        "batch_tok": 1024, "kv_offload": False, "load_mode": "mmap+mlock",
    }  # fmt: skip
    assert any("numExperts: 4" in note for note in found.notes)


def test_that_fields_of_a_preset_are_read() -> None:
    found = understand(
        document(
            "json",
            **{
                "llm.load.contextLength": "4096",
                "llm.load.llama.acceleration.offloadRatio": "0.25",
                "llm.load.llama.kCacheQuantizationType.checked": "true",
                "llm.load.llama.kCacheQuantizationType.value": "q4_0",
                "llm.load.llama.vCacheQuantizationType.checked": "false",
                "llm.load.llama.vCacheQuantizationType.value": "q4_0",
                "llm.prediction.temperature": "0.2",
                "llm.prediction.topKSampling": "20",
                "llm.prediction.systemPrompt": "Be brief.",
            },
        )
    )
    assert found.settings == {
        "ctx_total_tok": 4096, "n_gpu_layers": None, "cache_type_k": "q4_0", "temperature": 0.2,
        "top_k": 20, "ctx_per_slot_tok": 4096,
    }  # fmt: skip
    assert found.other["system_prompt"] == "Be brief."


def test_that_the_keys_of_its_server_are_read() -> None:
    found = understand(
        document("json", model="m", context_length="2048", eval_batch_size="256",
                 flash_attention="false", offload_kv_cache_to_gpu="true")
    )  # fmt: skip
    assert found.settings == {
        "ctx_total_tok": 2048, "batch_tok": 256, "flash_attn": "off", "kv_offload": True,
        "ctx_per_slot_tok": 2048,
    }  # fmt: skip


def test_that_presets_of_old_are_read() -> None:
    (found,) = import_text(
        '{"name": "ChatML", "load_params": {"n_ctx": 8192, "n_batch": 512, "n_gpu_layers": -1, '
        '"use_mlock": true, "use_mmap": true}, "inference_params": {"n_threads": 8, "temp": 0.2, '
        '"n_predict": -1, "input_prefix": "x"}}'
    )
    assert found.target == "lmstudio"
    assert {
        "ctx_total_tok": 8192, "batch_tok": 512, "n_gpu_layers": "all", "load_mode": "mmap+mlock",
        "threads": 8, "temperature": 0.2,
    }.items() <= found.settings.items()  # fmt: skip


def test_that_its_library_in_python_is_read() -> None:
    (found,) = import_text(
        'import lmstudio as lms\nm = lms.llm("q", config={"contextLength": 8192, '
        '"gpu": {"ratio": 1.0}})'
    )
    assert {"ctx_total_tok": 8192, "n_gpu_layers": "all"}.items() <= found.settings.items()
