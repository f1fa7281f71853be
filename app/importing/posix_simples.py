"""The simple commands of a text for a POSIX shell, and the functions that it defines.

Knows the shell's grammar; must not know what a command means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.importing.posix_loops import Cases
from app.importing.posix_tokens import Piece, Token

ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
"""``NAME=`` and ``NAME+=``."""
_SEPARATORS = frozenset({"\n", ";", ";;", "&&", "||", "|", "|&", "&", "(", ")"})
# Behind these a command begins too.
_BEFORE_COMMAND = frozenset({"then", "else", "elif", "do", "{", "!", "time", "if", "while"})
_NO_FUNCTIONS = frozenset({"if", "for", "while", "case", "select", "until"})


@dataclass
class Simple:
    """One simple command, before anything is put in.

    Attributes:
        words: Each as its pieces.
        arrays: Words in brackets behind a word, by its place.
        targets: Files that redirections name.
        documents: Here-documents.
        ends: The operator behind it.
        is_one_flag: Whether the last line of it is a flag alone.
    """

    words: list[list[Piece]] = field(default_factory=list)
    arrays: dict[int, list[list[Piece]]] = field(default_factory=dict)
    targets: list[list[Piece]] = field(default_factory=list)
    documents: list[Token] = field(default_factory=list)
    ends: str = "\n"
    is_one_flag: bool = False


def bare(pieces: Sequence[Piece]) -> str:
    """The beginning of a word that stands without quotes and without variables."""
    return pieces[0].text if pieces and not pieces[0].name and not pieces[0].is_quoted else ""


def simples(tokens: Sequence[Token]) -> Iterator[Simple]:
    """The simple commands, in order, without the patterns of cases."""
    cases = Cases()
    for simple in _all_simples(tokens):
        own = [word for word in map(bare, simple.words) if word not in _BEFORE_COMMAND]
        first, last = (own[0], own[-1]) if own else ("", "")
        if cases.is_pattern(first, last, simple.ends):
            simple.words = []
        yield simple


def _all_simples(tokens: Sequence[Token]) -> Iterator[Simple]:
    """The simple commands; redirections taken out, brackets of arrays taken in."""
    simple, number = Simple(), 0
    while number < len(tokens):
        token = tokens[number]
        number += 1
        if not token.operator:
            simple.words.append(token.pieces)
            if token.bare == "[[" and len(token.pieces) == 1:
                number = _take_question(tokens, number, simple)
        elif token.operator == "(" and _begins_array(simple):
            number = _take_array(tokens, number, simple)
        elif token.operator in _SEPARATORS:
            simple.ends = token.operator
            yield simple
            simple = Simple()
        elif token.operator in {"<<", "<<-"}:
            simple.documents.append(token)
        elif number < len(tokens) and not tokens[number].operator:
            simple.targets.append(tokens[number].pieces)
            number += 1
    yield simple


def _take_question(tokens: Sequence[Token], number: int, simple: Simple) -> int:
    """``[[ … ]]``, whose operators part no commands; as it is where it never closes."""
    end = number
    while end < len(tokens) and tokens[end].bare != "]]" and tokens[end].operator != "\n":
        end += 1
    if end >= len(tokens) or tokens[end].bare != "]]":
        return number
    simple.words += [token.pieces for token in tokens[number : end + 1] if not token.operator]
    return end + 1


def _begins_array(simple: Simple) -> bool:
    last = simple.words[-1] if simple.words else []
    return bool(last) and not last[-1].name and last[-1].text.endswith("=")


def _take_array(tokens: Sequence[Token], number: int, simple: Simple) -> int:
    words: list[list[Piece]] = []
    while number < len(tokens) and tokens[number].operator != ")":
        if not tokens[number].operator:
            words.append(tokens[number].pieces)
        number += 1
    simple.arrays[len(simple.words) - 1] = words
    return number + 1


def is_assignment(simple: Simple) -> bool:
    """Whether a command only sets variables."""
    return bool(simple.words) and all(
        ASSIGNMENT.match(bare(word)) is not None for word in simple.words
    )


# --- functions ------------------------------------------------------------------------------


def without_functions(
    tokens: Sequence[Token],
) -> tuple[list[Token], dict[str, list[Token]]]:
    """The tokens without the functions that they define, and the body of each."""
    kept: list[Token] = []
    bodies: dict[str, list[Token]] = {}
    number = 0
    while number < len(tokens):
        begin = _body_of(tokens, number) if _is_command_place(kept) else 0
        end = _closing(tokens, begin) if begin else -1
        if end < 0:
            kept.append(tokens[number])
            number += 1
            continue
        name = tokens[number + (tokens[number].bare == "function")].bare
        bodies[name] = list(tokens[begin:end])
        number = end + 1
    return kept, bodies


def _is_command_place(kept: Sequence[Token]) -> bool:
    last = kept[-1] if kept else None
    return last is None or last.operator in _SEPARATORS or last.bare in _BEFORE_COMMAND


def _body_of(tokens: Sequence[Token], number: int) -> int:
    """The place behind the ``{`` of the function that begins at a place; 0 where none does."""
    at = number
    has_word = tokens[at].bare == "function"
    at += has_word
    if at >= len(tokens) or not _is_name(tokens[at]):
        return 0
    at += 1
    if [token.operator for token in tokens[at : at + 2]] == ["(", ")"]:
        at += 2
    elif not has_word:
        return 0
    while at < len(tokens) and tokens[at].operator == "\n":
        at += 1
    return at + 1 if at < len(tokens) and _is_brace(tokens[at], "{") else 0


def _is_name(token: Token) -> bool:
    return len(token.pieces) == 1 and bool(token.bare) and token.bare not in _NO_FUNCTIONS


def _is_brace(token: Token, brace: str) -> bool:
    return len(token.pieces) == 1 and token.bare == brace


def _closing(tokens: Sequence[Token], number: int) -> int:
    """The place of the ``}`` that belongs to what was opened; -1 for none."""
    depth = 1
    for at in range(number, len(tokens)):
        depth += _is_brace(tokens[at], "{") - _is_brace(tokens[at], "}")
        if not depth:
            return at
    return -1
