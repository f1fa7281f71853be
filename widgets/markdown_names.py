"""Keeps names of programs as they are written where Markdown would take their underscores away.

``__init__`` alone is strong emphasis to CommonMark. Who writes about programs means a name, and who
wants emphasis writes asterisks; so underscores of what can only be a name are made literal. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BACKTICKS = re.compile(r"`+")
# An address keeps its characters: a backslash would become part of it.
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|<[^<>\s]*>")
_NAME = re.compile(r"(?<![\w\\])\w+")
_ENDS = re.compile(r"^_+|_+$")
# One word in small letters: a name that Python gives a meaning, hardly ever a stressed word.
_DUNDER = re.compile(r"__[a-z][a-z0-9_]*__")
_CODE_COLUMNS = 4


def with_names_kept(markdown: str) -> str:
    """``markdown`` with the outer underscores of names escaped; code and addresses untouched.

    A name is ``__word__``, and what has an underscore at an end and stands behind a ``.`` or before
    a ``(``, a ``[`` or a ``.`` with more behind it.
    """
    if "_" not in markdown:
        return markdown
    parts: list[str] = []
    prose: list[str] = []
    is_code, is_after_blank = False, True
    for line in markdown.split("\n"):
        is_indented = _columns(line) >= _CODE_COLUMNS
        is_code = is_indented and (is_code or is_after_blank)
        is_after_blank = not line.strip()
        if is_code:
            parts += [*_flushed(prose), line]
        else:
            prose.append(line)
    return "\n".join([*parts, *_flushed(prose)])


def _columns(line: str) -> int:
    expanded = line.expandtabs(_CODE_COLUMNS)
    return len(expanded) - len(expanded.lstrip(" "))


def _flushed(lines: list[str]) -> list[str]:
    """The prose gathered, with its names kept; it is empty then."""
    if not lines:
        return []
    text = "\n".join(lines)
    lines.clear()
    return ["".join(_kept(text[a:b]) if is_prose else text[a:b] for a, b, is_prose in _spans(text))]


def _spans(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where prose and spans of code begin and end; takes time in proportion to the text."""
    runs = list(_BACKTICKS.finditer(text))
    closing: dict[int, int] = {}
    seen: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = len(runs[index][0])
        if length in seen:
            closing[index] = seen[length]
        seen[length] = index
    start = index = 0
    while index < len(runs):
        if index in closing:
            end = runs[closing[index]].end()
            yield start, runs[index].start(), True
            yield runs[index].start(), end, False
            start, index = end, closing[index]
        index += 1
    yield start, len(text), True


def _kept(prose: str) -> str:
    parts, start = [], 0
    for address in _ADDRESS.finditer(prose):
        parts += [_escaped(prose[start : address.start()]), address[0]]
        start = address.end()
    return "".join([*parts, _escaped(prose[start:])])


def _escaped(prose: str) -> str:
    def kept(match: re.Match[str]) -> str:
        return _ENDS.sub(_with_backslashes, match[0]) if _is_name(match, prose) else match[0]

    return _NAME.sub(kept, prose)


def _with_backslashes(underscores: re.Match[str]) -> str:
    return "\\_" * len(underscores[0])


def _is_name(match: re.Match[str], prose: str) -> bool:
    word = match[0]
    if not (word.startswith("_") or word.endswith("_")) or not word.strip("_"):
        return False
    before = prose[max(0, match.start() - 1) : match.start()]
    after = prose[match.end() : match.end() + 2]
    if before == "." or after[:1] in ("(", "["):
        return True
    return (after[:1] == "." and (after[1:].isalnum() or after[1:] == "_")) or (
        _DUNDER.fullmatch(word) is not None
    )
