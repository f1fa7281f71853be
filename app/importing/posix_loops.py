"""Loops of a text for a shell over words that stand in it, and the patterns of its cases.

Knows the shell's grammar; must not know what a command means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.importing.posix_tokens import Token

DEEPEST = 20
"""Loops in loops that are read; a person writes two or three."""
TOO_DEEP = (
    f"Loops lie in each other more than {DEEPEST} deep, which no server needs. Paste the line that "
    "starts it."
)

_ENDS = frozenset({"\n", ";"})
_BEFORE_COMMAND = frozenset({"then", "else", "elif", "do", "{", "!", "time"})


@dataclass(frozen=True)
class Loop:
    """``for NAME in WORDS; do BODY; done``.

    Attributes:
        name: Of the variable.
        words: What it goes through.
        body: What is done for each.
    """

    name: str
    words: tuple[Token, ...]
    body: tuple[Token, ...]


def parts_of(tokens: Sequence[Token]) -> Iterator[list[Token] | Loop]:
    """``tokens`` in order, loops taken out of them."""
    plain: list[Token] = []
    at = 0
    while at < len(tokens):
        found = _loop_at(tokens, at) if tokens[at].bare == "for" and _begins(plain) else None
        if found is None:
            plain.append(tokens[at])
            at += 1
            continue
        yield plain
        loop, at = found
        yield loop
        # A command ends where a loop stood, as it did where the loop began.
        plain = [Token(operator="\n")]
    yield plain


def _begins(before: Sequence[Token]) -> bool:
    """Whether a command begins behind ``before``."""
    last = before[-1] if before else None
    return last is None or bool(last.operator) or last.bare in _BEFORE_COMMAND


def _loop_at(tokens: Sequence[Token], at: int) -> tuple[Loop, int] | None:
    """The loop that begins at a place, and the place behind it; None where none is whole."""
    name = tokens[at + 1].bare if at + 2 < len(tokens) else ""
    if not name.isidentifier() or tokens[at + 2].bare != "in":
        return None
    first = end = at + 3
    while end < len(tokens) and tokens[end].operator not in _ENDS:
        end += 1
    start = end
    while start < len(tokens) and tokens[start].operator in _ENDS:
        start += 1
    if start >= len(tokens) or tokens[start].bare != "do":
        return None
    closing = _closing(tokens, start + 1)
    if closing < 0:
        return None
    words = tuple(token for token in tokens[first:end] if not token.operator)
    return Loop(name, words, tuple(tokens[start + 1 : closing])), closing + 1


def _closing(tokens: Sequence[Token], start: int) -> int:
    depth = 1
    for at in range(start, len(tokens)):
        if tokens[at].bare in {"do", "done"} and _begins(tokens[max(start, at - 1) : at]):
            depth += 1 if tokens[at].bare == "do" else -1
        if not depth:
            return at
    return -1


class Cases:
    """Which simple commands are patterns of a ``case`` and none."""

    def __init__(self) -> None:
        """Begin outside of any."""
        self._waits: list[bool] = []

    def is_pattern(self, first: str, last: str, ends: str) -> bool:
        """Whether a simple command is a part of a pattern.

        Args:
            first: Its first word behind words of the grammar.
            last: Its last word.
            ends: The operator behind it.
        """
        if first == "esac":
            self._waits = self._waits[:-1]
            return False
        if first == "case" and last == "in":
            self._waits.append(True)
            return False
        if not self._waits:
            return False
        if self._waits[-1]:
            self._waits[-1] = ends != ")"
            return ends in {")", "|", "("}
        if ends == ";;":
            self._waits[-1] = True
        return False
