"""Texts for PowerShell, read without running them."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("param([string]$M = 'a.gguf', [int]$C = 4KB, [switch]$X)\nllama-server -m $M -c $C",
         ("-m", "a.gguf", "-c", "4096")),
        ("param(\n  [Parameter(Mandatory=$true)]\n  [string]$M,\n  $C=8\n)\nllama-server -c $C",
         ("-c", "8")),
        ("$c = 32 * 1024\nllama-server -c $c", ("-c", "32768")),
        ("$c = 4*1024 + 1\nllama-server -c $c", ("-c", "4097")),
        ("$m = '{0}\\{1}' -f 'D:\\m', 'a.gguf'\nllama-server -m $m", ("-m", "D:\\m\\a.gguf")),
        ("$m = Join-Path 'D:\\m' \"a.gguf\"\nllama-server -m $m", ("-m", "D:\\m\\a.gguf")),
        ("llama-server -m (Join-Path -Path D:\\m -ChildPath a.gguf)", ("-m", "D:\\m\\a.gguf")),
        ("& (Join-Path C:\\l llama-server.exe) -np 2", ("-np", "2")),
        ("$a = '-np 2 -c 8' -split ' '\nllama-server @a", ("-np", "2", "-c", "8")),
        ("$a = @('-np', 2) -join ' '\niex \"llama-server $a\"", ("-np", "2")),
        ("$k = if ($env:KV) { $env:KV } else { 'q8_0' }\nllama-server -ctk $k", ("-ctk", "q8_0")),
        ("if (-not $env:KV) { $env:KV = 'q4_0' }\nllama-server -ctk $env:KV", ("-ctk", "q4_0")),
        ("$f = $true\nif ($f -and 2 -gt 1) { $n = 1 } else { $n = 2 }\nllama-server -np $n",
         ("-np", "1")),
        ("$k='b'\nswitch ($k) { 'a' { $n = 1 } 'b' { $n = 2 } default { $n = 3 } }\n"
         "llama-server -np $n", ("-np", "2")),
        ("$n = $false ? 1 : 2\nllama-server -np $n", ("-np", "2")),
        ("$l = New-Object System.Collections.Generic.List[string]\n$l.Add('-np')\n"
         "$l.AddRange([string[]]@('2', '-fit', 'off'))\nllama-server @l",
         ("-np", "2", "-fit", "off")),
        ("$p = @{ FilePath = 'llama-server'; ArgumentList = '-np', '2'; Wait = $true }\n"
         "Start-Process @p", ("-np", "2")),
        ("$i = New-Object System.Diagnostics.ProcessStartInfo\n$i.FileName = 'llama-server'\n"
         "$i.Arguments = '-m \"a b.gguf\"'\n[System.Diagnostics.Process]::Start($i)",
         ("-m", "a b.gguf")),
        ("$x = New-ScheduledTaskAction -Execute 'llama-server' -Argument '-np 2'", ("-np", "2")),
        ("function Start-It { param($M, [int]$N=4, [switch]$Fast)\n  $a = @('-m', $M, '-np', $N)\n"
         "  if ($Fast) { $a += '-fit', 'off' }\n  llama-server @a\n}\nStart-It -M a.gguf -Fast",
         ("-m", "a.gguf", "-np", "4", "-fit", "off")),
        ("function Start-It($M) { llama-server -m $M }\nStart-It a.gguf", ("-m", "a.gguf")),
        ("try { llama-server -np 2 } finally { Stop-Process -Name x }", ("-np", "2")),
        ("$j = @'\n{\"a\": 1}\n'@\nStart-Process llama-server -ArgumentList '-np 2'", ("-np", "2")),
    ],
)  # fmt: skip
def test_that_values_are_worked_out_where_the_text_tells(text: str, words: tuple[str, ...]) -> None:
    found = one(text)
    assert found.words == words
    assert not [each for each in found.problems if not each.startswith("shell_quoting:")]


def test_that_what_a_condition_decides_is_open_and_told() -> None:
    found = one("if (Test-Path D:) { $n = 1 } else { $n = 2 }\nllama-server -np $n")
    assert found.words == ("-np", "$n")
    assert found.problems == (
        "unresolved_variable: $n is “1” or “2”; a condition decides that when the text runs",
    )


def test_that_words_of_a_condition_are_read_and_told() -> None:
    found = one(
        "$a = @('-m', 'a.gguf')\nif (Test-Path m.gguf) { $a += '--mmproj', 'm.gguf' }\n"
        "llama-server @a"
    )
    assert found.words == ("-m", "a.gguf", "--mmproj", "m.gguf")
    assert codes(found) == {"conditional_words"}


def test_that_splats_without_a_value_are_told() -> None:
    found = one("llama-server @more -np 2")
    assert found.words == ("-np", "2")
    assert "the words of @more" in found.problems[0]


def test_that_a_function_that_nothing_calls_is_read_with_its_defaults() -> None:
    found = one("function Start-It { param($N = 4) llama-server -np $N }")
    assert found.words == ("-np", "4")


def test_that_what_only_powershell_works_out_is_not_known() -> None:
    found = one("$t = [Environment]::ProcessorCount\nllama-server -t $t -np (Get-Date).Year")
    assert found.words[:2] == ("-t", "$t")
    assert codes(found) == {"unresolved_variable"}


@given(st.text(alphabet="if$({[@)}]'\"`,;|&.-= elsabparamfunction\n+*:?!%1", max_size=200))
def test_that_no_text_breaks_the_reader(text: str) -> None:
    for call in read_script(text).calls:
        assert all(isinstance(word, str) for word in call.words)


def test_that_functions_that_call_themselves_end() -> None:
    text = "function A { llama-server -np 2\n A\n A\n A }\nA"
    assert read(text, "x.ps1")


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


@pytest.mark.parametrize(
    "text",
    [
        "function F { F; F; F; F }\n" + "F\n" * 20_000,
        "@'\n" * 20_000,
        "$a = 'x'\n" + "$a = $a + $a\n" * 5_000,
        "$a = " + "(1 + " * 20_000,
        "if ($a) { " * 10_000,
    ],
    ids=["functions", "here", "sums", "brackets", "conditions"],
)
def test_that_hostile_texts_are_read_in_no_time(text: str) -> None:
    begun_s = time.perf_counter()
    with contextlib.suppress(TextError):
        read_script(text)
    # A hundredth of what reading them took before they were looked at once.
    assert time.perf_counter() - begun_s < 20


def test_that_long_sums_are_worked_out() -> None:
    parts = " + ".join(f"'x{at}'" for at in range(100))
    found = one(f"$m = {parts}\nllama-server -m $m")
    assert found.words[1] == "".join(f"x{at}" for at in range(100))


def test_that_an_open_variable_of_the_environment_is_told_and_not_set() -> None:
    found = one("if (Test-Path a) { $env:CUDA_VISIBLE_DEVICES = 1 }\nllama-server -np 2")
    assert not found.env
    assert any("CUDA_VISIBLE_DEVICES is “1” or not set" in each for each in found.problems)


def test_that_answers_are_values() -> None:
    found = one(
        "$t = $env:THINK -ne '0'\n"
        "$n = if (-not $t) { 1 } elseif ($env:MORE) { 2 } else { 3 }\n"
        "$k = if ($t) { 'q8_0' } else { 'f16' }\nllama-server -np $n -ctk $k"
    )
    assert found.words == ("-np", "3", "-ctk", "q8_0")


def test_that_a_list_that_a_condition_fills_is_read_and_told() -> None:
    found = one("$a = @()\nif (Test-Path x) { $a = @('-fit', 'off') }\nllama-server -np 2 @a")
    assert found.words == ("-np", "2", "-fit", "off")
    assert codes(found) == {"conditional_words"}


TABLES = """param([string]$Preset = 'coder')
$presets = @{
  coder = @{ Model = 'D:\\m\\a.gguf'; Ctx = 64KB; 'Kv' = 'q8_0' }
  chat  = @{ Model = 'D:\\m\\b.gguf'; Ctx = 4096 }
}
$p = $presets[$Preset]
llama-server -m $p.Model -c $p.Ctx -ctk $presets.coder.Kv -np $p.Slots
"""


def test_that_hash_tables_are_looked_into() -> None:
    found = one(TABLES)
    assert found.words == (
        "-m", "D:\\m\\a.gguf", "-c", "65536", "-ctk", "q8_0", "-np", "$p.Slots",
    )  # fmt: skip
    assert codes(found) == {"unresolved_variable"}


def test_that_what_a_cmdlet_gives_is_no_text() -> None:
    found = one("$n = (Get-Count)\nllama-server -np $n -t (Get-Count)")
    assert found.words == ("-np", "$n", "-t", "(Get-Count)")
    assert codes(found) == {"unresolved_variable"}


def test_that_a_text_that_is_split_is_its_words() -> None:
    found = one('$a = "-ngl 99 -np 2"\nllama-server $a.Split(" ") -fit off -t $a.Substring(1)')
    assert found.words == ("-ngl", "99", "-np", "2", "-fit", "off", "-t", "$a.Substring(1)")
    assert found.problems == ("unresolved_variable: $a.Substring(1) is worked out by PowerShell",)


def test_that_a_script_is_called_with_nothing() -> None:
    found = one(
        "if ($args.Count -gt 0) { $m = $args[0] } else { $m = 'a.gguf' }\n"
        "$c = [int]($env:CTX ?? 8192)\nllama-server -m $m -c $c"
    )
    assert found.words == ("-m", "a.gguf", "-c", "8192")


def test_that_words_that_are_added_with_a_type_before_are_kept() -> None:
    found = one(
        "$a = [System.Collections.ArrayList]@('-np', 2)\n[void]$a.Add('-cmoe')\nllama-server @a"
    )
    assert found.words == ("-np", "2", "-cmoe")
