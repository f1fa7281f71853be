"""The words of engines that travel with the program are those that were read from their sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.export.engine_words import FOLDER, Word, engine_words

# A neighbour of the checkout, not a part of it.
SHARED = Path(__file__).resolve().parents[4] / "shared" / "flags"
SOURCES = {
    "ollama": "ollama", "vllm": "vllm", "sglang": "sglang", "tensorrt_llm": "trtllm",
    "lmstudio": "lmstudio", "koboldcpp": "koboldcpp",
}  # fmt: skip
LISTS = ("negated", "words", "choices", "heirs", "env")
BOUNDS = {"ge": "least", "le": "most", "gt": "above", "lt": "below"}


def _source(name: str) -> dict[str, Any]:
    path = SHARED / f"{SOURCES[name]}.json"
    if not path.exists():
        pytest.skip("the tables of flags are not beside this checkout")
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def _assert_same(word: Word, was: dict[str, Any]) -> None:
    assert word.kind == was.get("kind", "str")
    for field in LISTS:
        assert list(getattr(word, field)) == was.get(field, []), field
    for old, field in BOUNDS.items():
        assert getattr(word, field) == was.get("range", {}).get(old), field
    assert word.removed == was.get("removed", False)
    assert word.deprecated == was.get("deprecated", False)
    assert word.repeats == was.get("repeatable", False)
    assert word.positional == was.get("positional", False)
    assert word.default == was.get("default")


@pytest.mark.parametrize("name", SOURCES)
def test_that_every_flag_is_as_its_source_has_it(name: str) -> None:
    source, data = _source(name), engine_words(name)
    assert data.version == source["version"]
    on_line = [flag for flag in source["flags"] if flag["nargs"] is not None]
    assert [list(word.names) for word in data.flags] == [flag["names"] for flag in on_line]
    for word, was in zip(data.flags, on_line, strict=True):
        _assert_same(word, was)
        assert word.arity == was["nargs"]


@pytest.mark.parametrize("name", SOURCES)
def test_that_every_variable_is_as_its_source_has_it(name: str) -> None:
    source, data = _source(name), engine_words(name)
    names = [[v["name"], *v.get("aliases", [])] for v in source["env"]]
    assert [list(word.names) for word in data.variables] == names
    for word, was in zip(data.variables, source["env"], strict=True):
        assert word.removed == was.get("removed", False)
        assert list(word.heirs) == was.get("heirs", [])


def test_that_ollama_s_parameters_are_those_of_its_modelfile() -> None:
    source, data = _source("ollama"), engine_words("ollama")
    names = [f["names"][0] for f in source["flags"] if "Modelfile PARAMETER" in f["where"]]
    assert [word.names[0] for word in data.keys["PARAMETER"]] == names
    instructions = [word.names[0] for word in data.keys["Modelfile"]]
    assert instructions == source["modelfile_instructions"]


def test_that_koboldcpp_s_file_has_a_key_for_every_flag_it_takes() -> None:
    data = engine_words("koboldcpp")
    keys = {word.names[0] for word in data.keys["kcpps"]}
    assert {"model_param", "contextsize", "gpulayers", "tensor_split", "jinja_kwargs"} <= keys
    assert not any("-" in key for key in keys)


@pytest.mark.parametrize("name", SOURCES)
def test_that_data_are_facts_and_no_prose(name: str) -> None:
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert '"note"' not in text
    assert '"help"' not in text
