"""SGLang's words: beginnings of flags, drafts told by several of them, one pool."""

from __future__ import annotations

import pytest

from app.importing.sglang_words import understand
from tests.unit.importing.invocations import call, codes, document, problem

SERVE = "sglang.launch_server --model-path m.gguf"


def test_that_the_pool_is_taken_as_such() -> None:
    found = understand(
        call(f"{SERVE} --context-length 32Ki --max-running-requests 8 --max-total-tokens 100k")
    )
    assert found.settings == {
        "model_path": "m.gguf", "ctx_per_slot_tok": 32768, "slots": 8, "ctx_total_tok": 100_000,
    }  # fmt: skip


def test_that_a_model_may_stand_alone() -> None:
    found = understand(call("sglang serve Qwen/Qwen3-8B --tp 2"))
    assert found.other == {"source_model": "Qwen/Qwen3-8B", "tensor_parallel": 2}
    assert codes(found) == {"not_gguf"}


def test_that_chunks_are_no_micro_batch() -> None:
    found = understand(call(f"{SERVE} --chunked-prefill-size 4096"))
    assert "ubatch_tok" not in found.settings
    assert "prefill_chunk_tok" not in found.settings
    assert found.other["chunked_prefill_tok"] == 4096


@pytest.mark.parametrize(
    ("flags", "kinds", "length"),
    [
        ("--speculative-algorithm EAGLE3 --speculative-num-steps 3 --speculative-eagle-topk 1 "
         "--speculative-num-draft-tokens 4", ("draft-eagle3",), 3),
        ("--speculative-algo EAGLE --speculative-draft-model-path x/y-EAGLE3 "
         "--speculative-num-steps 2", ("draft-eagle3",), 2),
        ("--speculative-algorithm NEXTN --speculative-num-steps 1", ("draft-mtp",), 1),
        ("--speculative-algorithm EAGLE --speculative-num-steps 3", ("draft-mtp",), 3),
        ("--speculative-algorithm STANDALONE --speculative-num-draft-tokens 6",
         ("draft-simple",), 6),
        ("--speculative-algorithm DFLASH --speculative-dflash-block-size 9", ("draft-dflash",), 9),
    ],
)  # fmt: skip
def test_that_drafts_are_read_together(flags: str, kinds: tuple[str, ...], length: int) -> None:
    settings = understand(call(f"{SERVE} {flags}")).settings
    assert (settings["spec_types"], settings["draft_n_max"]) == (kinds, length)


def test_that_a_tree_is_no_chain() -> None:
    found = understand(
        call(f"{SERVE} --speculative-algo EAGLE --speculative-draft a/b --speculative-num-steps 5 "
             "--speculative-eagle-topk 8 --speculative-num-draft-tokens 64")
    )  # fmt: skip
    assert found.settings["draft_n_max"] == 64
    assert "spec_types" not in found.settings
    assert {"no_heir", "abbreviated_flag", "not_gguf"} <= codes(found)
    assert found.other["draft_source_model"] == "a/b"
    assert any("tree" in note for note in found.notes)


def test_that_drafts_by_looking_up_have_a_length_of_their_own() -> None:
    settings = understand(
        call(f"{SERVE} --speculative-algorithm NGRAM --speculative-num-draft-tokens 12")
    ).settings
    assert settings["ngram_size_m"] == 12
    assert "draft_n_max" not in settings


def test_that_caches_are_read() -> None:
    found = understand(
        call(f"{SERVE} --disable-radix-cache --kv-cache-dtype bf16 --enable-hierarchical-cache "
             "--hicache-size 16")
    )  # fmt: skip
    assert found.settings["cache_prompt"] is False
    assert found.settings["cache_type_v"] == "bf16"
    assert found.settings["cache_ram_mib"] == 16 * 1024


def test_that_fp8_is_a_problem_and_no_setting() -> None:
    found = understand(call(f"{SERVE} --kv-cache-dtype fp8_e4m3"))
    assert "cache_type_k" not in found.settings
    assert "fp8_e4m3" in problem(found, "not_transferable")


def test_that_renamed_flags_are_named_with_their_heirs() -> None:
    found = understand(call(f"{SERVE} --cuda-graph-max-bs 2 --disable-cuda-graph"))
    assert ("--cuda-graph-max-bs", "--cuda-graph-max-bs-decode") in {
        (one.was, one.to) for one in found.healed
    }
    assert not found.problems  # nothing here follows from them
    assert any("--disable-cuda-graph is old" in note for note in found.notes)


def test_that_samplers_are_read() -> None:
    found = understand(
        call(f"""{SERVE} --preferred-sampling-params '{{"temperature": 1, "ignore_eos": true}}'""")
    )
    assert found.settings["temperature"] == 1.0
    assert found.settings["ignore_eos"] is True


def test_that_a_yaml_file_says_the_same_as_the_line() -> None:
    line = understand(
        call("sglang serve --model-path m.gguf --context-length 4096 --disable-radix-cache")
    )
    file = understand(
        document("yaml", **{"model-path": "m.gguf", "context-length": "4096",
                            "disable-radix-cache": "true"})
    )  # fmt: skip
    assert file.settings == line.settings


def test_that_a_value_that_the_engine_refuses_is_told_of() -> None:
    assert "q8_0" in problem(understand(call(f"{SERVE} --kv-cache-dtype q8_0")), "bad_value")
