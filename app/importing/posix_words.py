"""A text that a file takes for one command: its words, as a shell would part them.

Knows the shell's quotes; must not know any program's flags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.importing.call import Call, once
from app.importing.posix_dashes import is_flag
from app.importing.posix_lexer import tokens_of
from app.importing.posix_tokens import Token
from app.importing.posix_variables import Variables

_SHOWN_CHARACTERS = 60


def read_words(text: str, known: Mapping[str, str] | None = None, *, no_comments: str = "") -> Call:
    """``text`` as the words of one command, whatever operators it holds.

    Args:
        text: As a file holds it that takes a command for one line.
        known: Variables that are set outside of it.
        no_comments: Who hands on ``#`` and what stands behind it as words; such words are left
            out and told. Empty where ``#`` begins a comment.

    Raises:
        TextError: If its variables multiply without bounds.
    """
    tokens, problems = tokens_of(text, has_comments=not no_comments)
    told: list[str] = []
    if no_comments:
        tokens, told = _without_comments(tokens, no_comments, has_lines="\n" in text.strip())
    variables = Variables(scalars=dict(known or {}))
    words = [word for token in tokens for word in _words(token, variables)]
    found = once([*problems, *told, *variables.take_problems().values()])
    return Call(tuple(words), problems=found)


def _words(token: Token, variables: Variables) -> list[str]:
    if token.operator:
        return [] if token.operator == "\n" else [token.operator]
    return variables.words(token.pieces)


def _without_comments(
    tokens: Sequence[Token], who: str, *, has_lines: bool
) -> tuple[list[Token], list[str]]:
    """The tokens without what was meant as a comment: up to the line's end, or the next flag."""
    kept: list[Token] = []
    comment: list[str] = []
    problems: list[str] = []
    for token in tokens:
        ends = token.operator == "\n" or (not has_lines and is_flag(token.pieces))
        if comment and ends:
            problems.append(comment_problem(comment, who))
            comment = []
        if comment or token.bare.startswith("#"):
            comment.append(token.operator or token.written)
        else:
            kept.append(token)
    return kept, [*problems, *([comment_problem(comment, who)] if comment else [])]


def comment_problem(words: Sequence[str], who: str) -> str:
    """What is told of words that were meant as a comment where there are none.

    Args:
        words: From ``#`` on.
        who: Hands them on.
    """
    said = " ".join(words)
    shown = said if len(said) <= _SHOWN_CHARACTERS else f"{said[: _SHOWN_CHARACTERS - 1]}…"
    return (
        f"broken_file: “{shown}” is no comment inside a command: {who} hands these words to the "
        "program, which stops at them; they are left out here"
    )
