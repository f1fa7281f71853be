"""llama-swap: its YAML, and the command inside as it takes it apart."""

from __future__ import annotations

import re
import shlex

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from app.export import llama_swap
from app.export.dialect import Export
from app.export.told import told, without_grammar
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.checked_words import said_in
from tests.unit.test_export import FACTS, configs, effectives
from tests.unit.test_quoting import command_line_to_argv


def command_in(export: Export) -> str:
    """``cmd`` of the only model, with what llama-swap puts in and leaves away."""
    models = yaml.safe_load(export.files[0].text)["models"]
    ((_, model),) = models.items()
    lines = []
    for line in model["cmd"].replace("${PORT}", "5800").split("\n"):
        trimmed = line.strip()
        if trimmed.startswith("#"):
            continue
        lines.append(line.rstrip()[:-1] + " " if trimmed.endswith("\\") else line)
    text = "\n".join(lines)
    assert not re.search(r"\$\{[A-Za-z0-9_-]+\}", text)
    return text


def words_in(export: Export) -> list[str]:
    return shlex.split(command_in(export))


@given(configs(), st.none() | effectives())
def test_that_the_command_inside_is_the_server_s(
    config: EngineConfig, effective: EffectiveConfig | None
) -> None:
    export = llama_swap.export(config, effective, FACTS)
    assume(export.text)
    plain, grammar = without_grammar(config)
    words = words_in(export)
    assert words[:3] == ["llama-server", "--port", "5800"]
    wanted = list(told(plain, effective, FACTS).words)
    wanted += ["--grammar-file", "grammar.gbnf"] if grammar else []
    assert words[3:] == wanted
    said_in(words[1:])


@given(configs())
def test_that_the_command_inside_is_the_same_on_windows(config: EngineConfig) -> None:
    export = llama_swap.export(config, None, FACTS, Shell.POWERSHELL)
    assume(export.text)
    plain, grammar = without_grammar(config)
    wanted = list(told(plain, None, FACTS).words)
    wanted += ["--grammar-file", "grammar.gbnf"] if grammar else []
    assert command_line_to_argv(command_in(export).replace("\n", " ").strip())[3:] == wanted


def test_that_the_file_can_be_read_by_a_person() -> None:
    config = EngineConfig(model_path="/my models/m.gguf", slots=2)
    export = llama_swap.export(config, None, FACTS)
    assert export.text == "llama-swap --config llama-swap.yaml"
    lines = export.files[0].text.splitlines()
    assert lines[:7] == [
        "models:",
        '  "m":',
        "    cmd: |",
        "      llama-server",
        "      --port ${PORT}",
        "      -m '/my models/m.gguf'",
        "      -c 8192",
    ]


def test_that_where_it_listens_is_left_to_llama_swap() -> None:
    config = EngineConfig(extra_flags=("--port 9000", "--jinja", "--host 0.0.0.0"))
    export = llama_swap.export(config, None, FACTS)
    words = words_in(export)
    assert words.count("--port") == 1
    assert "--host" not in words
    assert "--jinja" in words
    assert "--port 9000" in export.not_carried["extra_flags"]


@pytest.mark.parametrize("path", ["/${PORT}/m.gguf", "/${env.HOME}/m.gguf", "/a${x-1}.gguf"])
def test_that_a_macro_in_a_path_is_refused(path: str) -> None:
    export = llama_swap.export(EngineConfig(model_path=path), None, FACTS)
    assert (export.text, export.files) == ("", ())
    assert "macro" in export.notes[0]


@pytest.mark.parametrize(
    "path",
    [
        "/with space/it's \"x\".gguf", "#x", "/ünï 模型.gguf", "/a\\b\\", "/$HOME `id` $(x).gguf",
        "/${not a macro}.gguf", "-leading # hash.gguf", "/a: b.gguf", "%HOME%", "/&|^.gguf",
    ],
)  # fmt: skip
@pytest.mark.parametrize("shell", Shell)
def test_that_awkward_paths_are_held_as_they_are(path: str, shell: Shell) -> None:
    export = llama_swap.export(EngineConfig(model_path=path), None, FACTS, shell)
    command = command_in(export)
    if shell is Shell.POSIX:
        words = shlex.split(command)
    else:
        words = command_line_to_argv(command.replace("\n", " ").strip())
    assert words[words.index("-m") + 1] == path


@pytest.mark.parametrize("path", ["/two\nlines.gguf", "/a\u2028b.gguf", "/a\x1bb.gguf"])
def test_that_a_path_of_several_lines_is_refused(path: str) -> None:
    export = llama_swap.export(EngineConfig(model_path=path), None, FACTS)
    assert export.text == ""
    assert "Rename" in export.notes[0]


def test_that_a_grammar_lies_in_a_file_of_its_own() -> None:
    grammar = 'root ::= "a"\n# it\'s a comment\n'
    export = llama_swap.export(EngineConfig(grammar=grammar), None, FACTS)
    assert [file.name for file in export.files] == ["llama-swap.yaml", "grammar.gbnf"]
    assert export.files[1].text == grammar
    assert words_in(export)[-2:] == ["--grammar-file", "grammar.gbnf"]
