"""Whether a JSON schema can become a grammar, and where not.

Knows the text of a schema; what a grammar is made of is ``schema_grammar``'s.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass

from engine_bridge.settings import gbnf, schema_grammar
from engine_bridge.settings.gbnf import TextFault

# The converter calls itself for what stands in a part, and Python allows a thousand calls.
_MOST_DEEP = 60

# What Python's reader says in words that want a place behind them.
_JSON_FAULTS = {
    "Unterminated string starting at": "the closing quote is missing",
    "Extra data": "something stands behind its end",
}


def fault_in(text: str) -> TextFault | None:
    """What is wrong with the JSON schema ``text``; None where it can become a grammar.

    The empty text is no schema and has no fault.
    """
    made = _made_of(text) if text else None
    return made if isinstance(made, TextFault) else None


def grammar_of(text: str) -> str:
    """The grammar of the JSON schema ``text``, in which ``fault_in`` finds no fault.

    Costs nothing where that was asked: the command line is written anew with every change.
    """
    made = _made_of(text)
    assert isinstance(made, str), made
    return made


@functools.lru_cache(maxsize=16)  # every check of a configuration asks again
def _made_of(text: str) -> str | TextFault:
    """The grammar of ``text``, or why it has none."""
    try:
        schema = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        why = _JSON_FAULTS.get(error.msg, error.msg)
        return TextFault(error.lineno, error.colno, f"this is no JSON: {why}")
    except (RecursionError, ValueError) as error:
        return TextFault(1, 1, f"this is no JSON that can be read: {error}")
    made = _converted(schema)
    return TextFault(1, 1, made.what) if isinstance(made, _Unusable) else made


@dataclass(frozen=True)
class _Unusable:
    """Why a schema has no grammar."""

    what: str


def _converted(schema: object) -> str | _Unusable:
    if not isinstance(schema, dict):
        return _Unusable("a schema is an object, in '{' and '}'")
    if _is_deep(schema):
        return _Unusable(f"more than {_MOST_DEEP} parts stand in each other")
    try:
        grammar = schema_grammar.grammar_of(schema)
    except schema_grammar.SchemaError as error:
        return _Unusable(str(error))
    fault = gbnf.fault_in(grammar)
    return grammar if fault is None else _Unusable(f"its grammar cannot be used: {fault.what}")


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no number of JSON")


def _is_deep(schema: object) -> bool:
    todo: list[tuple[int, object]] = [(0, schema)]
    while todo:
        depth, part = todo.pop()
        if depth > _MOST_DEEP:
            return True
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        todo += [(depth + 1, one) for one in inner]
    return False
