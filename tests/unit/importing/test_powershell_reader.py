"""Texts for PowerShell, read without running them."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from app.importing.invocation import Invocation
from app.importing.powershell_reader import read_script
from app.importing.readers import read
from app.importing.text_error import TextError
from app.quoting import Shell, quote, quote_lines
from tests.unit.test_quoting import AWKWARD, windows_words


def one(text: str) -> Invocation:
    (found,) = read(text, "x.ps1")
    return found


def codes(found: Invocation) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


@pytest.mark.parametrize(
    "text",
    [
        "llama-server `\n  -m `\n  a.gguf",
        ".\\llama-server.exe -m a.gguf # serves",
        "& 'C:\\my dir\\llama-server.exe' -m a.gguf",
        "$m = 'a.gguf'\nllama-server -m $m",
        '$d = "a"; llama-server -m "$d.gguf"',
        "$args = @('-m', 'a.gguf')\nllama-server @args",
        "$a = @(\n  '-m' # model\n  'a.gguf'\n)\n& llama-server $a",
        "$a = '-m', 'a.gguf'\nllama-server @a",
        "$a = @('-m')\n$a += 'a.gguf'\nllama-server @a",
        "[string]$m = 'a' + '.gguf'\nllama-server -m $m",
        "Start-Process -FilePath llama-server -ArgumentList '-m a.gguf'",
        "Start-Process llama-server -ArgumentList '-m','a.gguf' -NoNewWindow",
        "Start-Process llama-server '-m a.gguf' -WindowStyle Hidden",
        "Invoke-Expression 'llama-server -m a.gguf'",
        "llama-server --% -m a.gguf",
        "if ($true) { llama-server -m a.gguf }",
        "llama-server -m a.gguf 2>&1 | Tee-Object log.txt",
        "<# block #> llama-server -m a.gguf",
        "cmd /c llama-server -m a.gguf",
    ],
)
def test_that_what_the_text_sets_and_starts_is_read(text: str) -> None:
    found = one(text)
    assert found.program.removesuffix(".exe") == "llama-server"
    assert found.words == ("-m", "a.gguf")
    assert not found.problems


def test_that_the_environment_is_read() -> None:
    found = one(
        '$env:CUDA_VISIBLE_DEVICES = "0"\n$env:X="a.gguf"\n'
        '[Environment]::SetEnvironmentVariable("OLLAMA_DEBUG", "1", "User")\n'
        "llama-server -m $env:X"
    )
    assert found.env == {"CUDA_VISIBLE_DEVICES": "0", "OLLAMA_DEBUG": "1"}
    assert found.words == ("-m", "a.gguf")


def test_that_variables_alone_are_an_environment() -> None:
    found = one('$env:OLLAMA_HOST = "0.0.0.0"')
    assert (found.program, found.env) == ("", {"OLLAMA_HOST": "0.0.0.0"})


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("llama-server --j '{\"a\": false}'", ("--j", '{"a": false}'), "shell_quoting"),
        ("llama-server -ts 3,1 -c 1", ("-ts", "3,1", "-c", "1"), "shell_quoting"),
        ("$a = '-m a.gguf'\nllama-server $a", ("-m", "a.gguf"), "shell_quoting"),
        ("llama-server -m $models\\a.gguf", ("-m", "$models\\a.gguf"), "unresolved_variable"),
        ("llama-server -t $(Get-Count)", ("-t", "$(Get-Count)"), "unresolved_variable"),
        ("llama-server -m a ` \n -c 1", ("-m", "a", "-c", "1"), "broken_continuation"),
        ("llama-server ` -m a ` -c 1", ("-m", "a", "-c", "1"), "broken_continuation"),
        ("llama-server -m a\n -c 1", ("-m", "a", "-c", "1"), "broken_continuation"),
        ("cd D:\\llm\nllama-server -m a.gguf", ("-m", "a.gguf"), "relative_path"),
        ('llama-server --j {"a": 1} -c 1', ("--j", '{"a": 1}', "-c", "1"), "shell_quoting"),
    ],
)  # fmt: skip
def test_that_what_was_meant_is_read_and_said(text: str, words: tuple[str, ...], code: str) -> None:
    found = one(text)
    assert found.words == words
    assert code in codes(found)


def test_that_json_escaped_for_the_old_powershell_is_plain_json() -> None:
    found = one("llama-server --j '{\\\"a\\\": false}'")
    assert found.words == ("--j", '{"a": false}')
    assert not found.problems


@given(windows_words)
@example(AWKWARD)
def test_that_what_is_quoted_for_powershell_is_read_back(words: list[str]) -> None:
    for write in (quote, quote_lines):
        (call,) = read_script(write(["llama-server", *words], Shell.POWERSHELL)).calls
        assert list(call.words[1:]) == words


def test_that_variables_that_multiply_are_refused_in_a_sentence() -> None:
    text = "$a = @('','')\n" + "$a += $a\n" * 60 + "llama-server @a"
    with pytest.raises(TextError, match="no command has"):
        read(text, "x.ps1")
