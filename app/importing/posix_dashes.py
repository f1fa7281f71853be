"""Words of a text for a shell that are not what they seem: printer's dashes, patterns of files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.importing.call import is_relative_file
from app.importing.posix_simples import bare
from app.importing.posix_tokens import Piece

_DASHES = "–—−"
_TYPOGRAPHIC = "typographic: a long dash is read as the hyphens that a flag begins with"
_LONGEST_SHORT_FLAG = 4
_GLOB = re.compile(r"[*?]")
_SHOWN_CHARACTERS = 80


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


def looked_up(pieces: Sequence[Piece]) -> dict[str, str]:
    """What is told of a file whose name the shell finds by a pattern; empty for other words."""
    word = "".join(piece.text for piece in pieces)
    is_pattern = any(
        _GLOB.search(piece.text) and not (piece.is_quoted or piece.name) for piece in pieces
    )
    if not is_pattern or not is_relative_file(f"./{word.lstrip('/~$')}"):
        return {}
    said = (
        f"unresolved_variable: {word[:_SHOWN_CHARACTERS]} stands for the files that the shell "
        "finds by it; write the name"
    )
    return {said: said}
