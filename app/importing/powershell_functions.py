"""Parameters of functions and scripts of PowerShell, and what a call gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.importing.posix_tokens import Piece, Token
from app.importing.powershell_tree import Group, Item, Statement, bare, parted


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        piece: Its variable.
        default: What it is where the call says nothing; empty where that is nothing.
        is_switch: Whether its name alone switches it on.
    """

    piece: Piece
    default: tuple[Item, ...]
    is_switch: bool


@dataclass(frozen=True)
class Function:
    """A function.

    Attributes:
        parameters: In their order.
        body: Its statements, without ``param``.
    """

    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]


def function_of(items: Sequence[Item]) -> Function | None:
    """What ``name(parameters) { … }`` defines; None where it is cut off."""
    body = items[-1] if items else None
    if not isinstance(body, Group) or body.opening != "{":
        return None
    parameters: list[Parameter] = []
    for item in items[:-1]:
        if isinstance(item, Group):
            parameters += parameters_of(item)
        elif item.pieces and item.pieces[-1].operator == "?":
            continue
    statements = []
    for statement in body.statements:
        inside = param_block(statement.items)
        if inside is None:
            statements.append(statement)
        else:
            parameters += parameters_of(inside)
            statements += [Statement(statement.items[2:])] if statement.items[2:] else []
    return Function(tuple(parameters), tuple(statements))


def param_block(items: Sequence[Item]) -> Group | None:
    """The brackets of a statement ``param(…)``."""
    is_block = len(items) > 1 and bare(items[0]).lower() == "param"
    inside = items[1] if is_block else None
    return inside if isinstance(inside, Group) and inside.opening == "(" else None


def parameters_of(group: Group) -> Iterator[Parameter]:
    """The parameters that stand in brackets."""
    for statement in group.statements:
        for part in parted(statement.items):
            found = _parameter(part)
            if found:
                yield found


def _parameter(items: Sequence[Item]) -> Parameter | None:
    """``[type]$Name = default``, attributes before it left out."""
    for at, item in enumerate(items):
        if not isinstance(item, Token):
            continue
        named = next((n for n, piece in enumerate(item.pieces) if _is_name(piece)), None)
        if named is None:
            continue
        piece = item.pieces[named]
        before = "".join(each.text for each in item.pieces[:named]).lower()
        kinds = before + "".join(bare(each).lower() for each in items[:at])
        rest = items[at + 1 :]
        default = tuple(rest[1:]) if rest and bare(rest[0]) == "=" else ()
        glued = item.pieces[named + 1 :]
        if glued and glued[0].text.startswith("="):
            first = [Piece(glued[0].text[1:]), *glued[1:]] if glued[0].text != "=" else glued[1:]
            default = (*([Token(list(first))] if first else []), *rest)
        return Parameter(piece, default, "[switch]" in kinds)
    return None


def _is_name(piece: Piece) -> bool:
    return bool(piece.name) and not piece.operator and not piece.is_quoted
