"""No word of a text vanishes: it comes to the program, and from there into what is told."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from app.export.engine_words import Word, engine_words
from app.importing import llama_words
from app.importing.found import Found
from app.importing.invocation import Invocation
from app.importing.llama_meanings import key_of, name_of
from app.importing.readers import read
from app.importing.secret_words import is_secret_name

IMAGE = "ghcr.io/ggml-org/llama.cpp:server"

# --- from the text to the program -----------------------------------------------------------------


def _compose(**service: object) -> str:
    return yaml.safe_dump({"services": {"llm": {"image": IMAGE, **service}}})


def _cluster(**container: object) -> str:
    spec = {"containers": [{"name": "llm", "image": IMAGE, **container}]}
    return yaml.safe_dump({"kind": "Pod", "spec": spec})


def _doubled(words: list[str]) -> list[str]:
    return [word.replace("$", "$$") for word in words]


def _unit(words: list[str]) -> str:
    plain = [word.replace("\\", "\\\\").replace('"', '\\"') for word in _doubled(words)]
    quoted = " ".join(f'"{word}"' for word in plain).replace("%", "%%")
    return f"[Service]\nExecStart=/usr/bin/llama-server {quoted}\n"


def _agent(words: list[str]) -> str:
    plain = [word.replace("&", "&amp;").replace("<", "&lt;") for word in words]
    listed = "".join(f"<string>{word}</string>" for word in ["llama-server", *plain])
    return f"<plist><key>ProgramArguments</key><array>{listed}</array></plist>"


_TEXTS: dict[str, Callable[[list[str]], str]] = {
    "a line": lambda words: shlex.join(["llama-server", *words]),
    "lines": lambda words: "llama-server \\\n  " + " \\\n  ".join(map(shlex.quote, words)),
    "an array": lambda words: f'A=({shlex.join(words)})\nllama-server "${{A[@]}}"',
    "a function": lambda words: f'f() {{ llama-server "$@"; }}\nf {shlex.join(words)}',
    "a shell in a shell": lambda words: shlex.join(
        ["bash", "-c", shlex.join(["llama-server", *words])]
    ),
    "ssh": lambda words: f"ssh box {shlex.quote(shlex.join(['llama-server', *words]))}",
    "docker": lambda words: shlex.join(["docker", "run", "--rm", IMAGE, *words]),
    "compose, a list": lambda words: _compose(command=_doubled(words)),
    "compose, a text": lambda words: _compose(command=shlex.join(_doubled(words))),
    "compose, two": lambda words: _compose(
        entrypoint=["/app/llama-server"], command=_doubled(words)
    ),
    "Kubernetes": lambda words: _cluster(args=words),
    "a unit": _unit,
    "an agent": _agent,
    "supervisord": lambda words: f"[program:x]\ncommand={shlex.join(['llama-server', *words])}\n",
    "llama-swap": lambda words: yaml.safe_dump(
        {"models": {"q": {"cmd": shlex.join(["/bin/llama-server", *words])}}}
    ),
    "JSON": lambda words: json.dumps(["llama-server", *words]),
    "Dockerfile": lambda words: f"FROM {IMAGE}\nCMD {json.dumps(words)}\n",
    "Python": lambda words: (
        "run([\n  " + ",\n  ".join(map(repr, ["llama-server", *words])) + "\n])"
    ),
}
_WORDS = st.lists(
    st.sampled_from(
        ["-m", "/m/a b.gguf", "it's", 'say "hi"', "--jinja", "-c", "8192", "blk\\.(1|2)=CPU", "a,b",
         '{"a": 1}', "x=y", "--a=b c", "ä", "100%", "$HOME", "*", "[1]", "<x>", "#x",
         "a;b", "&", "|"]
    ),
    min_size=1,
    max_size=6,
).map(lambda words: ["-m", "/m/a.gguf", *words])  # fmt: skip


@pytest.mark.parametrize("kind", _TEXTS)
@given(words=_WORDS)
def test_that_every_word_comes_to_the_program(kind: str, words: list[str]) -> None:
    if kind in {"supervisord", "JSON", "an agent"}:
        # Their own signs; each has a test of its own.
        words = [word for word in words if not set(word) & set(";%<$")]
    (found,) = read(_TEXTS[kind](words))
    assert list(found.words) == words


# --- from the program into what is told -----------------------------------------------------------

_KNOWN = [word for word in engine_words("llama_cpp").flags if word.names and word.arity in (0, 1)]
# The desk plans memory itself; the usual order of samplers is none that has to be said, and the
# usual drafts are several settings.
_ELSEWHERE = {"--fit", "--fit-ctx", "--samplers", "--spec-default"}


def _value(word: Word, number: int) -> str:
    """One that stands nowhere else, so that it can be found again."""
    if word.choices:
        return str(word.choices[-1])
    if word.kind == "json":
        return json.dumps({"k": f"v{number}"})
    return str(100_000 + number) if word.kind in ("int", "float") else f"v{number}=CPU"


@st.composite
def _lines(draw: st.DrawFn) -> list[tuple[Word | None, str, str]]:
    """Flags with their values, each once, and words that belong to none."""
    chosen = draw(st.lists(st.sampled_from(_KNOWN), max_size=8, unique_by=lambda word: word.names))
    said: list[tuple[Word | None, str, str]] = []
    for number, word in enumerate(chosen):
        spelling = draw(st.sampled_from(word.names))
        said.append((word, spelling, _value(word, number) if word.arity else ""))
        if draw(st.booleans()):
            unknown = f"--unknown-{number}" if draw(st.booleans()) else f"stray{number}"
            said.append((None, unknown, ""))
    return said


def _told(found: Found) -> str:
    return json.dumps(msgspec.to_builtins(found), ensure_ascii=False)


@given(_lines())
def test_that_every_word_is_told(said: list[tuple[Word | None, str, str]]) -> None:
    words = [word for _, spelling, value in said for word in (spelling, value) if word]
    found = llama_words.understand(Invocation("posix", "llama-server", ("-m", "a.gguf", *words)))
    told = _told(found)
    for word, spelling, value in said:
        if word is None:
            assert spelling in told
            continue
        is_there = key_of(word) in found.settings or name_of(word) in found.other
        is_there = is_there or spelling in told or not _ELSEWHERE.isdisjoint(word.names)
        assert is_there, spelling
        if any(map(is_secret_name, word.names)):
            assert value not in told
        elif value and not word.choices and word.kind in ("int", "str") and spelling in words:
            assert value in told or spelling in " ".join(found.problems), spelling


def test_that_a_value_that_another_one_replaces_is_told() -> None:
    words = ("-m", "a.gguf", "-c", "4096", "-c", "8192", "-hft", "one", "-hft", "two")
    found = llama_words.understand(Invocation("posix", "llama-server", words))
    assert any("not 4096" in problem for problem in found.problems)
    assert "one" not in " ".join(found.problems).split()
    both = ("--spec-ngram-simple-size-n", "7", "--spec-ngram-map-k-size-n", "9")
    found = llama_words.understand(Invocation("posix", "llama-server", ("-m", "a.gguf", *both)))
    assert any("--spec-ngram-simple-size-n 7 was not" in note for note in found.notes)
