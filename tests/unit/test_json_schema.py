"""JSON schemas that a grammar can be made of, and what is said of others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.settings import schema_grammar
from engine_bridge.settings.json_schema import fault_in, grammar_of


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"type": "object", "properties": {"pattern": {"type": "string"}}}',
        '{"type": "string", "pattern": "^[a-z\\\\]}]{2,5}\\\\}$"}',
        '{"enum": ["maxItems", 3, null]}',
        '{"type": "array", "items": {"type": "string", "maxLength": 500}, "maxItems": 3}',
        '{"$defs": {"n": {"anyOf": [{"type": "null"}, {"items": {"$ref": "#/$defs/n"}}]}}, '
        '"$ref": "#/$defs/n"}',
        '{"type": ["integer", "null"], "exclusiveMinimum": -3, "maximum": 1200}',
        '{"type": "string", "format": "date-time"}',
        # Kinds of one thing, each of which holds more of them; what they are called comes first.
        '{"$defs": {"n": {"anyOf": [{"type": "number"}, '
        '{"properties": {"op": {"const": "add"}, "of": {"items": {"$ref": "#/$defs/n"}}}}, '
        '{"properties": {"op": {"const": "not"}, "one": {"$ref": "#/$defs/n"}}}]}}, '
        '"properties": {"root": {"$ref": "#/$defs/n"}}}',
        json.dumps({"properties": {f"p{number}": {"type": "string"} for number in range(40)}}),
        '{"type": "string", "pattern": "^(ab|a|abc)*[a-c]+x?$"}',
        json.dumps({"enum": [f"value {number}" for number in range(1_500)]}),
    ],
)
def test_that_a_schema_is_taken(text: str) -> None:
    assert fault_in(text) is None


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{\n  "type": "object",\n}', 3, "no JSON"),
        ("[]", 1, "object"),
        ("3", 1, "object"),
        ('{"a": NaN}', 1, "NaN"),
        ('{"type": "foo"}', 1, "#/type stands 'foo'"),
        ('{"properties": {"a": 3}}', 1, "#/properties/a should be a schema"),
        ('{"$ref": "#/$defs/no"}', 1, "there is no '$defs'"),
        ('{"$ref": "#"}', 1, "begin with itself"),
        ('{"$ref": "other.json"}', 1, "a place in this schema"),
        ('{"enum": []}', 1, "something in it"),
        ('{"allOf": [{"enum": [1]}, {"enum": [2]}]}', 1, "no value stands"),
        ('{"allOf": [{"type": "integer"}]}', 1, "#/allOf/0"),
        ('{"type": "array", "minItems": 1000000000}', 1, "repetitions"),
        ('{"type": "array", "minItems": 3, "maxItems": 2}', 1, "minItems is above"),
        ('{"type": "string", "maxLength": -1}', 1, "#/maxLength"),
        ('{"type": "integer", "minimum": 3, "maximum": 2}', 1, "at least 3"),
        ('{"type": "integer", "minimum": 1e99}', 1, "16 digits"),
        ('{"pattern": "a+"}', 1, "must begin with '^'"),
        ('{"pattern": "^a}$"}', 1, "'}'"),
        ('{"pattern": "^a(?=b)$"}', 1, "(?"),
        ('{"pattern": "^(a$"}', 1, "not closed"),
        ('{"pattern": "^a)$"}', 1, "not open"),
        ('{"pattern": "^+a$"}', 1, "nothing stands before"),
        ('{"pattern": "^a{9999}$"}', 1, "repetitions"),
        ("[" * 5000, 1, "no JSON"),
        (json.dumps({"a": 1}).replace("1", '{"a":' * 70 + "1" + "}" * 70), 1, "in each other"),
    ],
)
def test_that_a_fault_is_named_with_its_line(text: str, line: int, words: str) -> None:
    fault = fault_in(text)
    assert fault is not None
    assert fault.line == line
    assert words in fault.what
    assert len(str(fault)) < 250


@given(st.text(max_size=40))
def test_that_no_text_makes_the_reader_fail(text: str) -> None:
    fault = fault_in(text)
    assert fault is None or str(fault).endswith(".")


@given(st.text(alphabet="ab[]{}()|^$\\*+?.,19", max_size=20))
def test_that_no_pattern_makes_the_reader_fail(pattern: str) -> None:
    fault = fault_in(json.dumps({"type": "string", "pattern": f"^{pattern}$"}))
    assert fault is None or "pattern" in fault.what or "its grammar" in fault.what


def test_that_a_schema_becomes_a_grammar_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line asks for it with every change of a setting, on the GUI thread."""
    text = json.dumps({"type": "object", "properties": {"once": {"const": "of this test alone"}}})
    made: list[object] = []
    convert = schema_grammar.grammar_of

    def converting(schema: dict[str, object]) -> str:
        made.append(schema)
        return convert(schema)

    monkeypatch.setattr(schema_grammar, "grammar_of", converting)
    assert fault_in(text) is None
    assert grammar_of(text) == grammar_of(text)
    assert len(made) == 1
