"""Text that must stay text, carried unharmed through a chat template.

Where a person types the text of a control token, it is put between two characters that Unicode
reserves for such private use; after rendering the prompt is cut there. Everything else stays in one
piece and is tokenised as llama-server would. Pure: knows neither templates nor tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

# Noncharacters: never part of interchanged text, so nothing is lost by removing them from it.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MAX_TREE_DEPTH = 64
_END = ""  # a key that is no character: here a text is complete
_Node: TypeAlias = dict[str, "_Node"]
_UNWANTED = {ord(_OPEN): None, ord(_CLOSE): None, 0: None}


@dataclass(frozen=True)
class Fragment:
    """A piece of a prompt.

    Attributes:
        text: The piece; never empty.
        parse_special: Whether the text of control tokens in it means those tokens.
    """

    text: str
    parse_special: bool


def cleaned(text: str) -> str:
    """``text`` without NUL, which no template expects, and without the two marks."""
    return text.translate(_UNWANTED)


def marked(text: str, special_texts: tuple[str, ...]) -> str:
    """A cleaned ``text`` with every occurrence of a special text between marks."""
    if not special_texts:
        return text
    return _pattern(special_texts).sub(lambda found: f"{_OPEN}{found[0]}{_CLOSE}", text)


def without_marks(text: str) -> str:
    """``text`` as a person would read it."""
    return text.replace(_OPEN, "").replace(_CLOSE, "")


def fragments_of(text: str) -> tuple[Fragment, ...]:
    """Cut a rendered text at the marks.

    A template may have cut between a pair of marks; a mark alone still separates, so that what it
    kept apart cannot become a token.
    """
    return tuple(_fragments(text))


def _fragments(text: str) -> Iterator[Fragment]:
    is_plain = False
    begin = 0
    for mark in re.finditer(f"[{_OPEN}{_CLOSE}]", text):
        piece = text[begin : mark.start()]
        # Only what stands between an opening and its closing mark was typed as special text.
        closes = is_plain and mark[0] == _CLOSE
        if piece:
            yield Fragment(piece, parse_special=not closes)
        is_plain, begin = mark[0] == _OPEN, mark.end()
    if begin < len(text):
        yield Fragment(text[begin:], parse_special=True)


def apart(text: str, special_texts: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """``text`` cut at its special texts: each piece, and whether it is a special text."""
    if not special_texts:
        yield text, False
        return
    begin = 0
    for found in _pattern(special_texts).finditer(text):
        if found.start() > begin:
            yield text[begin : found.start()], False
        yield found[0], True
        begin = found.end()
    if begin < len(text):
        yield text[begin:], False


@lru_cache(maxsize=4)
def _pattern(special_texts: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for thousands of texts, the longest match first.

    A plain alternation would try each of Gemma's 6,000 texts at every ``<``; a tree of their common
    beginnings tries a handful. Texts too long for a tree (none is known) stand beside it.
    """
    root: _Node = {}
    long = []
    for text in special_texts:
        if len(text) > _MAX_TREE_DEPTH:
            long.append(re.escape(text))
            continue
        node = root
        for character in text:
            node = node.setdefault(character, {})
        node[_END] = {}
    tree = [_expression(root)] if root else []
    return re.compile("|".join([*sorted(long, key=len, reverse=True), *tree]))


def _expression(node: _Node) -> str:
    """The part of the tree below ``node``; stretches without a fork become plain text."""
    stretch = ""
    while len(node) == 1 and _END not in node:
        character, node = next(iter(node.items()))
        stretch += re.escape(character)
    branches = [
        re.escape(character) + _expression(child)
        for character, child in node.items()
        if character != _END
    ]
    if not branches:
        return stretch
    optional = "?" if _END in node else ""
    return f"{stretch}(?:{'|'.join(branches)}){optional}"


def control_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """``texts`` in the form ``marked`` takes: no empty ones, no doubles, in a fixed order."""
    return tuple(sorted({text for text in texts if text}))
