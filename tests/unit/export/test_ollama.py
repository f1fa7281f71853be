"""Ollama: a context for each slot, one type for both caches, and files that its parser reads."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.export import ollama
from app.export.carried import Manner
from app.export.dialect import Export
from app.export.modelfile import ModelfileError, instruction
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.modelfile_reader import instructions_of, parameters_of
from tests.unit.fake_client import model_facts
from tests.unit.test_export import EFFECTIVE

PATH = "/models/My Model-Q4_K_M.gguf"


def _export(values: dict[str, object], effective: EffectiveConfig | None = None) -> Export:
    config = EngineConfig.from_values({"model_path": PATH} | values)
    return ollama.export(config, effective, model_facts())


def _modelfile(export: Export) -> str:
    return next(file.text for file in export.files if file.name == "Modelfile")


def _parameters(values: dict[str, object]) -> dict[str, str]:
    return parameters_of(_modelfile(_export(values)))


def _variables(values: dict[str, object]) -> dict[str, str]:
    text = next(file.text for file in _export(values).files if file.name == "ollama.env")
    return dict(line.split("=", 1) for line in text.splitlines())


@pytest.mark.parametrize(
    ("values", "per_slot", "slots", "total"),
    [
        ({"ctx_per_slot_tok": 4096, "slots": 4}, "4096", "4", "16,384"),
        ({"ctx_per_slot_tok": 8192, "slots": 1}, "8192", "1", "8,192"),
        # A shared pool: each conversation may still have its whole context, which costs more here.
        (
            {"ctx_per_slot_tok": 8192, "slots": 3, "kv_unified": True, "ctx_total_tok": 12288},
            "8192", "3", "24,576",
        ),
        # No conversation can have more than the pool.
        (
            {"ctx_per_slot_tok": 8192, "slots": 2, "kv_unified": True, "ctx_total_tok": 4096},
            "4096", "2", "8,192",
        ),
    ],
)  # fmt: skip
def test_that_context_is_per_slot_and_multiplied_by_the_slots(
    values: dict[str, object], per_slot: str, slots: str, total: str
) -> None:
    assert _parameters(values)["num_ctx"] == per_slot
    assert _variables(values)["OLLAMA_NUM_PARALLEL"] == slots
    assert total in _export(values).carried["ctx_total_tok"].how


def test_that_a_shared_pool_is_named_as_not_carried_with_what_it_costs() -> None:
    values: dict[str, object] = {"slots": 2, "kv_unified": True, "ctx_total_tok": 4096}
    assert "8,192 tokens where the pool here has 4,096" in _export(values).not_carried["kv_unified"]
    assert "kv_unified" not in _export({}).not_carried
    values = {"slots": 2, "kv_unified": True, "ctx_per_slot_tok": 4096}
    assert (
        "8,192 tokens together, as many as the pool here"
        in (_export(values).not_carried["kv_unified"])
    )


def test_that_more_than_the_model_was_trained_for_is_not_asked_for() -> None:
    export = _export({"ctx_per_slot_tok": 65536})
    assert parameters_of(_modelfile(export))["num_ctx"] == "32768"
    assert any("trained for 32,768" in note for note in export.notes)


@pytest.mark.parametrize(
    ("type_k", "type_v", "flash", "said", "tiled", "manner"),
    [
        ("f16", "f16", "auto", "f16", None, Manner.SAID),
        ("q8_0", "q8_0", "auto", "q8_0", "1", Manner.SAID),
        ("q4_0", "q4_0", "on", "q4_0", "1", Manner.SAID),
        ("q8_0", "q4_0", "on", "q8_0", "1", Manner.SAID),
        ("q4_0", "f16", "on", "f16", "1", Manner.NOT_CARRIED),
        ("q5_1", "q5_1", "on", "q8_0", "1", Manner.TRANSLATED),
        ("iq4_nl", "iq4_nl", "on", "q4_0", "1", Manner.TRANSLATED),
        ("f32", "f32", "off", "f16", "0", Manner.TRANSLATED),
        # Without flash attention llama.cpp quantises keys alone; Ollama nothing.
        ("q8_0", "f16", "off", "f16", "0", Manner.NOT_CARRIED),
        ("q8_0", "q8_0", "off", "f16", "0", Manner.NOT_CARRIED),
    ],
)
def test_that_one_variable_says_both_types(  # noqa: PLR0917
    type_k: str, type_v: str, flash: str, said: str, tiled: str | None, manner: Manner
) -> None:
    values: dict[str, object] = {
        "cache_type_k": type_k,
        "cache_type_v": type_v,
        "flash_attn": flash,
    }
    assert _variables(values)["OLLAMA_KV_CACHE_TYPE"] == said
    assert _variables(values).get("OLLAMA_FLASH_ATTENTION") == tiled
    assert _export(values).carried["cache_type_k"].manner is manner


def test_that_the_three_steps_stand_in_three_lines() -> None:
    export = _export({"cache_type_k": "q8_0", "cache_type_v": "q8_0"})
    serve, create, run = export.text.splitlines()
    variables = "OLLAMA_KV_CACHE_TYPE=q8_0 OLLAMA_FLASH_ATTENTION=1"
    assert serve == f"OLLAMA_NUM_PARALLEL=4 {variables} ollama serve"
    assert create == "ollama create my-model-q4_k_m -f Modelfile"
    assert run == "ollama run my-model-q4_k_m"
    assert "".join(export.lines.replace(" \\\n ", "")) == export.text


@pytest.mark.parametrize(
    ("shell", "first"),
    [
        (Shell.CMD, 'set "OLLAMA_NUM_PARALLEL=4"'),
        (Shell.POWERSHELL, "$env:OLLAMA_NUM_PARALLEL = '4'"),
    ],
)
def test_that_windows_sets_variables_in_lines_of_their_own(shell: Shell, first: str) -> None:
    lines = ollama.export(EngineConfig(), None, None, shell).text.splitlines()
    assert lines[0] == first
    assert lines[-3:] == ["ollama serve", "ollama create model -f Modelfile", "ollama run model"]


def test_that_projector_adapter_and_draft_are_instructions() -> None:
    values: dict[str, object] = {
        "mmproj_path": "/models/mm proj.gguf", "lora": ("/models/a.gguf",),
        "spec_types": ("draft-simple",), "draft_model_path": "/models/small.gguf", "draft_n_max": 5,
    }  # fmt: skip
    export = _export(values)
    files = [
        (name, value) for name, value in instructions_of(_modelfile(export)) if name != "PARAMETER"
    ]
    assert files == [
        ("FROM", PATH), ("FROM", "/models/mm proj.gguf"), ("ADAPTER", "/models/a.gguf"),
        ("DRAFT", "/models/small.gguf"),
    ]  # fmt: skip
    assert parameters_of(_modelfile(export))["draft_num_predict"] == "5"


def test_that_an_adapter_with_a_strength_is_not_carried() -> None:
    assert "strength" in _export({"lora": ("/a.gguf:0.5",)}).not_carried["lora"]
    assert "strength" in _export({"lora": ("/a.gguf", "/b.gguf")}).not_carried["lora"]


def test_that_a_model_s_own_layers_draft_once_their_number_is_said() -> None:
    assert _parameters({"spec_types": ("draft-mtp",), "draft_n_max": 2})["draft_num_predict"] == "2"
    assert "draft_num_predict" not in _parameters({"spec_types": ("ngram-simple",)})
    assert "models alone" in _export({"spec_types": ("ngram-simple",)}).not_carried["ngram_size_n"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"n_gpu_layers": 3}, "3"),
        ({"n_gpu_layers": 0}, "0"),
        ({"n_gpu_layers": "all"}, "5"),  # the toy has 4 layers and the output layer
        ({"n_gpu_layers": "auto"}, None),
        ({"devices": ("none",)}, "0"),
    ],
)
def test_that_layers_are_said_where_they_are_known(
    values: dict[str, object], said: str | None
) -> None:
    assert _parameters(values).get("num_gpu") == said


def test_that_what_auto_came_to_is_said() -> None:
    text = _modelfile(_export({}, EFFECTIVE))
    assert parameters_of(text)["num_thread"] == "6"
    assert parameters_of(text)["num_gpu"] == "0"
    assert "threads_batch" in _export({}, EFFECTIVE).not_carried  # 12 there, and one word for both


@pytest.mark.parametrize(
    ("devices", "name"),
    [
        (("CUDA1", "CUDA0"), "CUDA_VISIBLE_DEVICES"),
        (("ROCm1", "ROCm0"), "HIP_VISIBLE_DEVICES"),
        (("Vulkan1", "Vulkan0"), "GGML_VK_VISIBLE_DEVICES"),
    ],
)
def test_that_boards_are_chosen_by_what_the_server_may_see(
    devices: tuple[str, ...], name: str
) -> None:
    variables = _variables({"devices": devices})
    assert variables[name] == "1,0"
    assert variables["OLLAMA_SCHED_SPREAD"] == "1"
    assert "devices" in _export({"devices": (*devices, "RPC0")}).not_carried


def test_that_the_main_board_is_said_only_where_it_takes_all() -> None:
    assert _parameters({"split_mode": "none", "main_gpu": 1})["main_gpu"] == "1"
    assert "main_gpu" not in _parameters({"main_gpu": 1})
    assert "whole model" in _export({"main_gpu": 1}).not_carried["main_gpu"]


def test_that_batches_are_one_number_the_smaller_one() -> None:
    assert _parameters({"batch_tok": 2048, "ubatch_tok": 256})["num_batch"] == "256"
    assert _parameters({"batch_tok": 128, "ubatch_tok": 256})["num_batch"] == "128"
    assert _export({"batch_tok": 512}).carried["batch_tok"].manner is Manner.SAID


@pytest.mark.parametrize(
    ("mode", "said"), [("mmap", "true"), ("none", "false"), ("auto", None), ("mlock", None)]
)
def test_that_mapping_is_said_and_pinning_is_not(mode: str, said: str | None) -> None:
    assert _parameters({"load_mode": mode}).get("use_mmap") == said
    assert ("load_mode" in _export({"load_mode": mode}).not_carried) == (mode == "mlock")


def test_that_samplers_are_always_said() -> None:
    said = _parameters({"temperature": 0.0, "max_new_tok": 50, "seed": 7, "keep_tok": 24})
    assert said["temperature"] == "0.0"
    assert (said["top_p"], said["min_p"]) == ("0.95", "0.05")
    assert (said["num_predict"], said["seed"], said["num_keep"]) == ("50", "7", "24")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/Qwen 2.5 (x).GGUF", "qwen-2.5-x"),
        ("C:\\models\\Tiny.gguf", "tiny"),
        ("/a/模型.gguf", "model"),
        ("/a/--.gguf", "model"),
        ("", "model"),
    ],
)
def test_that_the_model_gets_a_name_that_ollama_allows(path: str, name: str) -> None:
    assert ollama.model_name(EngineConfig(model_path=path)) == name


def test_that_a_model_in_parts_is_told_about() -> None:
    notes = _export({"model_path": "/m/big-00001-of-00003.gguf"}).notes
    assert any("llama-gguf-split --merge" in note for note in notes)


def test_that_without_a_model_its_place_is_clear() -> None:
    export = ollama.export(EngineConfig(), None, None)
    assert ("FROM", "<MODEL: a GGUF file>") in instructions_of(_modelfile(export))
    assert any("No model is chosen" in note for note in export.notes)


# --- The parser ------------------------------------------------------------------------------


_POINTED = st.text(st.sampled_from(list("ab \"'#\\\n\t")), min_size=1, max_size=12)
_PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)


@given(_POINTED | _PRINTABLE)
def test_that_any_path_is_read_back_or_refused(path: str) -> None:
    try:
        text = instruction("FROM", path)
    except ModelfileError:
        assume(False)
    read = instructions_of(f"{text}PARAMETER num_ctx 512\n")
    assert read == [("FROM", path), ("PARAMETER", "num_ctx 512")]


@pytest.mark.parametrize("path", ["/a\u00a0b.gguf", "/a\x07b.gguf", "/a\udcffb.gguf"])
def test_that_a_path_that_ollama_would_change_is_refused_with_a_sentence(path: str) -> None:
    export = ollama.export(EngineConfig(model_path=path), None, None)
    assert export.text == ""
    assert export.files == ()
    assert "Rename the file" in export.notes[0]


def test_that_a_model_of_several_files_is_called_by_what_they_are_parts_of() -> None:
    assert ollama.model_name(EngineConfig(model_path="/m/GPT-OSS-120b-00001-of-00003.gguf")) == (
        "gpt-oss-120b"
    )
