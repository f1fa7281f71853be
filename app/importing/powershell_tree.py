"""The tokens of a text for PowerShell as statements, with what stands in brackets inside them.

Knows how PowerShell nests; must not know what statements mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from app.importing.posix_tokens import Piece, Token

_CLOSING = {"(": ")", "{": "}", "@(": ")", "@{": "}"}
_SEPARATORS = frozenset({"\n", ";", "|", "&&", "||"})
# A text that goes deeper is made to, not written; its brackets are left out.
_DEEPEST = 60
_LOOKED_AHEAD = 20


@dataclass
class Statement:
    """One statement.

    Attributes:
        items: Words, signs and groups.
        ends: The operator behind it.
    """

    items: list[Item] = field(default_factory=list)
    ends: str = "\n"


@dataclass
class Group:
    """What stands in brackets.

    Attributes:
        opening: ``(``, ``{``, ``@(`` or ``@{``.
        statements: What is in it.
    """

    opening: str
    statements: list[Statement] = field(default_factory=list)

    @property
    def items(self) -> list[Item]:
        """Everything in it, in one row."""
        return [item for statement in self.statements for item in statement.items]


Item: TypeAlias = Token | Group


def statements_of(tokens: Sequence[Token]) -> list[Statement]:
    """The statements that ``tokens`` are."""
    return _Parser(tokens).statements("", 0)


class _Parser:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def statements(self, closing: str, depth: int) -> list[Statement]:
        """Up to the bracket that closes; up to the end where none does."""
        found: list[Statement] = []
        statement = Statement()
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            operator = token.operator
            if operator and operator == closing:
                break
            if operator in _CLOSING and depth < _DEEPEST:
                inside = self.statements(_CLOSING[operator], depth + 1)
                statement.items.append(Group(operator, inside))
            elif operator in _SEPARATORS:
                if operator == "\n" and self._goes_on(statement.items):
                    continue
                statement.ends = operator
                found.append(statement)
                statement = Statement()
            elif operator not in {"", ","} and operator != "&":
                continue  # a bracket that nothing opened
            else:
                statement.items.append(token)
        return [each for each in [*found, statement] if each.items]

    def _goes_on(self, items: Sequence[Item]) -> bool:
        """Whether a line feed ends no statement: behind a comma, or before ``else``."""
        last = items[-1] if items else None
        if isinstance(last, Token) and last.operator == ",":
            return True
        if not isinstance(last, Group) or last.opening != "{":
            return False
        ahead = self._tokens[self._at : self._at + _LOOKED_AHEAD]
        following = next((each for each in ahead if each.operator != "\n"), None)
        return bare(following).lower() in {"else", "elseif", "catch", "finally"}


def bare(item: Item | None) -> str:
    """The beginning of a word that stands without quotes and without variables."""
    if not isinstance(item, Token) or not item.pieces:
        return ""
    first = item.pieces[0]
    return "" if first.name or first.is_quoted else first.text


def is_sign(item: Item, sign: str) -> bool:
    """Whether an item is the operator ``sign``."""
    return isinstance(item, Token) and item.operator == sign


def is_flag(statement: Statement) -> bool:
    """Whether a statement begins with a flag, and so belongs to the one before."""
    text = bare(statement.items[0]) if statement.items else ""
    return len(text) > 1 and text[0] in "-–—"


def parted(items: Sequence[Item], sign: str = ",") -> Iterator[list[Item]]:
    """The items between signs."""
    part: list[Item] = []
    for item in items:
        if is_sign(item, sign):
            yield part
            part = []
        else:
            part.append(item)
    yield part


def written(items: Sequence[Item]) -> str:
    """Items about as they were written."""
    texts = []
    for item in items:
        if isinstance(item, Group):
            closing = _CLOSING[item.opening]
            texts.append(f"{item.opening}{written(item.items)}{closing}")
        else:
            texts.append(item.operator or item.written)
    return " ".join(texts)


def is_block(item: Item) -> bool:
    """Whether an item is what stands in braces."""
    return isinstance(item, Group) and item.opening == "{"


def pieces_of(items: Sequence[Item]) -> Sequence[Piece]:
    """Those of the one word that stands there; none where more does."""
    only = items[0] if len(items) == 1 else None
    return only.pieces if isinstance(only, Token) else ()
