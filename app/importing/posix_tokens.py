"""Words and operators of a text for a POSIX shell, and how its escapes are read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v",
}  # fmt: skip
_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
UNKNOWN = "!"
"""The operator of what nobody can put in here."""
_LAST_CHARACTER = 0x10FFFF
_FIRST_NO_ASCII = 0x80
_BEFORE_WINDOWS_PATH = re.compile(r"(?:^|=)(?:[A-Za-z]:|\.{1,2})$")
_WINDOWS_WORD = re.compile(r"\\(?:[^\s'\"|;&<>\\][^\s'\"|;&<>]*)")
_SHARE = re.compile(r"\\\\[A-Za-z][\w.-]*\\[^\s'\"|;&<>]+")
_PAIRS = {
    ")": re.compile(r"\\.|[()]", re.DOTALL),
    "}": re.compile(r"\\.|[{}]", re.DOTALL),
    "`": re.compile(r"\\.|`", re.DOTALL),
}
_JSON_BEGINS = re.compile(r'\{\s{0,8}"')


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word.

    Attributes:
        text: Literal text; of a variable, how it was written.
        is_quoted: Whether it stood in quotes.
        name: Of a variable; empty for literal text.
        operator: What ``${name…}`` has behind the name; :data:`UNKNOWN` for what nobody can put in.
        operand: What stands behind the operator.
    """

    text: str
    is_quoted: bool = False
    name: str = ""
    operator: str = ""
    operand: str = ""


@dataclass(slots=True)
class Token:
    """A word, or an operator.

    Attributes:
        pieces: Of a word.
        operator: Of an operator; a line feed is one.
        body: Of a here-document.
        is_raw: Whether the shell puts nothing into the here-document.
    """

    pieces: list[Piece] = field(default_factory=list)
    operator: str = ""
    body: str = ""
    is_raw: bool = False

    @property
    def written(self) -> str:
        """The word with its variables as they were written."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def bare(self) -> str:
        """The beginning of the word that stands without quotes and without variables."""
        first = self.pieces[0] if self.pieces else None
        return first.text if first and not first.name and not first.is_quoted else ""


def unescaped(text: str) -> str:
    r"""The inside of ``$'…'``, where ``\n`` is a line feed."""
    return _ANSI.sub(_one_unescaped, text)


def _one_unescaped(match: re.Match[str]) -> str:
    hexadecimal, short, long, octal, control, other = match.groups()
    if octal or hexadecimal:
        return _byte(int(octal, 8) & 0xFF if octal else int(hexadecimal, 16))
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code <= _LAST_CHARACTER else match.group()
    if control:
        return chr(ord(control) & 0x1F)
    return _ESCAPES.get(other, str(other) if other in "\\'\"?" else match.group())


def _byte(value: int) -> str:
    # A byte that is no ASCII stands as Python keeps stray bytes of file names.
    return chr(value) if value < _FIRST_NO_ASCII else chr(0xDC00 + value)


def json_end(text: str, at: int) -> int:
    """The place behind the JSON object that begins ``at`` a place; -1 where none does."""
    if not _JSON_BEGINS.match(text, at):
        return -1
    try:
        return json.JSONDecoder().raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return -1


def windows_path(text: str, at: int, pieces: Sequence[Piece] | None) -> str:
    """The rest of a path of Windows that stands at a place without quotes; empty for none.

    Args:
        text: In which it stands.
        at: The place of its first backslash.
        pieces: Those of the word so far; None where no word has begun.
    """
    if pieces is None:
        share = _SHARE.match(text, at)
        return share.group() if share else ""
    if len(pieces) != 1 or not _BEFORE_WINDOWS_PATH.search(pieces[-1].text):
        return ""
    word = _WINDOWS_WORD.match(text, at)
    # A backslash at the end of the line continues it.
    is_end = word is not None and text.startswith("\n", word.end())
    return word.group().removesuffix("\\" if is_end else "") if word else ""


def behind(text: str, closing: str, start: int) -> int:
    """The place behind the ``closing`` that belongs to what was opened; -1 for none.

    Args:
        text: In which it stands.
        closing: One of ``)``, ``}`` and a backtick.
        start: The place behind what opens.
    """
    depth = 1
    for match in _PAIRS[closing].finditer(text, start):
        found = match.group()
        depth += -1 if found == closing else found in "({"
        if not depth:
            return match.end()
    return -1
