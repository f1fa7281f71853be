"""Samplers, texts and lists on the line: said where they count, excused where they rest."""

from __future__ import annotations

import json
import shlex

import msgspec
import pytest

from app.export import llama_server
from app.export.dialect import Export
from app.quoting import Shell
from app.sampler_words import SAMPLER_DEPENDENT, SAMPLER_WORDS
from engine_bridge.settings import gbnf, json_schema
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import SETTINGS
from tests.unit.fake_client import model_facts
from tests.unit.test_quoting import words_by_cmd, words_by_powershell

READERS = {Shell.CMD: words_by_cmd, Shell.POWERSHELL: words_by_powershell}
GRAMMAR = 'root ::= "it\'s" [a-z]+\n'


def _export(values: dict[str, object], shell: Shell = Shell.POSIX) -> Export:
    return llama_server.export(EngineConfig.from_values(values), None, None, shell)


def _values_of(export: Export, flag: str) -> list[str]:
    words = shlex.split(export.text)
    return [words[n + 1] for n, word in enumerate(words) if word == flag]


def test_that_adaptive_p_is_named_among_the_samplers_or_it_would_not_draw() -> None:
    (order,) = _values_of(_export({"adaptive_target": 0.25}), "--samplers")
    assert order.split(";")[-2:] == ["temperature", "adaptive_p"]
    assert _values_of(_export({}), "--samplers") == []


def test_that_the_order_is_said_where_the_file_would_bring_its_own() -> None:
    facts = msgspec.structs.replace(model_facts(), recommends_sampling=True)
    words = shlex.split(llama_server.export(EngineConfig(), None, facts).text)
    assert words[words.index("--samplers") + 1].endswith(";temperature")
    assert words[words.index("--mirostat") + 1] == "0"
    assert words[words.index("--xtc-probability") + 1] == "0.0"


def test_that_breakers_are_written_as_the_program_reads_them() -> None:
    values = {"dry_multiplier": 0.5, "dry_sequence_breakers": ("\n", "\\", "it's", " ")}
    assert _values_of(_export(values), "--dry-sequence-breaker") == ["\\n", "\\\\", "it's", " "]
    none = {"dry_multiplier": 0.5, "dry_sequence_breakers": ()}
    assert _values_of(_export(none), "--dry-sequence-breaker") == ["none"]


def test_that_a_warning_of_the_program_is_explained() -> None:
    assert any("all of them" in note for note in _export({"logit_bias": ("1+1", "2-1")}).notes)
    assert not any("all of them" in note for note in _export({"logit_bias": ("1+1",)}).notes)


SCHEMA = '{\n  "type": "object",\n  "properties": {"é": {}}\n}'


def test_that_a_schema_is_said_as_the_grammar_that_chats_can_follow() -> None:
    export = _export({"json_schema": SCHEMA})
    (said,) = _values_of(export, "--grammar")
    assert said == json_schema.grammar_of(SCHEMA).rstrip()
    assert gbnf.fault_in(said) is None
    assert "--json-schema" not in shlex.split(export.text)
    assert any("written as --grammar" in note for note in export.notes)
    assert not any("schema" in note for note in _export({}).notes)


def test_that_a_schema_is_said_in_one_line_where_a_grammar_cannot_be() -> None:
    for shell in (Shell.CMD, Shell.POWERSHELL):
        export = _export({"json_schema": SCHEMA}, shell)
        assert "\n" not in export.text
        assert "--json-schema" in export.text
        assert any("error 400" in note for note in export.notes)


def test_that_a_schema_beside_a_grammar_is_excused() -> None:
    export = _export({"json_schema": SCHEMA, "grammar": GRAMMAR})
    assert _values_of(export, "--grammar") == [GRAMMAR]
    assert "one form" in export.not_carried["json_schema"]


def test_that_a_grammar_is_quoted_or_looked_for_in_a_file() -> None:
    assert _values_of(_export({"grammar": GRAMMAR}), "--grammar") == [GRAMMAR]
    lines = GRAMMAR + "more ::= root\n"
    for shell, read in READERS.items():
        words = read(_export({"grammar": GRAMMAR}, shell).text)
        assert words[words.index("--grammar") + 1] == GRAMMAR.strip()
        for text in (lines, GRAMMAR + "#" * 5000):
            export = _export({"grammar": text}, shell)
            words = read(export.text)
            assert words[words.index("--grammar-file") + 1] == "grammar.gbnf"
            assert "--grammar" not in words
            assert any("save the grammar as grammar.gbnf" in note for note in export.notes)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"it's": {"const": 'say "hi" \\"'}, "100% %PATH%": {"const": "^a&b|c\\"}}},
        {"type": "string", "pattern": '^[^"\\\\%!^]{2,3}\\\\$'},
        {"enum": ["‘smart’ “double”", "ünï 模型", "$HOME `id` $(id)", "a\nb\tc"]},
    ],
)  # fmt: skip
def test_that_a_schema_survives_every_shell(schema: dict[str, object]) -> None:
    text = json.dumps(schema, ensure_ascii=False)
    assert json_schema.fault_in(text) is None
    grammar = json_schema.grammar_of(text).rstrip()
    assert _values_of(_export({"json_schema": text}), "--grammar") == [grammar]
    for shell, read in READERS.items():
        words = read(_export({"json_schema": text}, shell).text)
        if "--grammar" in words:  # of one line
            assert words[words.index("--grammar") + 1] == grammar
        else:
            assert json.loads(words[words.index("--json-schema") + 1]) == schema


def test_that_a_schema_too_long_for_a_line_is_looked_for_in_a_file() -> None:
    text = json.dumps({"properties": {f"name{number}": {} for number in range(400)}})
    for shell, read in READERS.items():
        export = _export({"json_schema": text}, shell)
        words = read(export.text)
        assert words[words.index("--json-schema-file") + 1] == "schema.json"
        assert len(export.text) < 8_191
        assert any("save it as schema.json" in note for note in export.notes)
        assert any("error 400" in note for note in export.notes)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("dry_base", 3.0, "DRY"),
        ("xtc_threshold", 0.2, "XTC"),
        ("dynatemp_exponent", 2.0, "range"),
        ("adaptive_decay", 0.5, "adaptive-p"),
        ("mirostat_lr", 0.5, "Mirostat"),
    ],
)
def test_that_what_rests_is_excused_and_its_row_too(key: str, value: float, words: str) -> None:
    config = EngineConfig.from_values({key: value})
    assert words in _export({key: value}).not_carried[key]
    assert not SAMPLER_DEPENDENT[key](config)
    assert SAMPLER_WORDS[key](config)


def test_that_every_sampler_has_words_and_none_of_them_fails() -> None:
    groups = (Group.SAMPLING, Group.MORE_SAMPLING)
    keys = {setting.key for setting in SETTINGS if setting.group in groups}
    assert keys >= SAMPLER_WORDS.keys()
    busy: dict[str, object] = {
        "dry_multiplier": 0.8, "xtc_probability": 0.5, "dynatemp_range": 0.5, "mirostat": 0,
        "adaptive_target": 0.3, "top_n_sigma": 1.0, "grammar": GRAMMAR, "ignore_eos": True,
    }  # fmt: skip
    for config in (EngineConfig(), EngineConfig.from_values(busy), EngineConfig(mirostat=2)):
        for write in SAMPLER_WORDS.values():
            assert not write(config).endswith(".")
    config = EngineConfig.from_values(busy)
    assert SAMPLER_WORDS["dynatemp_range"](config) == "from 0.3 to 1.3"
    assert SAMPLER_WORDS["adaptive_decay"](config) == "remembers about 10 tokens"
