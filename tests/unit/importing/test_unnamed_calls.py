"""Calls that say less than a person means: renamed programs, files and variables cut off."""

from __future__ import annotations

import pytest

from app.importing.found import Found
from app.importing.importer import TextError, import_text


def _only(text: str) -> Found:
    [found] = import_text(text)
    return found


def _codes(found: Found) -> list[str]:
    return [problem.partition(":")[0] for problem in found.problems]


# --- programs of unknown names ------------------------------------------------------------------


@pytest.mark.parametrize("program", ["lama-server", "./my-llm", "llamacpp-server", "D:\\run.exe"])
def test_that_flags_of_llama_cpp_tell_a_program_that_nobody_knows(program: str) -> None:
    found = _only(f"{program} -m q.gguf -c 8192 -ngl 99 --port 8081")
    assert found.settings["model_path"] == "q.gguf"
    assert found.settings["n_gpu_layers"] == 99
    assert found.other["port"] == 8081
    assert _codes(found) == ["foreign_program"]


def test_that_a_program_in_a_variable_without_a_value_is_read_and_told() -> None:
    found = _only("$LLAMA -hf unsloth/Qwen3-8B-GGUF:Q4_K_M -c 8192")
    assert found.settings["hf_repo"] == "unsloth/Qwen3-8B-GGUF:Q4_K_M"
    [problem] = found.problems
    assert problem.startswith("unresolved_variable: $LLAMA is the program")


@pytest.mark.parametrize(
    "text",
    [
        "convert.py -m q.gguf -t 8",  # no flag of a server
        "whisper-cli -m ggml-base.bin -t 8 -c 512",
        "sd-server -m q.gguf -c 512 --cfg-scale 7",
        "tool -c 512 -np 2",
    ],
)
def test_that_other_programs_are_none_of_llama_cpp(text: str) -> None:
    with pytest.raises(TextError, match=r"\.$"):
        import_text(text)


def test_that_a_known_program_beside_an_unknown_one_is_read_alone() -> None:
    found = _only("./helper -m a.gguf -c 512\nllama-server -m b.gguf -c 1024\n")
    assert found.settings["model_path"] == "b.gguf"


# --- variables that nothing holds ---------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "BIN=/media/$USER/apps/llama-server\n$BIN -m q.gguf -c 8192",
        "$HOME/llama.cpp/llama-server -m q.gguf -c 8192",
        "docker run -v $HOME/.cache:/data/.cache ghcr.io/ggml-org/llama.cpp:server "
        "-hf a/b-GGUF -c 8192",
        '$exe = Join-Path $PSScriptRoot "llama-server.exe"\n& $exe -m q.gguf -c 8192',
    ],
)
def test_that_a_variable_outside_of_the_words_is_no_problem(text: str) -> None:
    found = _only(text)
    assert found.settings["ctx_total_tok"] == 8192
    assert "unresolved_variable" not in _codes(found)


@pytest.mark.parametrize(
    "text",
    [
        "llama-server -m $HOME/q.gguf -c 8192",
        "llama-server -m ${HOME}/q.gguf -c 8192",
        "llama-server.exe -m %USERPROFILE%\\q.gguf -c 8192",
        "CUDA_VISIBLE_DEVICES=$GPUS llama-server -m q.gguf -c 8192",
        "docker run -v $MODELS:/models ghcr.io/ggml-org/llama.cpp:server -m /models/q.gguf",
    ],
)
def test_that_a_variable_in_the_words_stays_a_problem(text: str) -> None:
    assert "unresolved_variable" in _codes(_only(text))


# --- files that are written otherwise -----------------------------------------------------------


def test_that_parameters_of_a_script_are_no_list_of_words() -> None:
    found = _only(
        "param(\n"
        '    [string]$Exe = "F:\\bin\\llama-server.exe",\n'
        '    [string]$ModelPath = "F:\\models\\qwen.gguf",\n'
        "    [int]$CtxSize = 4096\n"
        ")\n"
        "& $Exe -m $ModelPath -c $CtxSize -ngl 29"
    )
    assert found.settings["model_path"] == "F:\\models\\qwen.gguf"
    assert found.settings["ctx_total_tok"] == 4096
    assert found.settings["n_gpu_layers"] == 29
    assert not found.problems


def test_that_a_container_of_llama_swap_has_the_name_of_its_model() -> None:
    found = _only(
        'models:\n  "Qwen Coder 32B":\n    cmd: >\n      docker run --rm -v /ssd:/models --name x\n'
        "      ghcr.io/ggml-org/llama.cpp:server -m /models/q.gguf -c 8192\n"
    )
    assert found.other["alias"] == "Qwen Coder 32B"


def test_that_the_lines_of_one_section_are_a_preset_too() -> None:
    found = _only("model = /m/a.gguf\nc = 8192\nfa = on ; as always\n")
    assert found.settings["model_path"] == "/m/a.gguf"
    assert found.settings["flash_attn"] == "on"


def test_that_lines_of_some_other_file_are_no_preset() -> None:
    with pytest.raises(TextError, match=r"\.$"):
        import_text("model = GPT\ncolour = red\n")


def test_that_no_layers_in_a_file_of_koboldcpp_are_not_set() -> None:
    text = '{"model_param": "a.gguf", "contextsize": 8192, "gpulayers": 20, "moecpu": %s}'
    assert "n_cpu_moe" not in _only(text % 0).settings
    assert _only(text % 12).settings["n_cpu_moe"] == 12
