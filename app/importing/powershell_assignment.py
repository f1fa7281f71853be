"""What a statement of PowerShell assigns, and to what.

Knows how assignments are written; must not know what values are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.importing.posix_tokens import Piece, Token
from app.importing.powershell_tree import Group, Item, bare, written
from app.importing.powershell_values import Expressions

_TYPE = re.compile(r"\[[\w.\[\]]+\]$")


def without_type(pieces: Sequence[Piece]) -> list[Piece]:
    """A word without the type before it: ``$x`` of ``[string]$x``."""
    is_typed = len(pieces) > 1 and not pieces[0].name and _TYPE.match(pieces[0].text) is not None
    return list(pieces[1:] if is_typed else pieces)


def ternary(items: Sequence[Item]) -> tuple[list[Item], list[Item], list[Item]] | None:
    """The question and both answers of ``a ? b : c``."""
    signs = [bare(item) if isinstance(item, Token) else "" for item in items]
    if "?" not in signs or ":" not in signs:
        return None
    asked, other = signs.index("?"), len(signs) - 1 - signs[::-1].index(":")
    if not 0 < asked < other < len(items) - 1:
        return None
    return list(items[:asked]), list(items[asked + 1 : other]), list(items[other + 1 :])


def assigned(items: Sequence[Item]) -> tuple[Piece, bool, list[Item]] | None:
    """What a statement assigns to, whether it adds, and the value; None where it does not."""
    first = items[0] if items else None
    if not isinstance(first, Token):
        return None
    pieces = without_type(first.pieces)
    if not pieces or not pieces[0].name or pieces[0].is_quoted or pieces[0].operator:
        return None
    rest = list(items[1:])
    sign = pieces[1].text if len(pieces) > 1 and not pieces[1].is_quoted else ""
    if len(pieces) == 1 and rest and bare(rest[0]) in {"=", "+="}:
        glued = rest[0].pieces[1:] if isinstance(rest[0], Token) else []
        return pieces[0], bare(rest[0]) == "+=", [*([Token(glued)] if glued else []), *rest[1:]]
    match = re.match(r"(\+?=)(.*)", sign, re.DOTALL)
    if not match:
        return None
    value = [*([Piece(match.group(2))] if match.group(2) else []), *pieces[2:]]
    return pieces[0], match.group(1) == "+=", [*([Token(value)] if value else []), *rest]


def member(items: Sequence[Item]) -> tuple[Piece, str, list[Item]] | None:
    """The variable, the name of its member in lower case and the value of ``$x.Name = value``."""
    first = items[0] if items else None
    if not isinstance(first, Token) or len(items) < 3 or bare(items[1]) != "=":
        return None
    pieces = first.pieces
    if len(pieces) != 2 or not pieces[0].name or pieces[1].name:
        return None
    name = pieces[1].text.lower().rpartition(".")[2]
    return (pieces[0], name, list(items[2:])) if name else None


def table(group: Group, expressions: Expressions) -> dict[str, tuple[str, ...]]:
    """``@{ Name = value; … }``: words by names, none for a switch that is on."""
    found: dict[str, tuple[str, ...]] = {}
    for statement in group.statements:
        items = statement.items
        if len(items) < 3 or bare(items[1]) != "=":
            continue
        name = written(items[:1])
        if isinstance(items[2], Group) and items[2].opening == "@{":
            inside = table(items[2], expressions)
            found |= {f"{name}.{key}": words for key, words in inside.items()}
            continue
        value = expressions.value(items[2:])
        is_on = value is not None and value.words == ("True",)
        found[name] = () if value is None or is_on else value.words
    return found
