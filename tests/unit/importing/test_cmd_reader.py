"""Texts for Windows' cmd.exe, read without running them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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


MENU = """@echo off
setlocal EnableDelayedExpansion
set "ROOT=%~dp0"
set NGL=99
if exist "D:\\big.gguf" (
    set "MODEL=D:\\big.gguf"
) else (
    echo not there ^(yet^)
    set "MODEL=%ROOT%models\\small.gguf"
)
if "%CTX%"=="" set CTX=32768
if /i "%~1"=="cpu" (set NGL=0& set KV=f16) else if "%~1"=="" (set KV=q8_0) else set KV=q4_0
set /a THREADS=16/2-1, NP=2
"%ROOT%llama-server.exe" ^
  -m "!MODEL!" ^
  -c %CTX% -ngl %NGL% -ctk %KV% -t %THREADS% -np !NP! %*
pause
"""


def test_that_conditions_decide_where_the_text_says_what_holds() -> None:
    found = one(MENU)
    assert found.program == "llama-server.exe"
    assert found.words[2:] == (
        "-c", "32768", "-ngl", "99", "-ctk", "q8_0", "-t", "7", "-np", "2",
    )  # fmt: skip
    assert found.words[1] == "%MODEL%"
    assert any("“D:\\big.gguf” or “%~dp0models\\small.gguf”" in each for each in found.problems)
    assert any("called with nothing" in note for note in found.notes)
    assert not found.env


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("set F=D:\\m\\a.gguf\nllama-server -m %F:~0,2%\\b.gguf", ("-m", "D:\\b.gguf")),
        ("set F=abcdef\nllama-server -a %F:~-3%", ("-a", "def")),
        ("set F=abcdef\nllama-server -a %F:~1,-2%", ("-a", "bcd")),
        ("set F=q4-q4\nllama-server -a %F:Q4=q8%", ("-a", "q8-q8")),
        ("set F=x-q4\nllama-server -a %F:*-=%", ("-a", "q4")),
        ("@echo off\nllama-server -a 100%%", ("-a", "100%")),
        ("llama-server -a 100%%", ("-a", "100%%")),
        ("set A=1\nset A=\nif not defined A set A=2\nllama-server -np %A%", ("-np", "2")),
        ("set A=8\nif %A% GTR 4 (set B=1) else (set B=2)\nllama-server -np %B%", ("-np", "1")),
        ("set A=8\nif %A%==8 set B=3\nllama-server -np %B%", ("-np", "3")),
        ("if 1==1 (if 2==3 (set B=1) else (set B=2))\nllama-server -np %B%", ("-np", "2")),
        ("set A=B C\nllama-server -a \"%A%\" & rem words", ("-a", "B C")),
        ("@echo off\ncall :go D:\\a.gguf 7\ngoto :eof\n:go\nllama-server -m %~1 -np %2\nexit /b",
         ("-m", "D:\\a.gguf", "-np", "7")),
        ("llama-server -m a.gguf ^\n  :: more\n  -np 2", ("-m", "a.gguf", "-np", "2")),
        ("if 1==2 (\n set A=1\n)\nelse (\n set A=2\n)\nllama-server -np %A%", ("-np", "2")),
    ],
)  # fmt: skip
def test_that_variables_are_put_in_as_cmd_does(text: str, words: tuple[str, ...]) -> None:
    assert one(text).words == words


def test_that_words_of_a_condition_are_read_and_told() -> None:
    found = one(
        "set O=-m a.gguf\nif exist b.gguf set O=%O% --mmproj b.gguf\nllama-server %O% -np 1"
    )
    assert found.words == ("-m", "a.gguf", "--mmproj", "b.gguf", "-np", "1")
    assert codes(found) == {"conditional_words"}


def test_that_both_sides_of_a_condition_can_be_chosen_once() -> None:
    text = 'if "%D%"=="1" (\n llama-server -m a.gguf\n) else (\n {} -m a.gguf > log.txt\n)'
    assert len(read(text.format("llama-server"), "x.bat")) == 1
    assert [each.program for each in read(text.format("llama-cli"), "x.bat")] == [
        "llama-server", "llama-cli",
    ]  # fmt: skip


def test_that_a_value_set_in_the_same_block_is_read_as_meant_and_told() -> None:
    found = one("if exist a.gguf (\n  set C=4096\n  llama-server -c %C%\n)")
    assert found.words == ("-c", "4096")
    assert codes(found) == {"late_variable"}
    assert not one("if exist a.gguf (\n  set C=4096\n  llama-server -c !C!\n)").problems


def test_that_each_call_of_a_part_is_a_command() -> None:
    text = (
        "@echo off\ncall :go a 1\ncall :go b 2\ngoto :eof\n:go\nllama-server -m %1.gguf -np %2\n"
        "exit /b 0"
    )
    assert [each.words for each in read(text, "x.bat")] == [
        ("-m", "a.gguf", "-np", "1"),
        ("-m", "b.gguf", "-np", "2"),
    ]


def test_that_the_variable_of_a_loop_is_open() -> None:
    found = one("for %%M in (D:\\m\\*.gguf) do llama-bench -m %%M -p 512")
    assert found.words == ("-m", "%%M", "-p", "512")
    assert codes(found) == {"unresolved_variable"}


@given(st.text(alphabet='if(%!^&|)=" elsabfort:@\n~/1', max_size=200))
def test_that_no_text_breaks_the_reader(text: str) -> None:
    for call in read_script(text).calls:
        assert all(isinstance(word, str) for word in call.words)


def test_that_parts_that_call_themselves_end() -> None:
    text = "@echo off\n:go\nllama-server -m a.gguf\ncall :go\ncall :go\ncall :go\n"
    assert read(f"call :go\n{text}", "x.bat")


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


def test_that_the_folder_of_the_script_stays_one() -> None:
    found = one(
        '@echo off\nset "R=%~dp0"\nset "R=%R:~0,-1%"\nllama-server -m "%R%\\a.gguf" -a %R:~0,1%'
    )
    assert found.words[1] == "%~dp0\\a.gguf"
    assert found.words[3] == "%R:~0,1%"


def test_that_windows_sets_some_variables_itself() -> None:
    text = (
        "if defined NUMBER_OF_PROCESSORS (set /a T=NUMBER_OF_PROCESSORS-1) else (set T=3)\n"
        "llama-server -t %T%"
    )
    assert one(text).words == ("-t", "%T%")


def test_that_an_open_variable_of_the_environment_is_told_and_not_set() -> None:
    found = one("if exist a set CUDA_VISIBLE_DEVICES=1\nllama-server -np 2")
    assert not found.env
    assert any("CUDA_VISIBLE_DEVICES% is “1” or not set" in each for each in found.problems)


MENU_OF_JUMPS = """@echo off
set /p N=1 or 2
if "%N%"=="1" goto one
if "%N%"=="2" goto two
:one
set C=4096
goto run
:two
set C=65536
:run
llama-server -c %C% -np 2
"""


def test_that_a_menu_leaves_open_what_it_chooses() -> None:
    found = one(MENU_OF_JUMPS)
    assert found.words == ("-c", "%C%", "-np", "2")
    assert any("“4096” or “65536”" in each for each in found.problems)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@echo off\nset C=1\ngoto run\nset C=2\n:run\nllama-server -c %C%", ("-c", "1")),
        ('@echo off\nset C=1\nif "%1"=="" goto r\nset C=2\n:r\nllama-server -c %C%', ("-c", "1")),
        ("@echo off\n:a\nset C=1\nif exist x goto a\nset C=2\nllama-server -c %C%", ("-c", "2")),
        ("@echo off\nset C=1\nif 1==2 goto run\nset C=2\n:run\nllama-server -c %C%", ("-c", "2")),
    ],
)  # fmt: skip
def test_that_jumps_that_are_certain_decide(text: str, words: tuple[str, ...]) -> None:
    assert one(text).words == words


def test_that_jumps_out_of_blocks_are_followed() -> None:
    found = one(
        "@echo off\nif exist a (\n  set D=a\n  goto found\n)\nset D=b\n:found\nllama-server -m %D%"
    )
    assert found.words == ("-m", "%D%")
    assert any("“a” or “b”" in each or "“b” or “a”" in each for each in found.problems)
