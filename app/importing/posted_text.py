"""What web pages, editors and word processors put into a text, taken out again and told.

Knows nothing of shells and files.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from itertools import pairwise

_ENTITY = re.compile(r"&(?:quot|apos|amp|lt|gt|nbsp|ndash|mdash|#(?:0?3[49]|x2[27]|8211));")
_OF_XML = re.compile(r"\s*<[?!]?[A-Za-z]")
_HYPHENS = re.compile("[\u2010\u2011\ufe63\uff0d]")
_NUMBERED = re.compile(r"[ \t]*([0-9]{1,5})(?:[ \t]*[:.|)│][ \t]?|[ \t]+|$)(.*)")
_WEB = (
    "typographic: signs are written as a web page writes them (&quot;, &amp;); they are read as "
    "what they stand for"
)
_HYPHEN = "typographic: hyphens of a word processor are read as the plain ones"
_NUMBERS = "The numbers in front of the lines were left out."


@dataclass(frozen=True)
class Posted:
    """A text without what was put into it.

    Attributes:
        text: It.
        problems: ``code: sentence``.
        notes: Sentences.
    """

    text: str
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def as_written(text: str) -> Posted:
    """``text`` as whoever wrote it had it."""
    problems: list[str] = []
    if _ENTITY.search(text) and not _OF_XML.match(text):
        problems.append(_WEB)
        text = _ENTITY.sub(lambda match: html.unescape(match.group()).replace("\xa0", " "), text)
    if _HYPHENS.search(text):
        problems.append(_HYPHEN)
        text = _HYPHENS.sub("-", text)
    bare = _without_numbers(text)
    return Posted(bare or text, tuple(problems), (_NUMBERS,) if bare else ())


def _without_numbers(text: str) -> str:
    """The text without a number in front of each line; empty where they are no such numbers."""
    lines = [line for line in text.split("\n") if line.strip()]
    matches = [_NUMBERED.match(line) for line in lines]
    found = [match for match in matches if match]
    if len(found) < 2 or len(found) != len(lines):
        return ""
    numbers = [int(match.group(1)) for match in found]
    if any(after != before + 1 for before, after in pairwise(numbers)):
        return ""
    return "\n".join(match.group(2) for match in found)
