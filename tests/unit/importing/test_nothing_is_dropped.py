"""Every word that an engine knows leaves a trace: a setting, a note, a problem, or itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.export.engine_words import Word, engine_words
from app.importing import (
    koboldcpp_words,
    lmstudio_words,
    ollama_words,
    sglang_words,
    tensorrt_words,
    vllm_words,
)
from app.importing.cmd_reader import read_script as read_cmd
from app.importing.found import Found
from app.importing.invocation import Invocation
from app.importing.powershell_reader import read_script as read_powershell

_Understand = Callable[[Invocation], Found]
_ENGINES: dict[str, tuple[_Understand, str, tuple[str, ...]]] = {
    "vllm": (vllm_words.understand, "vllm", ("serve", "a/b")),
    "sglang": (sglang_words.understand, "sglang.launch_server", ("--model-path", "a/b")),
    "koboldcpp": (koboldcpp_words.understand, "koboldcpp", ("--model", "a.gguf")),
    "tensorrt_llm": (tensorrt_words.understand, "trtllm-serve", ("a/b",)),
    "lmstudio": (lmstudio_words.understand, "lms", ("load", "a")),
}


def _values(word: Word) -> list[str]:
    if word.arity == 0:
        return []
    if word.choices:
        return [str(word.choices[-1])]
    by_kind = {"int": "7", "float": "0.7", "json": '{"a": 1}'}
    return [by_kind.get(word.kind, "some/thing")]


def _flags(name: str) -> Iterator[tuple[str, list[str]]]:
    engine = engine_words(name)
    for word in (*engine.flags, *(word for words in engine.commands.values() for word in words)):
        if not word.positional:
            yield word.names[0], _values(word)
            yield from ((negated, []) for negated in word.negated[:1])


@pytest.mark.parametrize("name", _ENGINES)
def test_that_every_flag_leaves_a_trace(name: str) -> None:
    understand, program, base = _ENGINES[name]
    without = understand(Invocation("posix", program, base))
    dropped = [
        flag
        for flag, values in _flags(name)
        if understand(Invocation("posix", program, (*base, flag, *values))) == without
    ]
    assert not dropped


@pytest.mark.parametrize("name", _ENGINES)
@settings(max_examples=30)
@given(word=st.from_regex(r"--?[a-z][a-z-]{0,12}(=[a-z0-9]{0,4})?|[a-z0-9./]{1,9}", fullmatch=True))
def test_that_every_word_leaves_a_trace(name: str, word: str) -> None:
    understand, program, base = _ENGINES[name]
    without = understand(Invocation("posix", program, base))
    assert understand(Invocation("posix", program, (*base, word))) != without


@pytest.mark.parametrize("section", ["PARAMETER", "options"])
def test_that_every_parameter_of_ollama_leaves_a_trace(section: str) -> None:
    base = {"FROM": ("a.gguf",)}
    without = ollama_words.understand(Invocation("modelfile", "", values=base))
    names = [n for word in engine_words("ollama").keys[section] for n in word.names]
    dropped = [
        name
        for name in names
        if ollama_words.understand(Invocation("modelfile", "", values=base | {name: ("7",)}))
        == without
    ]
    assert not dropped


@pytest.mark.parametrize("section", ["api generate", "api chat", "api create"])
def test_that_every_key_of_a_request_leaves_a_trace(section: str) -> None:
    base = {"model": ("a",)}
    without = ollama_words.understand(Invocation("json", "", values=base))
    names = [n for word in engine_words("ollama").keys[section] for n in word.names]
    dropped = [
        name
        for name in names
        if name != "model"
        and ollama_words.understand(Invocation("json", "", values=base | {name: ("7",)})) == without
    ]
    assert not dropped


def test_that_every_key_of_lm_studio_leaves_a_trace() -> None:
    base = {"model": ("a",)}
    without = lmstudio_words.understand(Invocation("json", "", values=base))
    names = [
        name
        for words in engine_words("lmstudio").keys.values()
        for word in words
        for name in word.names
        if name != "model"
    ]
    for value in ("7", "true", "q8_0"):
        for name in names:
            values = base | {name: (value,)}
            found = lmstudio_words.understand(Invocation("json", "", values=values))
            assert found != without, (name, value)


_WITH_A_DRAFT = {"draftamount", "draftgpulayers", "draftgpusplit"}


def test_that_every_key_of_a_kcpps_file_leaves_a_trace() -> None:
    base = {"model_param": ("a.gguf",)}
    without = koboldcpp_words.understand(Invocation("kcpps", "", values=base))
    keys = {n for word in engine_words("koboldcpp").keys["kcpps"] for n in word.names}
    for name in keys - _WITH_A_DRAFT - {"model_param"}:
        values = base | {name: ("7",)}
        assert koboldcpp_words.understand(Invocation("kcpps", "", values=values)) != without, name


_words = st.lists(st.from_regex(r"-{0,2}[A-Za-z0-9][A-Za-z0-9_./\\:-]{0,8}", fullmatch=True),
                  min_size=1, max_size=6)  # fmt: skip


@given(_words)
def test_that_every_plain_word_of_a_line_of_windows_is_in_the_call(words: list[str]) -> None:
    line = " ".join(["llama-server", *words])
    for script in (read_cmd(line), read_cmd(f"if exist x (\n{line}\n)"), read_powershell(line),
                   read_powershell(f"try {{ {line} }} finally {{ }}")):  # fmt: skip
        (call,) = script.calls
        assert call.words == ("llama-server", *words)
