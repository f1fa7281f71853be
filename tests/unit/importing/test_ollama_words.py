"""Ollama's words: variables, Modelfiles, requests, commands; a context for each slot."""

from __future__ import annotations

import pytest

from app.importing.found import Found
from app.importing.go_template import builtin_like
from app.importing.importer import import_text
from app.importing.invocation import Invocation
from app.importing.ollama_words import understand
from tests.unit.importing.invocations import call, codes, document, problem
from tests.unit.importing.test_secret_words import TOKEN

CHATML = "<|im_start|>user\n{{ .Prompt }}<|im_end|>\n<|im_start|>assistant\n"


def variables(**env: str) -> Found:
    return understand(Invocation("env", "", env=env))


# --- Variables ----------------------------------------------------------------------------------


def test_that_one_variable_sets_both_cache_types() -> None:
    found = variables(OLLAMA_KV_CACHE_TYPE="Q8_0", OLLAMA_FLASH_ATTENTION="1")
    assert found.settings == {
        "cache_type_k": "q8_0", "cache_type_v": "q8_0", "flash_attn": "on",
    }  # fmt: skip
    assert found.env == {"OLLAMA_KV_CACHE_TYPE": "Q8_0", "OLLAMA_FLASH_ATTENTION": "1"}


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", "on"), ("true", "on"), ("0", "off"), ("false", "off"), (" '1' ", "on")],
)
def test_that_a_switch_is_read_as_ollama_reads_it(text: str, value: str) -> None:
    assert variables(OLLAMA_FLASH_ATTENTION=text).settings == {"flash_attn": value}


def test_that_slots_without_a_context_are_told_of() -> None:
    found = variables(OLLAMA_NUM_PARALLEL="4")
    assert found.settings == {"slots": 4, "kv_unified": False}
    assert found.derived == ("kv_unified",)
    assert "4 times" in problem(found, "unknown_context")


def test_that_the_context_is_that_of_one_slot() -> None:
    found = variables(OLLAMA_NUM_PARALLEL="4", OLLAMA_CONTEXT_LENGTH="8192")
    assert found.settings == {"slots": 4, "kv_unified": False, "ctx_per_slot_tok": 8192}
    assert not found.problems
    assert any("32,768 tok in all" in note for note in found.notes)


def test_that_one_slot_multiplies_nothing() -> None:
    assert not variables(OLLAMA_NUM_PARALLEL="1").problems


@pytest.mark.parametrize(
    ("host", "other"),
    [
        ("0.0.0.0:11434", {"host": "0.0.0.0", "port": 11434}),
        ("http://192.0.2.7:8080", {"host": "192.0.2.7", "port": 8080}),
        ("localhost", {"host": "localhost"}),
        ("[::1]:9", {"host": "::1", "port": 9}),
        (":11435", {"port": 11435}),
    ],
)
def test_that_an_address_is_taken_apart(host: str, other: dict[str, object]) -> None:
    assert variables(OLLAMA_HOST=host).other == other


def test_that_the_overhead_is_shown_and_its_size_judged() -> None:
    usual = variables(OLLAMA_GPU_OVERHEAD="2147483648")
    assert usual.other == {"gpu_overhead_bytes": 2147483648}
    assert not usual.problems
    assert "18 TiB" in problem(variables(OLLAMA_GPU_OVERHEAD="20000000000000"), "odd_value")


def test_that_a_variable_with_a_blank_has_no_effect() -> None:
    found = understand(
        Invocation("cmd", "ollama", ("serve",), {"OLLAMA_GPU_OVERHEAD ": " 20000000000000"},
                   problems=("misspelt_variable: OLLAMA_GPU_OVERHEAD stays unset",))
    )  # fmt: skip
    assert found.settings == {}
    assert found.other == {}
    assert codes(found) == {"misspelt_variable", "odd_value"}


def test_that_misspelt_and_old_variables_are_told_of() -> None:
    found = variables(OLLAMA_NUM_PARALEL="4", OLLAMA_MAX_VRAM="1", OLLAMA_WHO_KNOWS="1")
    assert "OLLAMA_NUM_PARALLEL" in problem(found, "misspelt_variable")
    assert "OLLAMA_GPU_OVERHEAD" in problem(found, "removed_key")
    assert any("OLLAMA_WHO_KNOWS" in note for note in found.notes)
    assert len(found.env) == 3


def test_that_what_its_engine_inherits_is_read() -> None:
    found = variables(LLAMA_ARG_FIT_TARGET="2048", LLAMA_ARG_CACHE_RAM="0", OLLAMA_DEBUG="1")
    assert found.settings == {"fit_margin_mib": 2048, "cache_ram_mib": 0}


def test_that_a_cache_type_that_it_has_not_is_told_of() -> None:
    found = variables(OLLAMA_KV_CACHE_TYPE="fp8")
    assert "odd_value" in codes(found)


def test_that_published_ports_are_the_port() -> None:
    found = understand(Invocation("compose", "ollama", ports=(("127.0.0.1:11435", "11434"),)))
    assert found.other == {"port": 11435}


# --- Modelfiles ---------------------------------------------------------------------------------


def modelfile(**values: str | tuple[str, ...]) -> Found:
    return understand(document("modelfile", **values))


def test_that_parameters_are_settings() -> None:
    found = modelfile(
        FROM="./m.gguf", num_ctx="8192", temperature="0", top_p="0.5", num_predict="-1",
        repeat_last_n="64", num_gpu="-1", num_thread="0", num_batch="1024", use_mmap="false",
        seed="7", num_keep="24", min_p="0.1", top_k="40", main_gpu="1",
    )  # fmt: skip
    assert found.settings == {
        "model_path": "./m.gguf", "ctx_per_slot_tok": 8192, "temperature": 0.0, "top_p": 0.5,
        "max_new_tok": -1, "repeat_last_n_tok": 64, "n_gpu_layers": "auto", "threads": "auto",
        "batch_tok": 1024, "ubatch_tok": 1024, "load_mode": "none", "seed": 7, "keep_tok": 24,
        "min_p": 0.1, "top_k": 40, "main_gpu": 1, "split_mode": "none",
    }  # fmt: skip
    assert found.derived == ("split_mode",)
    assert not found.problems


def test_that_stop_words_add_up() -> None:
    found = modelfile(FROM="m.gguf", stop=('"<|im_end|>"', "<|eot|>  ", '""'))
    assert found.other == {"stop": ["<|im_end|>", "<|eot|>", ""]}


def test_that_a_missing_model_is_told_of() -> None:
    assert "FROM" in problem(modelfile(num_ctx="4096"), "no_model")


@pytest.mark.parametrize(
    ("model", "settings", "code"),
    [
        ("~/m.gguf", {"model_path": "~/m.gguf"}, "home_path"),
        (".\\export\\pytorch_model.bin", {"model_path": ".\\export\\pytorch_model.bin"},
         "unsupported_file"),
        ("/o/blobs/sha256-0123456789abcdef", {"model_path": "/o/blobs/sha256-0123456789abcdef"},
         "blob_path"),
        ("llama3.2:3b", {}, "no_model"),
        ("hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q8_0",
         {"hf_repo": "bartowski/Llama-3.2-3B-Instruct-GGUF:Q8_0"}, ""),
        ("./folder", {"model_path": "./folder"}, "unsupported_file"),
    ],
)  # fmt: skip
def test_that_a_model_is_what_it_is(model: str, settings: dict[str, object], code: str) -> None:
    found = modelfile(FROM=model)
    assert found.settings == settings
    assert codes(found) == ({code} if code else set())


def test_that_a_known_template_is_offered() -> None:
    found = modelfile(FROM="m.gguf", TEMPLATE=CHATML)
    assert found.other["chat_template"] == "chatml"
    assert codes(found) == {"go_template"}


def test_that_a_template_of_ones_own_is_told_of() -> None:
    found = modelfile(FROM="m.gguf", TEMPLATE="<start_of_turn>user\n{{ .Prompt }}<|thought|>")
    assert codes(found) == {"go_template", "template_override"}
    assert "chat_template" not in found.other


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CHATML, "chatml"),
        (CHATML.replace("user", "{{ .Role }}"), "chatml"),
        ("<|start_header_id|>user<|end_header_id|>{{ .Prompt }}<|eot_id|>", "llama3"),
        ("<start_of_turn>user\n{{ .Prompt }}<end_of_turn>", "gemma"),
        (CHATML + "<tool_call>", ""),
        ("<|im_start|>{{ .Prompt }}", ""),
        ("{{ .Prompt }}", ""),
        ("{{" * 5000, ""),
    ],
)
def test_that_templates_are_told_by_their_marks(text: str, name: str) -> None:
    assert builtin_like(text) == name


def test_that_parameters_of_old_are_told_of() -> None:
    found = modelfile(FROM="m.gguf", mirostat="2", mirostat_tau="4", low_vram="true", f00="1")
    assert found.settings == {"model_path": "m.gguf", "mirostat": 2, "mirostat_ent": 4.0}
    assert [one.was for one in found.healed] == ["mirostat", "mirostat_tau", "low_vram"]
    assert "f00" in problem(found, "unknown_flag")
    assert found.passthrough == ("PARAMETER f00 1",)


def test_that_what_stands_beside_the_model_is_read() -> None:
    found = modelfile(
        FROM=("m.gguf", "mmproj.gguf"), ADAPTER="a.gguf", DRAFT="d.gguf", draft_num_predict="6",
        SYSTEM="Be brief.", LICENSE="MIT",
    )  # fmt: skip
    assert found.settings == {
        "model_path": "m.gguf", "mmproj_path": "mmproj.gguf", "lora": ("a.gguf",),
        "draft_model_path": "d.gguf", "draft_n_max": 6, "spec_types": ("draft-simple",),
    }  # fmt: skip
    assert found.other == {"system_prompt": "Be brief."}


def test_that_layers_of_the_models_own_draft_where_no_other_does() -> None:
    found = modelfile(FROM="m.gguf", draft_num_predict="3")
    assert found.settings["spec_types"] == ("draft-mtp",)
    assert modelfile(FROM="m.gguf", draft_num_predict="0").settings["spec_types"] == ()


def test_that_values_that_are_none_stay_open() -> None:
    found = modelfile(FROM="m.gguf", num_ctx="many", temperature="<t>")
    assert found.settings == {"model_path": "m.gguf", "ctx_per_slot_tok": None, "temperature": None}
    assert codes(found) == {"bad_value", "placeholder"}


# --- Requests and commands ----------------------------------------------------------------------


def test_that_a_request_is_read() -> None:
    found = understand(
        document("json", model="llama3.2", prompt="hi", stream="false", options__num_ctx="4096",
                 options__temperature="0.1", options__stop=("a", "b"), keep_alive="10m",
                 foo="1")
    )  # fmt: skip
    assert found.settings == {"ctx_per_slot_tok": 4096, "temperature": 0.1}
    assert found.other == {"source_model": "llama3.2", "stop": ["a", "b"], "keep_alive": "10m"}
    assert codes(found) == {"no_model", "unknown_key"}


def test_that_a_run_names_its_model() -> None:
    found = understand(call("ollama run hf.co/a/B-GGUF:Q4_K_M --verbose 'why is it'"))
    assert found.settings == {"hf_repo": "a/B-GGUF:Q4_K_M"}
    assert found.other == {"prompt": "why is it"}
    assert any("--verbose" in note for note in found.notes)


def test_that_making_a_model_points_to_its_file() -> None:
    found = understand(call("ollama create mine -f ./Modelfile"))
    assert found.other == {"modelfile": "./Modelfile", "alias": "mine"}
    assert any("open that one" in note for note in found.notes)


def test_that_the_server_takes_no_flags() -> None:
    found = understand(call("ollama serve --num-ctx 4096"))
    assert "unknown_flag" in codes(found)
    assert found.passthrough == ("--num-ctx", "4096")


def test_that_its_engine_has_the_words_of_llama_cpp() -> None:
    found = understand(
        call("ollama runner --model /b/blobs/sha256-0123456789abcdef --threads 4 "
             "--kv-cache-type q8_0")
    )  # fmt: skip
    assert found.settings["threads"] == 4
    assert found.settings["cache_type_k"] == found.settings["cache_type_v"] == "q8_0"
    assert "blob_path" in codes(found)


def test_that_no_secret_is_repeated() -> None:
    found = variables(HF_TOKEN=TOKEN, OLLAMA_ORIGINS="*")
    assert TOKEN not in repr(found)
    assert found.env["HF_TOKEN"] == "REDACTED"


def test_that_what_cannot_be_together_is_told_of() -> None:
    found = variables(OLLAMA_FLASH_ATTENTION="0", OLLAMA_KV_CACHE_TYPE="q8_0")
    assert "flash attention" in problem(found, "contradiction")
    assert not variables(OLLAMA_KV_CACHE_TYPE="q8_0").problems


# --- Several models, sessions, what is written otherwise ----------------------------------------


@pytest.mark.parametrize(
    ("lines", "model", "projector"),
    [
        (("google_gemma-3-4b.gguf", "mmproj-google_gemma-3-4b-f32.gguf"), 0, 1),
        (("./mmproj-model-f16.gguf", "./llava-phi-3-mini-int4.gguf"), 1, 0),
        (("a.gguf", "clip.projector.gguf"), 0, 1),
        (("/m/a-00001-of-00002.gguf", "/m/a-00002-of-00002.gguf"), 0, None),
    ],
)
def test_that_a_projector_is_told_by_its_name(
    lines: tuple[str, ...], model: int, projector: int | None
) -> None:
    (found,) = import_text("\n".join(f"FROM {line}" for line in lines), "Modelfile")
    assert found.settings["model_path"] == lines[model]
    assert found.settings.get("mmproj_path") == (None if projector is None else lines[projector])
    assert not found.problems


def test_that_names_that_do_not_tell_the_projector_are_told_of() -> None:
    (found,) = import_text("FROM a.gguf\nFROM b.gguf\nFROM c.gguf", "Modelfile")
    assert (found.settings["model_path"], found.settings["mmproj_path"]) == ("a.gguf", "b.gguf")
    assert codes(found) == {"ambiguous_model"}
    assert found.passthrough == ("FROM c.gguf",)


def test_that_of_names_of_the_library_the_last_counts() -> None:
    (found,) = import_text("FROM llama3.1:8b\nFROM qwen3:8b", "Modelfile")
    assert found.other["source_model"] == "qwen3:8b"
    assert "mmproj_path" not in found.settings
    assert codes(found) == {"duplicate_option", "no_model"}


def test_that_a_session_with_its_model_is_read() -> None:
    (found,) = import_text(
        "$ ollama run --verbose qwen3:8b\n>>> /set parameter num_ctx 32768\n"
        "Set parameter 'num_ctx' to '32768'\n>>> /save mine\n"
    )
    assert found.settings["ctx_per_slot_tok"] == 32768
    assert found.other["source_model"] == "qwen3:8b"


def test_that_what_is_typed_without_a_model_is_a_part() -> None:
    (found,) = import_text("/set parameter num_ctx 4096\n/set parameter num_gpu 20")
    assert (found.settings["ctx_per_slot_tok"], found.settings["n_gpu_layers"]) == (4096, 20)
    assert codes(found) == {"fragment"}


def test_that_a_modelfile_written_otherwise_is_read_as_meant() -> None:
    (found,) = import_text(
        "from q.gguf # mine\nparameter num_ctx=4096\nPARAMETER top_k 5 # few\nPARAMETER stop #",
        "Modelfile",
    )
    assert {"model_path": "q.gguf", "ctx_per_slot_tok": 4096, "top_k": 5}.items() <= (
        found.settings.items()
    )
    assert found.other["stop"] == ["#"]
    assert codes(found) == {"broken_file"}


def test_that_a_request_to_create_a_model_is_read() -> None:
    (found,) = import_text(
        '{"model": "mine", "from": "qwen3", "parameters": {"num_ctx": 8192, "stop": ["a", "b"]}}'
    )
    assert found.settings["ctx_per_slot_tok"] == 8192
    assert (found.other["alias"], found.other["source_model"]) == ("mine", "qwen3")
