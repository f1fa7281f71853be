"""Flags of a text for a shell that a word processor gave a printer's dash."""

from __future__ import annotations

from collections.abc import Sequence

from app.importing.posix_simples import bare
from app.importing.posix_tokens import Piece

_DASHES = "–—−"
_TYPOGRAPHIC = "typographic: a long dash is read as the hyphens that a flag begins with"
_LONGEST_SHORT_FLAG = 4


def is_flag(pieces: Sequence[Piece]) -> bool:
    """Whether a word begins as a flag does, with hyphens or with a dash."""
    begin = bare(pieces)
    return begin[:1] in {"-", *_DASHES} and len(begin) > 1 and not begin[1:].isspace()


def straight(word: str, problems: list[str]) -> str:
    """The word with hyphens where a word processor made a dash of them.

    Args:
        word: As the text has it.
        problems: What is told where there was a dash.
    """
    if word[:1] not in _DASHES or len(word) < 2 or not word.lstrip(_DASHES)[:1].isalpha():
        return word
    problems.append(_TYPOGRAPHIC)
    rest = word.lstrip(_DASHES)
    is_short = len(word) - len(rest) == 1 and word[0] != "—" and "-" not in rest
    return ("-" if is_short and len(rest) <= _LONGEST_SHORT_FLAG else "--") + rest
