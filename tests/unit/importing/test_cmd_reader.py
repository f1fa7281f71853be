"""Texts for Windows' cmd.exe, read without running them."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from app.importing.cmd_reader import read_script
from app.importing.invocation import Invocation
from app.importing.readers import read
from app.importing.text_error import TextError
from app.quoting import Shell, quote, quote_lines
from tests.unit.test_quoting import AWKWARD, windows_words


def one(text: str) -> Invocation:
    (found,) = read(text, "x.bat")
    return found


def codes(found: Invocation) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


def test_that_carets_join_lines_and_backslashes_stay() -> None:
    found = one(
        "@echo off\nREM serve\nC:\\llama\\llama-server.exe ^\n"
        "  -m C:\\models\\a.gguf ^\n  -c 4096\npause\n"
    )
    assert (found.program, found.words) == (
        "llama-server.exe",
        ("-m", "C:\\models\\a.gguf", "-c", "4096"),
    )
    assert not found.problems


def test_that_a_backslash_before_a_blank_is_part_of_the_path() -> None:
    assert one("llama-server --models-dir .\\ --jinja").words == ("--models-dir", ".\\", "--jinja")


@pytest.mark.parametrize(
    "text",
    [
        "set M=a.gguf\nllama-server -m %M%",
        'set "M=a.gguf"\nllama-server -m "%M%"',
        "SET m=a.gguf\nllama-server -m %M%",
        "setlocal EnableDelayedExpansion\nset M=a.gguf\nllama-server -m !M!",
        'start "title here" /B llama-server -m a.gguf',
        'start "x" cmd /k "llama-server -m a.gguf"',
        "start /wait llama-server -m a.gguf",
        "cmd /c llama-server -m a.gguf",
        "call llama-server -m a.gguf",
        'if exist "x" llama-server -m a.gguf',
        "(llama-server -m a.gguf)",
        "llama-server -m a.gguf > log.txt 2>&1",
        "llama-server -m ^a.gguf",
        'powershell -Command "llama-server -m a.gguf"',
    ],
)
def test_that_what_the_text_sets_and_starts_is_read(text: str) -> None:
    found = one(text)
    assert found.words == ("-m", "a.gguf")
    assert "M" not in found.env


def test_that_what_is_set_is_environment() -> None:
    found = one("set CUDA_VISIBLE_DEVICES=0\nset PATH=C:\\cuda;%PATH%\nllama-server -m a.gguf")
    assert found.env == {"CUDA_VISIBLE_DEVICES": "0"}


def test_that_a_blank_before_the_sign_makes_another_variable() -> None:
    found = one("set OLLAMA_DEBUG = 1\nollama serve")
    assert found.env == {"OLLAMA_DEBUG ": " 1"}
    assert codes(found) == {"misspelt_variable"}


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ('llama-server -m ""C:\\a\\b.gguf"" -c 1', ("-m", "C:\\a\\b.gguf", "-c", "1"),
         "doubled_quotes"),
        ("llama-server -m ^ \n -c", ("-m", "-c"), "broken_continuation"),
        ("llama-server --x\n  --y", ("--x", "--y"), "broken_continuation"),
        ("llama-server --j '{\"a\": \"b c\"}'", ("--j", '{"a": "b c"}'), "shell_quoting"),
        ("llama-server -m %MODELS%\\a.gguf", ("-m", "%MODELS%\\a.gguf"), "unresolved_variable"),
        ("llama-server -m %~dp0a.gguf", ("-m", "%~dp0a.gguf"), "unresolved_variable"),
        ("cd /d D:\\llm\nllama-server -m a.gguf", ("-m", "a.gguf"), "relative_path"),
        ("llama-server -m ~\\a.gguf", ("-m", "~\\a.gguf"), "home_path"),
    ],
)  # fmt: skip
def test_that_what_was_meant_is_read_and_said(text: str, words: tuple[str, ...], code: str) -> None:
    found = one(text)
    assert found.words == words
    assert codes(found) == {code}


def test_that_json_in_doubled_quotes_is_one_word() -> None:
    assert one('llama-server --j "{""a"": false}" --k "{\\"b\\": 1}"').words == (
        "--j", '{"a": false}', "--k", '{"b": 1}',
    )  # fmt: skip


@given(windows_words)
@example(AWKWARD)
@example(["", "x", ""])
def test_that_what_is_quoted_for_cmd_is_read_back(words: list[str]) -> None:
    for write in (quote, quote_lines):
        (call,) = read_script(write(["llama-server", *words], Shell.CMD)).calls
        assert list(call.words[1:]) == words


def test_that_variables_that_multiply_are_refused_in_a_sentence() -> None:
    text = "set A=xxxxxxxxxx\n" + "set A=%A%%A%%A%\n" * 60 + "llama-server -m %A%"
    with pytest.raises(TextError, match="no command has"):
        read(text, "x.bat")
