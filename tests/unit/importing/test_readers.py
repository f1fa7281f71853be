"""Texts of every kind, as they are pasted: what they are, and that no text takes long."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.importing.invocation import Invocation
from app.importing.kinds import Kind, kind_of, shell_of
from app.importing.readers import read
from app.importing.text_error import TextError

# A neighbour of the checkout, not a part of it.
CASES = Path(__file__).resolve().parents[3].parent / "shared" / "cases" / "commands.jsonl"


def one(text: str, hint: str = "") -> Invocation:
    (found,) = read(text, hint)
    return found


def codes(found: Invocation) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


# --- what a text is ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("llama-server -m a.gguf", Kind.SHELL),
        ("OLLAMA_HOST=1.2.3.4\nOLLAMA_DEBUG=1", Kind.ENV),
        ("# file\nA=b\n", Kind.ENV),
        ("A=b llama-server -m x", Kind.SHELL),
        ("[Unit]\nDescription=x\n[Service]\nExecStart=/bin/x", Kind.SYSTEMD),
        ("ExecStart=/bin/x -m a", Kind.SYSTEMD),
        ("[Service]\nEnvironment=A=b", Kind.SYSTEMD),
        ("version = 1\n[*]\nc = 1", Kind.PRESET),
        ("[my model]\nmodel = /a.gguf", Kind.PRESET),
        ("FROM ./a.gguf", Kind.MODELFILE),
        ("# made by\nFROM ./a.gguf\nPARAMETER num_ctx 1", Kind.MODELFILE),
        ('FROM ubuntu\nRUN apt-get update\nCMD ["x"]', Kind.DOCKERFILE),
        ('ENTRYPOINT ["llama-server"]', Kind.DOCKERFILE),
        ("services:\n  a:\n    image: x", Kind.YAML),
        ("models:\n  a:\n    cmd: llama-server", Kind.YAML),
        ("- --model\n- /a.gguf", Kind.YAML),
        ('{"a": 1}', Kind.JSON),
        ('["llama-server", "-m"]', Kind.JSON),
        ("cat > x.yaml <<EOF\nservices:\nEOF", Kind.SHELL),
        ("I run it so: it is fast\nand good", Kind.SHELL),
    ],
)
def test_that_kinds_are_told_apart(text: str, kind: Kind) -> None:
    assert kind_of(text) is kind


@pytest.mark.parametrize(
    ("text", "hint", "shell"),
    [
        ("llama-server -m a.gguf", "", "posix"),
        ("llama-server \\\n -m a", "", "posix"),
        ("llama-server ^\n -m a", "", "cmd"),
        ("llama-server `\n -m a", "", "powershell"),
        ("llama-server --models-dir .\\ --jinja", "", "cmd"),
        ("C:\\llama\\llama-server.exe -m a", "", "cmd"),
        ("./llama-cli.exe --j '{\"a\": 1}'", "", "powershell"),
        ("$env:A = 1\nllama-server.exe -m a", "", "powershell"),
        ("set A=b\nllama-server -m %A%", "", "cmd"),
        ("export A=b\n./llama-server.exe -m $A", "", "posix"),
        ("llama-server -m a", "run.bat", "cmd"),
        ("llama-server -m a", "powershell", "powershell"),
        ("llama-server.exe ^\n -m C:\\a.gguf", "bash", "cmd"),
        ("date +%Y%m%d\nexport A=1; llama-server -m $A", "", "posix"),
    ],
)
def test_that_shells_are_told_apart(text: str, hint: str, shell: str) -> None:
    assert shell_of(text, hint) == shell


# --- what stands around a command -------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("$ ", "posix"),
        ("user@host:~/llama.cpp$ ", "posix"),
        ("[user@host llama.cpp]$ ", "posix"),
        ("root@box:/app# ", "posix"),
        ("(base) user@host:~$ ", "posix"),
        ("user@Mac llama.cpp % ", "posix"),
        ("❯ ", "posix"),
        ("C:\\llama>", "cmd"),
        ("f:\\my tools\\llama> ", "cmd"),
        ("(base) C:\\Users\\me>", "cmd"),
        ("PS C:\\llama> ", "powershell"),
    ],
)
def test_that_a_prompt_is_taken_off_and_said(prompt: str, kind: str) -> None:
    found = one(f"{prompt}llama-server -m a.gguf")
    assert (found.kind, found.words, codes(found)) == (kind, ("-m", "a.gguf"), {"prompt_prefix"})


def test_that_a_session_is_its_commands_alone() -> None:
    found = one(
        "me@box:~$ cd llama.cpp\nme@box:~/llama.cpp$ ./llama-server \\\n> -m /a.gguf \\\n> -c 1\n"
        "build: 1234 (abc) with cc for x86_64\nmain: server is listening on http://127.0.0.1:8080\n"
    )
    assert found.words == ("-m", "/a.gguf", "-c", "1")
    assert not found.problems
    assert any("prompts" in note for note in found.notes)


@pytest.mark.parametrize(
    "text",
    [
        "I'm running llama.cpp like this:\n\nllama-server -m a.gguf -c 1\n\nand it's slow. Why?",
        "Hi! It doesn't work.\n```\nllama-server -m a.gguf -c 1\n```\nI've tried all.",
        "Here's mine:\n```bash\n$ llama-server \\\n  -m a.gguf \\\n  -c 1\n```",
        "My command is `llama-server -m a.gguf -c 1` and it's slow",
        "> llama-server -m a.gguf -c 1\n> \n",
        "1. Install it\n2. Run it:\n   llama-server -m a.gguf -c 1\n3. It isn't done yet",
        "\x1b[32mllama-server\x1b[0m -m a.gguf\u00a0-c 1",
        "\ufeffllama-server -m a.gguf -c 1\r\n",
        "Command line: llama-server -m a.gguf -c 1",
        "me  4242  9.9  1.2 123 456 pts/0 Sl+ 10:00 0:01 /usr/bin/llama-server -m a.gguf -c 1",
        'Nov 30 10:00:00 box ollama[1]: time=x level=INFO msg="starting" '
        'cmd="/usr/bin/llama-server -m a.gguf -c 1"',
        'level=INFO msg="x" cmd="/usr/bin/llama-server -m a.gguf -c 1" port=1',
        "INFO launching ['llama-server', '-m', 'a.gguf', '-c', '1'] now",
        "     └─1234 /usr/bin/llama-server -m a.gguf -c 1",
    ],
)
def test_that_the_command_is_found_in_a_posting(text: str) -> None:
    found = one(text)
    assert (found.program, found.words) == ("llama-server", ("-m", "a.gguf", "-c", "1"))


def test_that_a_log_with_a_word_a_line_is_read() -> None:
    head = "0.06.715.44{} I srv          load:   {}"
    lines = ["0.06.715.441 I srv          load: spawning server instance with args:"]
    words = ["/usr/bin/llama-server", "--host", "127.0.0.1", "--temp", "0.6", "--jinja"]
    lines += [head.format(number, word) for number, word in enumerate(words)]
    found = one("\n".join(lines))
    assert (found.program, found.words) == ("llama-server", tuple(words[1:]))
    assert codes(found) == {"log_paste"}


def test_that_settings_in_a_log_of_vllm_are_words() -> None:
    found = one(
        "INFO 05-23 api_server.py:9] non-default args: {'model': 'a/b', 'max_model_len': 4096, "
        "'enable_prefix_caching': False, 'x': None, 'speculative_config': {'method': 'mtp'}}\n"
    )
    assert (found.program, found.words) == (
        "vllm",
        ("serve", "--model", "a/b", "--max-model-len", "4096", "--no-enable-prefix-caching",
         "--speculative-config", '{"method": "mtp"}'),
    )  # fmt: skip
    assert codes(found) == {"log_paste"}


def test_that_two_starts_in_a_log_are_two() -> None:
    part = "x load: spawning server instance with args:\nx load:   llama-server\nx load:   -m\n"
    found = read(f"{part}x load:   a.gguf\n{part}x load:   b.gguf\n")
    assert [each.words for each in found] == [("-m", "a.gguf"), ("-m", "b.gguf")]


def test_that_blocks_of_several_kinds_are_all_read() -> None:
    found = read(
        "```ini\n[a]\nmodel = x\n```\nor\n```yaml\nservices:\n  s:\n    image: ollama/ollama\n"
        "    environment: [OLLAMA_DEBUG=1]\n```\nor\n```\nllama-server -m a\n```\n"
    )
    assert [each.kind for each in found] == ["preset", "compose", "posix"]


def test_that_settings_in_a_request_are_read() -> None:
    found = one(
        'curl http://localhost:11434/api/chat -d \'{"model": "a", "options": '
        '{"num_ctx": 4096, "stop": ["x", "y"]}, "keep_alive": null}\''
    )
    assert found.kind == "json"
    assert found.values == {
        "model": ("a",), "options.num_ctx": ("4096",), "options.stop": ("x", "y"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["llama-server --version\nllama-server -m a", "ollama pull a\nllama-server -m a"]
)
def test_that_what_starts_nothing_is_left_out(text: str) -> None:
    assert one(text).words == ("-m", "a")


# --- texts that are none ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t\n",
        "Hello, how are you today? I hope that llama-server does well.",
        "git clone https://example.org/x\ncd x\nmake -j",
        "\0\1\2" * 50,
        "a\0b",
        "\x01\x02\ufffd" * 100,
        "x" * 200_000,
        "services:\n  a: [1, 2\n",
        '{"a": ',
        "{" * 5000 + "}" * 5000,
        "[" * 40_000 + '"' + "]" * 40_000,
    ],
    ids=range(12),
)
def test_that_a_text_with_nothing_in_it_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(TextError) as caught:
        read(text)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 300


_SIZE = 20_000
_HINTS = ("", "x.bat", "x.ps1", "x.yaml")
_HOSTILE = {
    "one word": "a",
    "blanks": " ",
    "lines": "\n",
    "tabs and lines": " \t\n",
    "quotes": "'",
    "double quotes": '"',
    "both quotes": "'\"",
    "backslashes": "\\",
    "backslash blank": "\\ ",
    "backslash comment": "\\ #",
    "dollars": "$",
    "dollar braces": "${",
    "dollar defaults": "${a:-",
    "dollar brackets": "$(",
    "brackets": "(",
    "angle brackets": "<a",
    "here documents": "<<a ",
    "backticks": "`",
    "percents": "%a",
    "carets": "^",
    "caret blank": "^ ",
    "ampersands": "&",
    "redirects": '>"',
    "braces": '{"a":',
    "json": '{"a":[',
    "equals": "a=",
    "flags": "-a ",
    "flag lines": "-a\n",
    "assignments": "a=b\n",
    "words in lines": "I am here\n",
    "colons": "a: ",
    "yaml keys": "a:\n",
    "yaml nests": "- ",
    "yaml flow": "[{a: ",
    "yaml aliases": "- &a *a\n",
    "sections": "[a]\n",
    "ini": "[a]\nb = c ; d\n",
    "load": "load:  ",
    "load lines": "a load:  b\n",
    "prompts": "a@b:~$ ",
    "drives": "C:\\a ",
    "fences": "```\n",
    "list": "['",
    "calls": "llama-server -m a ",
    "call lines": "llama-server -m a\n",
    "docker": "docker run -e a ",
    "modelfile": "FROM a\n",
    "long template": 'TEMPLATE """a\n',
    "sets": "set a=%a%\n",
    "powershell": "$a = @($a)\n",
    "splats": "@a @( @{ ",
    "comments": "# a\n",
    "block comments": "<# ",
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_that_no_text_takes_long(name: str) -> None:
    part = _HOSTILE[name]
    for hint in _HINTS:
        text = part * (_SIZE // len(part))
        begun = time.process_time()
        with suppress(TextError):
            read(text, hint)
        # A tenth of this on a slow core; what is quadratic takes many times as long.
        assert time.process_time() - begun < 1.5, hint


_part = st.one_of(st.sampled_from(list(_HOSTILE.values())), st.text(max_size=6))


@given(
    st.lists(_part, max_size=12).map("".join),
    st.sampled_from(
        ["", "x.sh", "x.bat", "x.ps1", "x.yaml", "x.ini", "Modelfile", "x.json", ".env"]
    ),
    st.booleans(),
)
def test_that_every_text_is_read_or_refused(text: str, hint: str, calls: bool) -> None:
    said = ""
    found: tuple[Invocation, ...] = ()
    try:
        found = read(f"llama-server -m a {text}" if calls else text, hint)
    except TextError as error:
        said = str(error)
    assert bool(found) != said.endswith(".")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("llama-server -m a.gguf " * 50_000, "Paste the part"),
        ("x" * 1_000_000 + "\0", "no text"),
        (bytes(range(256)).decode("latin-1") * 4_000, "no text"),
    ],
    ids=["words", "a NUL", "bytes"],
)
def test_that_a_megabyte_is_answered_at_once(text: str, said: str) -> None:
    begun = time.process_time()
    with pytest.raises(TextError, match=said):
        read(text)
    assert time.process_time() - begun < 0.5


# --- lines that people posted -----------------------------------------------------------------


def _cases() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    lines = CASES.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


_none: list[Any] = [pytest.param({}, marks=pytest.mark.skip(reason=f"there is no {CASES}"))]
every_case = pytest.mark.parametrize(
    "case", _cases() or _none, ids=lambda case: case.get("id", "none")
)
# What these variables say is told as words; that is for whoever knows llama.cpp's.
_AS_WORDS = "LLAMA_ARG_"


@every_case
def test_that_posted_lines_have_their_words(case: dict[str, Any]) -> None:
    found = read(case["text"])[0]
    expected = case["expect"].get("argv")
    if expected is not None and not any(name.startswith(_AS_WORDS) for name in found.env):
        assert list(found.words) == expected


@every_case
def test_that_posted_lines_have_their_variables(case: dict[str, Any]) -> None:
    found = read(case["text"])[0]
    env = {name: value for name, value in found.env.items() if not name.startswith(_AS_WORDS)}
    assert env == case["expect"]["env"]


_OF_THE_TEXT = {
    "prompt_prefix", "macro", "unresolved_variable", "shell_quoting", "doubled_quotes",
    "log_paste", "relative_path", "container_path", "misspelt_variable",
}  # fmt: skip


@every_case
def test_that_posted_lines_have_their_problems(case: dict[str, Any]) -> None:
    expected = {problem.partition(":")[0] for problem in case["expect"]["problems"]}
    assert expected & _OF_THE_TEXT <= codes(read(case["text"])[0])
