"""vLLM's words: what is a limit of one sequence, what is shown, and what cannot be said here."""

from __future__ import annotations

import pytest

from app.importing.importer import import_text
from app.importing.invocation import Invocation
from app.importing.vllm_words import understand
from tests.unit.importing.invocations import call, codes, document, problem
from tests.unit.importing.test_secret_words import KEY, TOKEN


def test_that_context_and_slots_are_taken_and_never_multiplied() -> None:
    found = understand(call("vllm serve Qwen/Qwen3-8B --max-model-len 32768 --max-num-seqs 8"))
    assert found.target == "vllm"
    assert found.settings == {"ctx_per_slot_tok": 32768, "slots": 8}
    assert any("share one pool" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "tokens"), [("32k", 32000), ("32K", 32768), ("1.5k", 1500), ("131072", 131072)]
)
def test_that_suffixes_mean_what_vllm_means(text: str, tokens: int) -> None:
    assert understand(call(f"vllm serve m --max-model-len {text}")).settings == {
        "ctx_per_slot_tok": tokens
    }


@pytest.mark.parametrize("text", ["auto", "-1"])
def test_that_the_longest_context_that_fits_stays_open(text: str) -> None:
    found = understand(call(f"vllm serve m --max-model-len {text}"))
    assert found.settings == {}
    assert any("longest context" in note for note in found.notes)


def test_that_decimals_before_a_binary_suffix_are_refused() -> None:
    found = understand(call("vllm serve m --max-model-len 1.5K"))
    assert found.settings == {"ctx_per_slot_tok": None}
    assert "bad_value" in codes(found)


@pytest.mark.parametrize(
    ("model", "settings", "other"),
    [
        ("./merge.gguf", {"model_path": "./merge.gguf"}, {}),
        ("unsloth/Qwen3-0.6B-GGUF:Q4_K_M", {"hf_repo": "unsloth/Qwen3-0.6B-GGUF:Q4_K_M"}, {}),
        ("Qwen/Qwen3-8B", {}, {"source_model": "Qwen/Qwen3-8B"}),
        ("/models/Qwen3-AWQ", {}, {"source_model": "/models/Qwen3-AWQ"}),
        ("$MODEL", {}, {"source_model": "$MODEL"}),
    ],
)
def test_that_a_model_is_what_it_is(
    model: str, settings: dict[str, object], other: dict[str, object]
) -> None:
    found = understand(Invocation("posix", "vllm", ("serve", model)))
    assert (found.settings, found.other) == (settings, other)
    assert ("not_gguf" in codes(found)) == (bool(other) and not model.startswith("$"))
    assert ("unresolved_variable" in codes(found)) == model.startswith("$")


def test_that_a_server_without_a_model_is_told_of() -> None:
    found = understand(call("vllm.entrypoints.openai.api_server --port 8000"))
    assert codes(found) == {"no_model"}
    assert found.other == {"port": 8000}


def test_that_shares_and_boards_are_only_shown() -> None:
    found = understand(call("vllm serve m.gguf -tp 4 -pp=2 -dp 8 --gpu-memory-utilization .85"))
    assert found.settings == {"model_path": "m.gguf"}
    assert found.other == {
        "tensor_parallel": 4, "pipeline_parallel": 2, "data_parallel": 8, "gpu_mem_fraction": 0.85,
    }  # fmt: skip
    assert "8 servers" in problem(found, "not_transferable")


@pytest.mark.parametrize("dtype", ["fp8", "fp8_e5m2", "nvfp4", "int8_per_token_head"])
def test_that_a_cache_of_other_numerics_is_not_taken_for_one_here(dtype: str) -> None:
    found = understand(call(f"vllm serve m.gguf --kv-cache-dtype {dtype}"))
    assert not {"cache_type_k", "cache_type_v"} & found.settings.keys()
    assert dtype in problem(found, "not_transferable")


def test_that_a_cache_of_the_same_numerics_is_taken() -> None:
    found = understand(call("vllm serve m.gguf --kv-cache-dtype bfloat16"))
    assert found.settings["cache_type_k"] == found.settings["cache_type_v"] == "bf16"


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        ('{"method": "mtp", "num_speculative_tokens": 3}',
         {"spec_types": ("draft-mtp",), "draft_n_max": 3}),
        ('{"method": "qwen3_next_mtp", "num_speculative_tokens": 2}',
         {"spec_types": ("draft-mtp",), "draft_n_max": 2}),
        ('{"num_speculative_tokens": 5, "method": "ngram", "prompt_lookup_max": 4}',
         {"spec_types": ("ngram-simple",), "ngram_size_m": 5, "ngram_size_n": 4}),
        ('{"model": "d.gguf", "num_speculative_tokens": 6}',
         {"spec_types": ("draft-simple",), "draft_n_max": 6, "draft_model_path": "d.gguf"}),
    ],
)  # fmt: skip
def test_that_speculation_is_read(config: str, settings: dict[str, object]) -> None:
    words = ("serve", "m.gguf", "--speculative-config", config)
    found = understand(Invocation("posix", "vllm", words))
    assert found.settings == {"model_path": "m.gguf"} | settings


def test_that_a_draft_without_a_counterpart_is_told_of() -> None:
    found = understand(
        call("""vllm serve m.gguf --speculative-config '{"method": "medusa", "model": "a/b"}'""")
    )
    assert "spec_types" not in found.settings
    assert "medusa" in problem(found, "no_heir")


def test_that_old_flags_of_speculation_are_healed_and_read() -> None:
    found = understand(
        call("vllm serve m.gguf --speculative-model d.gguf --num-speculative-tokens 5")
    )
    assert found.settings["draft_n_max"] == 5
    assert found.settings["spec_types"] == ("draft-simple",)
    assert {one.was for one in found.healed} == {"--speculative-model", "--num-speculative-tokens"}
    assert "removed_flag" in codes(found)


def test_that_dotted_parts_are_read_in_any_order() -> None:
    found = understand(
        call("vllm serve m.gguf --speculative-config.num_speculative_tokens 7 "
             "--speculative-config.method ngram")
    )  # fmt: skip
    assert found.settings["ngram_size_m"] == 7


def test_that_defaults_of_sampling_are_read() -> None:
    found = understand(
        call("""vllm serve m.gguf --override-generation-config '{"temperature": 0.6, "top_k": -1,
             "repetition_penalty": 1.05, "max_new_tokens": 512, "foo": 1}'""")
    )
    assert found.settings == {
        "model_path": "m.gguf", "temperature": 0.6, "top_k": 0, "repeat_penalty": 1.05,
        "max_new_tok": 512,
    }  # fmt: skip
    assert "foo" in problem(found, "unknown_key")


def test_that_its_own_words_are_named_and_unknown_ones_are_kept() -> None:
    found = understand(call("vllm serve m.gguf --dtype float16 --enforce-eager -O3 --made-up 1"))
    assert found.passthrough == ("--made-up", "1", "-O3")
    assert "--made-up" in problem(found, "unknown_flag")
    (note,) = [note for note in found.notes if "--dtype float16; --enforce-eager; -O3" in note]
    assert "--made-up" not in note


def test_that_removed_flags_are_named_with_their_heirs() -> None:
    found = understand(call("vllm serve m.gguf --swap-space 4 --disable-log-requests"))
    assert [(one.was, one.to) for one in found.healed] == [
        ("--swap-space", "--kv-offloading-size"),
        ("--disable-log-requests", "--no-enable-log-requests"),
    ]
    assert not found.problems  # nothing here follows from them
    assert any("--swap-space" in note for note in found.notes)


def test_that_lora_and_remote_code_are_told_of() -> None:
    found = understand(
        call("vllm serve m.gguf --enable-lora --lora-modules sql=/l/sql --trust-remote-code")
    )
    assert "lora" not in found.settings
    assert codes(found) == {"security", "not_transferable"}
    assert any("--lora-modules sql=/l/sql" in text for text in found.problems)


def test_that_no_secret_is_repeated() -> None:
    found = understand(
        call(f"vllm serve m.gguf --api-key {KEY} --hf-token {TOKEN} --my-password qwertz",
             HF_TOKEN=TOKEN, VLLM_API_KEY=KEY)
    )  # fmt: skip
    text = repr(found)
    assert KEY not in text
    assert TOKEN not in text
    assert "qwertz" not in text
    assert {"HF_TOKEN", "VLLM_API_KEY"} == found.env.keys()
    assert found.other["api_key"] == "REDACTED"


def test_that_a_yaml_file_says_the_same_as_the_line() -> None:
    line = understand(call("vllm serve m.gguf --max-model-len 4096 --no-enable-prefix-caching"))
    file = understand(
        document("yaml", model="m.gguf", max_model_len="4096", enable_prefix_caching="false")
    )
    assert file.settings == line.settings


def test_that_a_named_file_is_not_opened() -> None:
    assert "open that file" in problem(
        understand(call("vllm serve --config a.yaml m")), "config_file"
    )


def test_that_a_benchmark_is_no_server() -> None:
    found = understand(call("vllm bench serve --port 1"))
    assert "not_transferable" in codes(found)


def test_that_too_many_sequences_are_taken_as_typed_and_told_of() -> None:
    found = understand(call("vllm serve m.gguf --max-num-seqs 512"))
    assert found.settings["slots"] == 512
    assert "512" in problem(found, "odd_value")


def test_that_the_last_of_two_wins_and_is_told_of() -> None:
    found = understand(call("vllm serve m.gguf --max-num-seqs 4 --max-num-seqs 6"))
    assert found.settings["slots"] == 6
    assert "duplicate_option" in codes(found)


def test_that_a_placeholder_leaves_the_value_open() -> None:
    found = understand(Invocation("posix", "vllm", ("serve", "m.gguf", "--max-num-seqs", "<N>")))
    assert found.settings["slots"] is None
    assert "placeholder" in codes(found)


def test_that_misspelt_variables_are_told_of() -> None:
    found = understand(call("vllm serve m.gguf", VLLM_LOGING_LEVEL="DEBUG"))
    assert "VLLM_LOGGING_LEVEL" in problem(found, "misspelt_variable")
    assert found.env == {"VLLM_LOGING_LEVEL": "DEBUG"}


def test_that_code_of_weights_that_are_not_taken_over_is_no_problem() -> None:
    found = understand(call("vllm serve Qwen/Qwen3-8B --trust-remote-code"))
    assert codes(found) == {"not_gguf"}
    assert any("never run by llama.cpp" in note for note in found.notes)


def test_that_a_secret_is_not_repeated_where_it_stands_again() -> None:
    found = understand(call("vllm serve m.gguf --api-key hunter22 --port hunter22"))
    assert "hunter22" not in repr(found)
    assert "bad_value" in codes(found)


def test_that_a_file_of_its_flags_is_its_own_with_dashes_or_underscores() -> None:
    (found,) = import_text(
        'model: a/b\nhost: "127.0.0.1"\nport: 6379\nuvicorn-log-level: info\n'
        "max-model-len: 16384\nmax_num_seqs: 8\n",
        "config.yaml",
    )
    assert found.target == "vllm"
    assert {"ctx_per_slot_tok": 16384, "slots": 8}.items() <= found.settings.items()


def test_that_what_it_prints_of_its_arguments_is_read() -> None:
    (found,) = import_text(
        "INFO 03-02 [api_server.py:1034] args: Namespace(subparser='serve', model_tag='a/b', "
        "model='a/b', max_model_len=16384, max_num_seqs=None, dispatch_function=<function f at 0>)"
    )
    assert found.settings["ctx_per_slot_tok"] == 16384
    assert found.other["source_model"] == "a/b"
