"""``llama-bench``: what it can measure, in its own spelling of it."""

from __future__ import annotations

import shlex

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.export import llama_bench
from app.export.engine_words import engine_words
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.checked_words import assert_shared_takes, said_in, values_in
from tests.unit.test_export import EFFECTIVE, FACTS, configs, effectives


def words_of(config: EngineConfig, effective: EffectiveConfig | None = None) -> list[str]:
    program, *words = shlex.split(llama_bench.export(config, effective, FACTS).text)
    assert program == "llama-bench"
    return words


@given(configs(), st.none() | effectives())
def test_that_every_word_is_one_that_the_program_knows(
    config: EngineConfig, effective: EffectiveConfig | None
) -> None:
    export = llama_bench.export(config, effective, FACTS)
    words = shlex.split(export.text)[1:]
    flags = [flag.names[0] for flag, _, _ in said_in(words, "llama_bench")]
    assert len(flags) == len(set(flags))


def test_that_the_table_of_its_source_has_these_words_too() -> None:
    config = EngineConfig().with_values(
        {
            "model_path": "/m.gguf", "n_gpu_layers": 7, "cpu_moe": True,
            "devices": ["CUDA0", "CUDA1"],
            "override_tensor": ["ffn_up=CPU", "ffn_down=CUDA0"], "tensor_split": ["3", "1"],
            "split_mode": "row", "main_gpu": 1, "kv_offload": False, "op_offload": False,
            "load_mode": "mlock", "lazy_mode": "off", "no_host": True, "repack": False,
            "cache_type_k": "q8_0", "cache_type_v": "iq4_nl", "flash_attn": "on", "threads": 3,
            "rpc_servers": ["127.0.0.1:50052"],
        }
    )  # fmt: skip
    words = words_of(config)
    assert_shared_takes(words, "llama_bench", engine_words("llama_bench"))
    assert values_in(words, "llama_bench") == {
        "-rpc": ["127.0.0.1:50052"], "-m": ["/m.gguf"], "-dev": ["CUDA0/CUDA1"], "-ngl": ["7"],
        "-ncmoe": ["4"], "-ot": ["ffn_up=CPU;ffn_down=CUDA0"], "-sm": ["row"], "-ts": ["3/1"],
        "-mg": ["1"], "-nkvo": ["1"], "-nopo": ["1"], "-lm": ["mlock"], "-lzm": ["off"],
        "--no-host": ["1"], "--repack": ["0"], "-ctk": ["q8_0"], "-ctv": ["iq4_nl"], "-fa": ["on"],
        "-b": ["2048"], "-ub": ["512"], "-t": ["3"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "made", "said"),
    [("auto", None, "-1"), ("all", None, "-1"), (2, None, "2"), ("auto", 3, "3"), ("all", 0, "0")],
)
def test_that_layers_are_a_number(wanted: int | str, made: int | None, said: str) -> None:
    effective = None if made is None else msgspec.structs.replace(EFFECTIVE, n_gpu_layers=made)
    config = EngineConfig().with_values({"n_gpu_layers": wanted})
    assert values_in(words_of(config, effective), "llama_bench")["-ngl"] == [said]


def test_that_threads_are_those_that_auto_came_to() -> None:
    assert values_in(words_of(EngineConfig(), EFFECTIVE), "llama_bench")["-t"] == ["6"]
    assert "-t" not in words_of(EngineConfig())


def test_that_a_cache_it_does_not_know_is_named() -> None:
    export = llama_bench.export(EngineConfig(cache_type_k="f32"), None, FACTS)
    assert "-ctk" not in export.text
    assert "no f32" in export.not_carried["cache_type_k"]
    assert "cache_type_v" not in export.not_carried


@pytest.mark.parametrize("shell", Shell)
def test_that_a_path_with_a_comma_is_refused(shell: Shell) -> None:
    export = llama_bench.export(EngineConfig(model_path="/a,b.gguf"), None, FACTS, shell)
    assert export.text == ""
    assert "comma" in export.notes[0]


def test_that_a_pattern_with_a_semicolon_is_left_out_with_the_reason() -> None:
    config = EngineConfig(override_tensor=("a;b=CPU", "c=CPU"))
    export = llama_bench.export(config, None, FACTS)
    assert "-ot" not in export.text
    assert "semicolon" in export.not_carried["override_tensor"]


def test_that_the_way_to_measure_at_full_context_is_told() -> None:
    export = llama_bench.export(EngineConfig(ctx_per_slot_tok=4000), None, FACTS)
    assert any("-d 3584 " in note and "4,096" in note for note in export.notes)
    small = llama_bench.export(EngineConfig(ctx_per_slot_tok=512), None, FACTS)
    assert not any("-d " in note for note in small.notes)
