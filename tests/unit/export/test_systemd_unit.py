"""The unit for systemd: taken apart again by its own rules, written down here once more."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.export import systemd_unit
from app.export.dialect import Export
from app.export.told import told
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.checked_words import said_in
from tests.unit.export.export_cases import export_cases
from tests.unit.test_export import FACTS, configs, effectives

_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
    '"': '"', "'": "'", "s": " ",
}  # fmt: skip

_UNIT_SHOWN = re.compile(r"\s*-> Unit (\S+):")
_COMMAND_SHOWN = re.compile(r"\s*Command Line: (.*)")
_WORD_SHOWN = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_ESCAPE_SHOWN = re.compile(r"\\(x[0-9a-f]{2}|.)")


def keys_in(text: str) -> dict[str, str]:
    """The last value of each key; lines that end with a backslash go on in the next."""
    lines: list[str] = []
    is_open = False
    for line in text.split("\n"):
        if is_open and line.lstrip().startswith(("#", ";")):
            continue
        is_going_on = line.endswith("\\")
        piece = line[:-1] + " " if is_going_on else line
        lines[-1:] = [lines[-1] + piece] if is_open else [*lines[-1:], piece]
        is_open = is_going_on
    return dict(line.split("=", 1) for line in lines if "=" in line)


def words_of(command: str) -> list[str]:
    """``ExecStart`` in words: quotes and escapes, then specifiers, then variables."""
    words, word, quote, at = [], None, "", 0
    while at < len(command):
        character = command[at]
        at += 1
        if character == "\\":
            word = (word or "") + _unescaped(command[at:])
            at += 3 if command[at] == "x" else 1
        elif quote:
            word = word or ""
            quote, word = ("", word) if character == quote else (quote, word + character)
        elif character in "\"'" and word is None:
            quote, word = character, ""
        elif character in "\"'":
            quote = character
        elif character in " \t":
            words += [word] if word is not None else []
            word = None
        else:
            word = (word or "") + character
    assert not quote
    words += [word] if word is not None else []
    return [_without_variables(_without_specifiers(found)) for found in words]


def _unescaped(rest: str) -> str:
    return chr(int(rest[1:3], 16)) if rest[0] == "x" else _ESCAPES[rest[0]]


def _without_specifiers(word: str) -> str:
    assert "%" not in word.replace("%%", ""), word
    return word.replace("%%", "%")


def _without_variables(word: str) -> str:
    assert "$" not in word.replace("$$", ""), word
    return word.replace("$$", "$")


def command_in(export: Export) -> list[str]:
    (file,) = export.files
    return words_of(keys_in(file.text)["ExecStart"])


@given(configs(), st.none() | effectives())
def test_that_the_command_inside_is_the_server_s(
    config: EngineConfig, effective: EffectiveConfig | None
) -> None:
    export = systemd_unit.export(config, effective, FACTS)
    assume(export.text)
    program, *words = command_in(export)
    assert program == "llama-server"
    assert words == list(told(config, effective, FACTS).words)
    said_in(words)


@pytest.mark.parametrize(
    "word",
    [
        "a b", "it's", 'say "hi"', "100%", "%h", "%%", "$HOME", "${x}", "$$", "a\\b", "\\", "\\n",
        "two\nlines", "tab\t", "\x01\x7f", ";", "#x", "", " ", "ünï 模型", "-x", "@x", "a\\",
    ],
)  # fmt: skip
def test_that_each_word_arrives_as_it_was(word: str) -> None:
    assert words_of(f"x {systemd_unit.quoted(word)} y") == ["x", word, "y"]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), max_size=5))
def test_that_any_words_arrive_as_they_were(words: list[str]) -> None:
    line = " ".join(map(systemd_unit.quoted, ["program", *words]))
    assert "\n" not in line
    assert words_of(line) == ["program", *words]


def test_that_a_unit_is_whole_and_readable() -> None:
    config = EngineConfig(model_path="/my models/100% m.gguf", load_mode="mlock")
    export = systemd_unit.export(config, None, FACTS)
    assert export.text == "systemctl --user enable --now llama-server.service"
    text = export.files[0].text
    assert text.startswith("[Unit]\nDescription=llama.cpp server for 100-m\n\n[Service]\n")
    assert 'ExecStart=llama-server \\\n  -m "/my models/100%% m.gguf" \\\n  -c 16384 \\\n' in text
    assert "\nLimitMEMLOCK=infinity\n" in text
    assert text.endswith("[Install]\nWantedBy=default.target\n")
    assert "LimitMEMLOCK" not in systemd_unit.export(EngineConfig(), None, FACTS).files[0].text


def test_that_a_grammar_stands_in_the_unit() -> None:
    grammar = 'root ::= "a\\n" [$%] # it\'s\n'
    words = command_in(systemd_unit.export(EngineConfig(grammar=grammar), None, FACTS))
    assert words[words.index("--grammar") + 1] == grammar


@pytest.mark.parametrize("path", ["/two\nlines.gguf", "/a\rb.gguf", "/\udcff.gguf"])
def test_that_a_path_of_several_lines_is_refused(path: str) -> None:
    export = systemd_unit.export(EngineConfig(model_path=path), None, FACTS)
    assert (export.text, export.files) == ("", ())
    assert "Rename" in export.notes[0]


def test_that_systemd_itself_reads_the_commands_that_were_meant(tmp_path: Path) -> None:
    """All of them at once: it takes half a second to start."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze on this machine")
    units = {f"case-{number}.service": config for number, config in enumerate(export_cases())}
    for name, config in units.items():
        text = systemd_unit.export(config, None, FACTS).files[0].text
        # The program has to be there for systemd to be content.
        text = text.replace("ExecStart=llama-server", "ExecStart=/bin/true")
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
         *(str(tmp_path / name) for name in units)],
        capture_output=True, text=True, check=False, timeout=120,
        env=os.environ | {"SYSTEMD_LOG_LEVEL": "debug", "SYSTEMD_LOG_TARGET": "null"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    heard = _commands_shown(done.stdout)
    if not heard:
        pytest.skip("this systemd does not show the commands of the units that it verifies")
    assert sorted(heard) == sorted(units)
    for name, config in units.items():
        words = told(config, None, FACTS).words
        # It puts in variables, for which a dollar sign is doubled, only as it starts the program.
        assert heard[name] == ["/bin/true", *(word.replace("$", "$$") for word in words)]


def _commands_shown(shown: str) -> dict[str, list[str]]:
    """The command of each unit, which systemd shows with quotes and escapes where it must."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in shown.splitlines():
        if unit := _UNIT_SHOWN.match(line):
            name = unit[1]
        elif command := _COMMAND_SHOWN.match(line):
            words = (word[1] or word[2] or "" for word in _WORD_SHOWN.finditer(command[1]))
            found[name] = [_ESCAPE_SHOWN.sub(_meant, word) for word in words]
    return found


def _meant(escape: re.Match[str]) -> str:
    shown = escape[1]
    return chr(int(shown[1:], 16)) if len(shown) > 1 else _ESCAPES.get(shown, shown)


def test_that_systemd_itself_finds_faults(tmp_path: Path) -> None:
    """Otherwise the test above could not fail."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze on this machine")
    unit = tmp_path / systemd_unit.FILE
    unit.write_text('[Service]\nExecStart=/bin/true "open\n', encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
    assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode != 0
