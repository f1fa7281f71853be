"""Whether a JSON schema can become a grammar, as far as that can be told without making one.

The converter of llama-cpp-python never comes back from some patterns, and from some counts with a
text of gigabytes. Knows JSON; must not know llama.cpp.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from engine_bridge.settings.gbnf import TextFault

# The converter writes an optional part into a bracket of its own, one inside the other.
MOST_REPEATED = 500
# It calls itself for what stands in a part, and Python allows a thousand calls.
_MOST_DEEP = 64
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength")
_ESCAPES_AND_CLASSES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}", re.DOTALL)
_QUANTIFIER = re.compile(r"\{\s*(\d*)\s*,?\s*(\d*)\s*\}")


def fault_in(text: str) -> TextFault | None:
    """What is wrong with the JSON schema ``text``; None where nothing is found.

    The empty text is no schema and has no fault.
    """
    if not text:
        return None
    try:
        schema = json.loads(text)
    except json.JSONDecodeError as error:
        return TextFault(error.lineno, error.colno, f"this is no JSON: {error.msg}")
    except (RecursionError, ValueError):
        return TextFault(1, 1, "parts stand too deep in each other, or a number is too long")
    what = _fault_of(schema)
    return None if what is None else TextFault.at(text, 0, what)


def _fault_of(schema: object) -> str | None:
    if not isinstance(schema, dict):
        return "a schema is an object, in '{' and '}'"
    for depth, part in _parts(schema):
        if depth > _MOST_DEEP:
            return f"more than {_MOST_DEEP} parts stand in each other"
        what = _count_fault(part) or _pattern_fault(part.get("pattern"))
        if what is not None:
            return what
    return None


def _parts(schema: dict[str, object]) -> Iterator[tuple[int, dict[str, object]]]:
    """Every object in ``schema`` and how deep it stands."""
    todo: list[tuple[int, object]] = [(0, schema)]
    while todo:
        depth, part = todo.pop()
        if isinstance(part, dict):
            yield depth, part
            todo += [(depth + 1, inner) for inner in part.values()]
        elif isinstance(part, list):
            todo += [(depth + 1, inner) for inner in part]


def _count_fault(part: dict[str, object]) -> str | None:
    for key in _COUNTS:
        count = part.get(key)
        # A property may have such a name; what it is then is an object.
        if isinstance(count, int | float) and not 0 <= count <= MOST_REPEATED:
            return f"{key} is {count:,}; from 0 to {MOST_REPEATED} can be made a grammar"
    return None


def _pattern_fault(pattern: object) -> str | None:
    if not isinstance(pattern, str):
        return None
    if not (pattern.startswith("^") and pattern.endswith("$")):
        return f"the pattern {_short(pattern)} must begin with '^' and end with '$'"
    for found in _QUANTIFIER.finditer(pattern):
        if any(len(count) > 4 or int(count or 0) > MOST_REPEATED for count in found.groups()):
            return f"the pattern {_short(pattern)} repeats more than {MOST_REPEATED} times"
    if re.search(r"[\]}]", _ESCAPES_AND_CLASSES.sub("", pattern)):
        return f"the pattern {_short(pattern)} closes a bracket that is not open"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"the pattern {_short(pattern)} is none: {error}"
    return None


def _short(pattern: str) -> str:
    text = repr(pattern)
    return text if len(text) <= 60 else f"{text[:59]}…"
