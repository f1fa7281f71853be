"""JSON schemas as grammars in GBNF, as llama-server makes them.

Takes the keywords that its converter takes (common/json-schema.cpp and json-schema-to-grammar.cpp)
and writes spaces, texts and numbers where it allows them. Where llama-server lets anything pass,
such as a pattern that a grammar cannot say, this refuses: an answer that looks checked but is not
helps nobody. Knows schemas; must not know llama.cpp.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence

from engine_bridge.settings import number_grammar, pattern_grammar

_CHAR = rf'[^{pattern_grammar.NEVER_BARE}] | [\\] (["\\bfnrt] | "u" [0-9a-fA-F]{{4}})'
_DATE = '[0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [1-2] [0-9] | "3" [0-1])'
_HOUR = '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]'
_TIME = rf'{_HOUR} ":" [0-5] [0-9] ("." [0-9]{{3}})? ("Z" | [+\-] {_HOUR})'
_HEX = "[0-9a-fA-F]"
# Rules that others may name; a rule stands in the grammar only where it is named.
_RULES = {
    "space": r'| " " | "\n"{1,2} [ \t]{0,20}',
    "char": _CHAR,
    "string": r'"\"" char* "\""',
    "integral-part": "[0] | [1-9] [0-9]{0,15}",
    "integer": '"-"? integral-part',
    "number": '"-"? integral-part ("." [0-9]{1,16})? ([eE] [-+]? integral-part)?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "value": "object | array | string | number | boolean | null",
    "object": '"{" space (string ":" space value ("," space string ":" space value)*)? space "}"',
    "array": '"[" space (value ("," space value)*)? space "]"',
    "date": _DATE,
    "time": _TIME,
    "uuid": f'{_HEX}{{8}} ("-" {_HEX}{{4}}){{3}} "-" {_HEX}{{12}}',
}
_FORMATS = {"date": "date", "time": "time", "date-time": 'date "T" time', "uuid": "uuid"}
_FORMATS |= {f"uuid{version}": "uuid" for version in range(1, 6)}
_NAMES = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|([A-Za-z][A-Za-z0-9-]*)')
Schema = Mapping[str, object]


class SchemaError(ValueError):
    """A schema that no grammar can be made of; the message says what and where in it."""

    def __init__(self, path: str, what: str) -> None:
        """At ``path``, as in ``#/properties/name``, stands what ``what`` says."""
        super().__init__(f"at {path} {what}")


def grammar_of(schema: Schema) -> str:
    """The grammar of JSON that fits ``schema``, its first rule root.

    Raises:
        SchemaError: If it holds what cannot be said in a grammar.
    """
    return _Converter(schema).grammar()


class _Converter:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._refs: dict[str, str] = {}
        self._todo: list[tuple[str, str]] = []
        self._own: dict[str, str] = {}

    def grammar(self) -> str:
        is_any = not self._root
        self._own["root"] = "object" if is_any else self._made(self._root, "#")
        while self._todo:
            ref, name = self._todo.pop()
            self._own[name] = self._made(self._target(ref), ref)
        rules = self._own | self._named()
        return "".join(f"{name} ::= {rule}\n" for name, rule in rules.items())

    def _named(self) -> dict[str, str]:
        """The general rules that the own ones name, and those that these name."""
        found: dict[str, str] = {}
        todo = list(self._own.values())
        while todo:
            for match in _NAMES.finditer(todo.pop()):
                name = match[1]
                if name in _RULES and name not in found:
                    found[name] = _RULES[name]
                    todo.append(found[name])
        return found

    def _made(self, schema: object, path: str) -> str:
        """The form of what fits ``schema``; in brackets where it is more than one thing."""
        if not isinstance(schema, dict):
            raise SchemaError(path, "should be a schema, an object in '{' and '}'")
        if "$ref" in schema:
            return self._ref(schema["$ref"], path)
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return self._one_of(self._list(schema, key, path), f"{path}/{key}")
        kind = schema.get("type")
        if isinstance(kind, list):
            return self._one_of([{**schema, "type": one} for one in kind], f"{path}/type")
        if "const" in schema:
            return constant(schema["const"])
        if "enum" in schema:
            return _either([constant(value) for value in self._list(schema, "enum", path)])
        return self._of_type(schema, self._type_of(schema, path), path)

    def _type_of(self, schema: Schema, path: str) -> str:
        kind = schema.get("type")
        is_object = "properties" in schema or schema.get("additionalProperties", True) is not True
        if kind is not None and not isinstance(kind, str):
            raise SchemaError(f"{path}/type", "should be the name of a type, or a list of them")
        if "allOf" in schema and kind in (None, "object", "string") and not is_object:
            return "allOf"
        if kind is not None:
            return kind
        if is_object:
            return "object"
        if "items" in schema or "prefixItems" in schema:
            return "array"
        texts = {"pattern", "minLength", "maxLength"} & schema.keys()
        return "string" if texts or schema.get("format") in _FORMATS else "value"

    def _of_type(self, schema: Schema, kind: str, path: str) -> str:
        match kind:
            case "allOf":
                return self._all_of(schema, path)
            case "object":
                return self._object(schema, path)
            case "array":
                return self._array(schema, path)
            case "string":
                return self._string(schema, path)
            case "integer":
                return self._integer(schema, path)
            case "number" | "boolean" | "null" | "value":
                return kind
            case _:
                raise SchemaError(f"{path}/type", f"stands {kind!r}, which is no type of JSON")

    # --- References -------------------------------------------------------------------------

    def _ref(self, ref: object, path: str) -> str:
        if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            raise SchemaError(f"{path}/$ref", "should be a place in this schema, such as #/$defs/a")
        if ref == "#":
            return "root"
        if ref not in self._refs:
            self._target(ref)
            self._refs[ref] = f"ref{len(self._refs)}"
            self._todo.append((ref, self._refs[ref]))
        return self._refs[ref]

    def _target(self, ref: str) -> object:
        found: object = self._root
        for step in ref[2:].split("/") if ref != "#" else ():
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                raise SchemaError(ref, f"there is no {name!r}")
        return found

    def _seen_through(self, schema: object, path: str) -> Schema:
        """``schema`` behind its references."""
        for _ in range(64):
            if not isinstance(schema, dict):
                raise SchemaError(path, "should be a schema, an object in '{' and '}'")
            ref = schema.get("$ref")
            if not isinstance(ref, str):
                return schema
            schema = self._target(ref)
        raise SchemaError(path, "stands a reference that leads back to itself")

    # --- Kinds ------------------------------------------------------------------------------

    def _one_of(self, schemas: Sequence[object], path: str) -> str:
        return _either([self._made(one, f"{path}/{n}") for n, one in enumerate(schemas)])

    def _all_of(self, schema: Schema, path: str) -> str:
        """Objects with the properties of all, or the values that all lists have in common."""
        properties: dict[str, object] = {}
        required: list[str] = []
        values: list[list[str]] = []
        for number, part in enumerate(self._list(schema, "allOf", path)):
            here = f"{path}/allOf/{number}"
            seen = self._seen_through(part, here)
            if "enum" in seen:
                values.append([constant(value) for value in self._list(seen, "enum", here)])
            elif "anyOf" in seen:
                for other in self._list(seen, "anyOf", here):
                    properties |= self._properties_of(self._seen_through(other, here), here)
            else:
                found = self._properties_of(seen, here)
                properties |= found
                required += found
        if not values:
            return self._object({"properties": properties, "required": required}, path)
        common = [value for value in values[0] if all(value in other for other in values)]
        if not common:
            raise SchemaError(path, "no value stands in all the lists")
        return _either(common)

    def _properties_of(self, schema: Schema, path: str) -> dict[str, object]:
        found = schema.get("properties")
        if not isinstance(found, dict):
            raise SchemaError(path, "stands what cannot be joined; objects and lists of values can")
        return found

    def _object(self, schema: Schema, path: str) -> str:
        properties = schema.get("properties", {})
        if not isinstance(properties, dict):
            raise SchemaError(f"{path}/properties", "should be an object of schemas")
        wanted = schema.get("required", [])
        required = wanted if isinstance(wanted, list) else []
        pairs = {
            name: f'{constant(name)} space ":" space {self._made(one, f"{path}/properties/{name}")}'
            for name, one in properties.items()
        }
        must = [pair for name, pair in pairs.items() if name in required]
        may = [pair for name, pair in pairs.items() if name not in required]
        others = self._others(schema, list(pairs), path)
        inside = self._members(must, may, others)
        return f'"{{" space {inside}space "}}"'

    def _others(self, schema: Schema, names: list[str], path: str) -> str:
        """A pair beyond those that are named; empty where there may be none."""
        allowed = schema.get("additionalProperties", "properties" not in schema)
        if allowed is False:
            return ""
        is_any = allowed is True
        value = "value" if is_any else self._made(allowed, f"{path}/additionalProperties")
        return self._new_rule("other", f'{other_names(names)} space ":" space {value}')

    def _members(self, must: list[str], may: list[str], others: str) -> str:
        """Pairs with commas between: all that must be there, then some of the rest in order."""
        more = f'("," space {others})*' if others else ""
        begun = ' "," space '.join(must)
        if not may and not others:
            return f"{begun} " if begun else ""
        rest = more
        choices = [f"{others} {more}"] if others else []
        for pair in reversed(may):
            choices.insert(0, f"{pair} {rest}")
            rest = self._new_rule("rest", f'("," space {pair})? {rest}')
        inner = f"({' | '.join(choices)})"
        return f'{begun} ("," space {inner})? ' if begun else f"{inner}? "

    def _new_rule(self, word: str, form: str) -> str:
        name = f"{word}{len(self._own)}"
        self._own[name] = form
        return name

    def _array(self, schema: Schema, path: str) -> str:
        key = "items" if "items" in schema else "prefixItems"
        items = schema.get(key, {})
        if isinstance(items, list):
            made = [self._made(one, f"{path}/{key}/{n}") for n, one in enumerate(items)]
            joined = ' "," space '.join(made)
            return f'"[" space {joined} space "]"'
        item = self._made(items, f"{path}/{key}") if items else "value"
        least, most = self._counts(schema, "minItems", "maxItems", path)
        if most == 0:
            return '"[" space space "]"'
        more = _times(f'("," space {item})', max(least - 1, 0), None if most is None else most - 1)
        inside = f"{item} {more}" if least else f"({item} {more})?"
        return f'"[" space {inside} space "]"'

    def _string(self, schema: Schema, path: str) -> str:
        pattern, name = schema.get("pattern"), schema.get("format")
        if isinstance(pattern, str):
            try:
                return rf'"\"" {pattern_grammar.grammar_of(pattern)} "\""'
            except pattern_grammar.PatternError as error:
                raise SchemaError(f"{path}/pattern", f"no grammar can follow: {error}") from None
        if isinstance(name, str) and name in _FORMATS:
            return rf'"\"" {_FORMATS[name]} "\""'
        least, most = self._counts(schema, "minLength", "maxLength", path)
        return (
            rf'"\"" {_times("char", least, most)} "\""' if least or most is not None else "string"
        )

    def _integer(self, schema: Schema, path: str) -> str:
        bounds = {key: schema[key] for key in _BOUNDS if key in schema}
        if not bounds:
            return "integer"
        for key, bound in bounds.items():
            if isinstance(bound, bool) or not isinstance(bound, int | float):
                raise SchemaError(f"{path}/{key}", "should be a number")
            if not abs(bound) <= number_grammar.LARGEST:
                digits = number_grammar.DIGITS
                raise SchemaError(f"{path}/{key}", f"stands a number of more than {digits} digits")
        least = max([_BOUNDS[k](b) for k, b in bounds.items() if "inimum" in k], default=_LEAST)
        most = min([_BOUNDS[k](b) for k, b in bounds.items() if "aximum" in k], default=_MOST)
        if least > most:
            raise SchemaError(path, f"no whole number is at least {least} and at most {most}")
        return f"({number_grammar.whole_numbers(least, most)})"

    def _counts(
        self, schema: Schema, least_key: str, most_key: str, path: str
    ) -> tuple[int, int | None]:
        counts: list[int | None] = []
        for key in (least_key, most_key):
            count = schema.get(key)
            is_count = isinstance(count, int) and not isinstance(count, bool) and count >= 0
            if count is not None and not is_count:
                raise SchemaError(f"{path}/{key}", "should be a whole number from 0 on")
            counts.append(count if isinstance(count, int) else None)
        least, most = counts
        if least is not None and most is not None and least > most:
            raise SchemaError(path, f"{least_key} is above {most_key}")
        return least or 0, most

    def _list(self, schema: Schema, key: str, path: str) -> list[object]:
        found = schema.get(key)
        if not isinstance(found, list) or not found:
            raise SchemaError(f"{path}/{key}", "should be a list with something in it")
        return found


_LEAST, _MOST = -number_grammar.LARGEST, number_grammar.LARGEST
_BOUNDS = {
    "minimum": math.ceil,
    "exclusiveMinimum": lambda bound: math.floor(bound) + 1,
    "maximum": math.floor,
    "exclusiveMaximum": lambda bound: math.ceil(bound) - 1,
}


def constant(value: object) -> str:
    """``value`` as JSON, written as a text of a grammar."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def other_names(names: Sequence[str]) -> str:
    """A JSON text that is none of ``names``.

    Names that JSON writes with a backslash are not told apart from others.
    """
    plain = [name for name in names if json.dumps(name, ensure_ascii=False) == f'"{name}"']
    return rf'"\"" {_not_these(plain)} "\""' if plain else "string"


def _not_these(words: Sequence[str]) -> str:
    """Any text but ``words``, which differ in their first characters or what follows them."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        if word:
            by_first.setdefault(word[0], []).append(word[1:])
    rejects = "".join(pattern_grammar.letter_in_class(first) for first in by_first)
    escape = r'[\\] (["\\bfnrt] | "u" [0-9a-fA-F]{4})'
    parts = [f"{constant_letter(first)} {_not_these(rest)}" for first, rest in by_first.items()]
    parts.append(f"([^{pattern_grammar.NEVER_BARE}{rejects}] | {escape}) char*")
    return f"({' | '.join(parts)})" + ("" if "" in words else "?")


def constant_letter(letter: str) -> str:
    """One character as a text of a grammar."""
    return f'"{letter}"'


def _either(forms: Sequence[str]) -> str:
    return f"({' | '.join(forms)})"


def _times(item: str, least: int, most: int | None) -> str:
    if most == 0:
        return ""
    return f"{item}{{{least},{'' if most is None else most}}}"
