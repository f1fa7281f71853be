"""A text becomes what can be taken over from it; the engine is chosen, the command tells it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from app.cli import main
from app.importing.dialect_choice import engine_of
from app.importing.found import Found
from app.importing.found_json import as_json
from app.importing.found_lines import lines_of
from app.importing.importer import TextError, import_text
from app.importing.invocation import Invocation


@pytest.mark.parametrize(
    ("invocation", "engine"),
    [
        (Invocation("posix", "llama-server"), "llama.cpp"),
        (Invocation("posix", "llama"), "llama.cpp"),
        (Invocation("posix", "llamafile"), "llama.cpp"),
        (Invocation("posix", "ollama_llama_server"), "llama.cpp"),
        (Invocation("posix", "server", ("-m", "x.gguf", "-ngl", "3")), "llama.cpp"),
        (Invocation("posix", "server", ("start",)), ""),
        (Invocation("posix", "llama_cpp.server"), "llama-cpp-python"),
        (Invocation("posix", "vllm", ("serve",)), "vllm"),
        (Invocation("posix", "sglang.launch_server"), "sglang"),
        (Invocation("posix", "koboldcpp.py"), "koboldcpp"),
        (Invocation("posix", "ollama", ("serve",)), "ollama"),
        (Invocation("posix", "trtllm-serve"), "tensorrt-llm"),
        (Invocation("posix", "lms", ("load",)), "lmstudio"),
        (Invocation("posix", "curl"), ""),
        (Invocation("preset", "", values={"model": ("x",)}), "llama.cpp"),
        (Invocation("modelfile", "", values={"FROM": ("x",)}), "ollama"),
        (Invocation("kcpps", "", values={"contextsize": ("4096",)}), "koboldcpp"),
        (Invocation("env", "", env={"LLAMA_ARG_CTX_SIZE": "1"}), "llama.cpp"),
        (Invocation("env", "", env={"OLLAMA_NUM_PARALLEL": "1"}), "ollama"),
        (Invocation("compose", "", image="ghcr.io/ggml-org/llama.cpp:server"), "llama.cpp"),
        (Invocation("posix", "", ("-ngl", "99", "-c", "4096")), "llama.cpp"),
        (Invocation("posix", "", ("--max-model-len", "4096", "--gpu-memory-util=0.9")), "vllm"),
        (Invocation("posix", "", ("--mem-fraction-static", "0.8", "--tp", "8")), "sglang"),
        (Invocation("posix", "", ("hello",)), ""),
    ],
)
def test_that_the_engine_is_told_by_what_the_text_has(invocation: Invocation, engine: str) -> None:
    assert engine_of(invocation) == engine


def test_that_several_commands_are_all_found() -> None:
    found = import_text("llama-server -m a.gguf -c 512\n\nllama-server -m b.gguf -c 1024\n")
    assert [one.settings["model_path"] for one in found] == ["a.gguf", "b.gguf"]


@pytest.mark.parametrize("text", ["", "   \n", "Good morning.", "\0\0\0", "ls -la /tmp"])
def test_that_a_text_without_a_command_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(TextError, match=r"\.$"):
        import_text(text)


def test_that_json_has_numbers_and_pairs() -> None:
    told = as_json(
        Found("llama-server", {"tensor_split": ("3", "1"), "override_tensor": ("a=CPU",)})
    )
    assert told["settings"] == {
        "tensor_split": [3.0, 1.0],
        "override_tensor": [{"pattern": "a", "buffer": "CPU"}],
    }


def test_that_a_person_is_told_everything() -> None:
    [found] = import_text(
        "CUDA_VISIBLE_DEVICES=0 llama-server -m a.gguf -c 512 --mlock -mla 3 --port 9000 --alias x"
    )
    told = "\n".join(lines_of(found))
    for part in ("llama-server", "ctx_total_tok: 512", "slots: 4 (follows", "--mlock ->",
                 "-mla 3", "port: 9000", "CUDA_VISIBLE_DEVICES=0", "--alias x"):  # fmt: skip
        assert part in told


# --- tunedeck import --------------------------------------------------------------------------


def test_that_the_command_prints_one_object(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.sh"
    file.write_text("llama-server -m a.gguf -md d.gguf --draft-max 8 -mla 3", encoding="utf-8")
    assert main(["import", str(file), "--json"]) == 0
    [found] = json.loads(capsys.readouterr().out)["found"]
    assert found["target"] == "llama-server"
    assert found["settings"]["draft_n_max"] == 8
    assert found["healed"] == [{"from": "--draft-max 8", "to": "--spec-draft-n-max 8"}]
    assert found["passthrough"] == ["-mla", "3"]
    assert [problem.partition(":")[0] for problem in found["problems"]] == [
        "unknown_flag", "removed_flag", "spec_off",
    ]  # fmt: skip
    assert found["usable"]["values"]["extra_flags"] == ["-mla 3"]


def test_that_the_command_reads_its_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = io.TextIOWrapper(io.BytesIO(b"llama-server -m a.gguf -c 512"))
    monkeypatch.setattr("sys.stdin", text)
    assert main(["import", "-"]) == 0
    assert "ctx_total_tok: 512 tok" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read"),
        (b"\x7fELF\x01\x01\0\0\0\0\x02\x03", "no text"),
        (b"Good morning.", "No "),
        (b"x" * (2 * 1024 * 1024 + 1), "longer than"),
    ],
)
def test_that_the_command_says_why_nothing_came_of_it(
    content: bytes | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.txt"
    if content is not None:
        file.write_bytes(content)
    assert main(["import", str(file), "--json"]) == 1
    printed = capsys.readouterr()
    assert why in json.loads(printed.out)["error"]
    assert printed.err.strip().endswith(".")


def test_that_control_characters_of_a_text_never_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.sh"
    file.write_text("llama-server -m 'a\x1b[31m.gguf' --alias $'\\x1b[2J'", encoding="utf-8")
    assert main(["import", str(file)]) == 0
    assert "\x1b" not in capsys.readouterr().out
