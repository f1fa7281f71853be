"""The engines' words as data: what the product reads is what the tables of their sources say."""

from __future__ import annotations

import json

import msgspec
import pytest

from app.export.engine_words import FOLDER, EngineWords, Word, engine_words
from tests.unit.export.checked_words import SHARED

NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
# The file beside the checkout, where it has another name.
SHARED_NAMES = {"tensorrt_llm": "trtllm"}


@pytest.mark.parametrize("name", NAMES)
def test_that_every_file_is_read_and_says_its_version(name: str) -> None:
    words = engine_words(name)
    assert words.engine
    assert words.version
    assert words.source
    assert words.flags or words.variables or words.keys


@pytest.mark.parametrize("name", NAMES)
def test_that_a_flag_has_one_meaning(name: str) -> None:
    words = engine_words(name)
    spellings = [words.spelt(spelling) for flag in words.flags for spelling in flag.names]
    assert len(spellings) == len(set(spellings))
    for flag in words.flags:
        assert set(flag.negated) <= set(flag.names)
        for spelling in flag.names:
            assert words.flag(spelling) is flag


@pytest.mark.parametrize("name", NAMES)
def test_that_heirs_are_words_of_today(name: str) -> None:
    words = engine_words(name)
    for word in (*words.flags, *words.variables):
        for heir in word.heirs:
            spelling, *values = heir.split(" ")
            found = words.flag(spelling) or words.variable(spelling)
            if found is None:
                continue  # a key of a file
            assert not found.removed, heir
            assert all(found.why_not(value) is None for value in values), heir


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("llama")])
def test_that_nothing_was_lost_or_changed_on_the_way_here(name: str) -> None:
    path = SHARED / f"{SHARED_NAMES.get(name, name)}.json"
    if not path.exists():
        pytest.skip("the tables of flags are not beside this checkout")
    table = json.loads(path.read_text(encoding="utf-8"))
    words = engine_words(name)
    assert words.version == table["version"]
    assert len(words.flags) == len(table["flags"])
    for flag, row in zip(words.flags, table["flags"], strict=True):
        assert list(flag.names) == row["names"]
        assert (flag.kind, flag.arity, flag.removed) == (row["kind"], row["nargs"], row["removed"])
        assert list(flag.choices) == (row.get("choices") or [])
        assert list(flag.words) == (row.get("words") or [])
        assert list(flag.negated) == (row.get("negated") or [])
        assert list(flag.heirs) == (row.get("heirs") or [])
        assert list(flag.env) == (row.get("env") or [])
    shared_names = {variable["name"] for variable in table["env"]}
    own_names = {variable.names[0] for variable in words.variables}
    assert shared_names <= own_names
    extra = own_names - shared_names
    assert all(variable.removed for variable in words.variables if variable.names[0] in extra)


@pytest.mark.parametrize(
    ("spelling", "found"),
    [
        ("-c", "--ctx-size"), ("--ctx_size", "--ctx-size"), ("--no_kv_unified", "--kv-unified"),
        ("-ngl", "--n-gpu-layers"), ("--ctx", None), ("-no_kvu", None), ("", None),
    ],
)  # fmt: skip
def test_that_underscores_are_read_as_the_engine_reads_them(
    spelling: str, found: str | None
) -> None:
    flag = engine_words("llama_cpp").flag(spelling)
    assert (flag is not None) == (found is not None)
    if flag is not None:
        assert found in flag.names


def test_that_the_bench_reads_them_in_short_names_too() -> None:
    assert engine_words("llama_bench").flag("--n_gpu_layers") is not None
    words = EngineWords(
        "e", "1", "s", (Word(("-no-x",)), Word(("--a-b.c_d",))), underscores="-",
        underscores_until=".",
    )  # fmt: skip
    assert words.flag("-no_x") is words.flags[0]
    assert words.flag("--a_b.c_d") is words.flags[1]
    assert words.flag("--a_b.c-d") is None


def test_that_a_beginning_finds_its_flags() -> None:
    found = engine_words("llama_cpp").beginning_with("--cache-type")
    assert {flag.names[-1] for flag in found} == {
        "--cache-type-k", "--cache-type-v", "--cache-type-k-draft", "--cache-type-v-draft",
    }  # fmt: skip
    assert not engine_words("llama_cpp").beginning_with("--mloc")  # it was removed


@pytest.mark.parametrize(
    ("word", "value", "why"),
    [
        (Word(("-x",), "int"), "7", None),
        (Word(("-x",), "int"), "7.5", "no whole number"),
        (Word(("-x",), "int", words=("auto",)), "auto", None),
        (Word(("-x",), "float"), "1e-3", None),
        (Word(("-x",), "float"), "much", "no number"),
        (Word(("-x",), "int", least=1, most=3), "0", "less than 1"),
        (Word(("-x",), "int", least=1, most=3), "4", "more than 3"),
        (Word(("-x",), "float", above=0), "0", "not above 0"),
        (Word(("-x",), "float", below=1), "1", "not below 1"),
        (Word(("-x",), "choice", choices=("on", "off")), "on", None),
        (Word(("-x",), "choice", choices=("on", "off")), "yes", "none of off, on"),
        (Word(("-x",), "int", choices=(0, 1)), "1", None),
        (Word(("-x",), "list", choices=("a", "b")), "a,b", None),
        (Word(("-x",), "list", choices=("a", "b")), "a,c", "c is none of"),
        (Word(("-x",)), "whatever", None),
    ],
)
def test_that_a_value_is_judged_as_the_engine_does(word: Word, value: str, why: str | None) -> None:
    found = word.why_not(value)
    assert (found is None) == (why is None)
    if why is not None:
        assert found is not None
        assert why in found


def test_that_an_unknown_field_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.json.decode(b'{"engine": "e", "version": "1", "source": "s", "help": ""}',
                            type=EngineWords)  # fmt: skip
