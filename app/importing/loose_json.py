r"""JSON as people paste it: whole, with its quotes lost in a log, or with single quotes.

``{"method": "mtp"}``, ``{method: mtp}`` and ``{'method': 'mtp'}`` say the same. Values are read as
text, since that is what they were; nesting is bounded.
"""

from __future__ import annotations

import json
import re
from typing import TypeAlias

Json: TypeAlias = "str | list[Json] | dict[str, Json]"

LONGEST = 100_000
"""Characters of a value that are looked at; more is no setting."""
_DEEPEST = 20
_OPENING, _CLOSING = "{[", "}]"


class LooseJsonError(ValueError):
    """The text is no such value."""


def read_json(text: str) -> Json:
    """The value that ``text`` is; numbers, ``true`` and ``false`` as text, null as ``""``.

    Raises:
        LooseJsonError: If it is none.
    """
    if len(text) > LONGEST:
        raise LooseJsonError
    try:
        return _as_text(json.loads(text, parse_int=str, parse_float=str, parse_constant=str), 0)
    except (ValueError, RecursionError):
        return _Reader(text).whole()


def is_json(text: str) -> bool:
    """Whether ``text`` is JSON as every reader of it takes it."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def depth_after(text: str, depth: int = 0) -> int:
    """How many braces and brackets are open behind ``text``, those in quotes left out."""
    quote = ""
    skip = False
    for character in text:
        if skip:
            skip = False
        elif quote:
            skip = character == "\\"
            quote = "" if character == quote else quote
        elif character == '"':
            quote = character
        else:
            depth += (character in _OPENING) - (character in _CLOSING)
    return depth


_PART = re.compile(
    r"(?P<text>\"(?:[^\"\\\n]|\\.)*\")|//[^\n]*|/\*.*?(?:\*/|\Z)|(?P<comma>,(?=[\s]*[}\]]))"
    r"|(?P<hash>^[ \t]*#[^\n]*)",
    re.DOTALL | re.MULTILINE,
)
# A comma stands before the comments that are left out as well.
_LAST_COMMA = re.compile(r"(?P<text>\"(?:[^\"\\\n]|\\.)*\")|,(?=\s*[}\]])")


def without_comments(text: str) -> str:
    """JSON without the comments and the last commas that editors of settings allow."""
    text = _PART.sub(lambda match: match.group("text") or "", text)
    return _LAST_COMMA.sub(lambda match: match.group("text") or "", text)


def _as_text(value: object, depth: int) -> Json:
    if depth > _DEEPEST:
        raise LooseJsonError
    if isinstance(value, dict):
        return {str(key): _as_text(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_text(item, depth + 1) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


class _Reader:
    """Reads one value whose words may stand without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self._at = 0

    def whole(self) -> Json:
        if not self._text or self._text[0] not in _OPENING:
            raise LooseJsonError
        value = self._value(0)
        self._blanks()
        if self._at != len(self._text):
            raise LooseJsonError
        return value

    def _value(self, depth: int) -> Json:
        if depth > _DEEPEST:
            raise LooseJsonError
        self._blanks()
        if self._next() == "{":
            return self._mapping(depth)
        if self._next() == "[":
            return self._list(depth)
        word = self._word(",}]")
        return "" if word in ("null", "None") else _plain(word)

    def _mapping(self, depth: int) -> Json:
        self._at += 1
        found: dict[str, Json] = {}
        while not self._closes("}"):
            key = self._word(":")
            if self._next() != ":":
                raise LooseJsonError
            self._at += 1
            found[key] = self._value(depth + 1)
            self._comma("}")
        return found

    def _list(self, depth: int) -> Json:
        self._at += 1
        found: list[Json] = []
        while not self._closes("]"):
            found.append(self._value(depth + 1))
            self._comma("]")
        return found

    def _closes(self, brace: str) -> bool:
        self._blanks()
        if self._next() != brace:
            return False
        self._at += 1
        return True

    def _comma(self, brace: str) -> None:
        self._blanks()
        if self._next() == ",":
            self._at += 1
        elif self._next() != brace:
            raise LooseJsonError

    def _word(self, ends: str) -> str:
        self._blanks()
        quote = self._next()
        if quote in ("'", '"') and quote:
            end = self._text.find(quote, self._at + 1)
            if end < 0:
                raise LooseJsonError
            word = self._text[self._at + 1 : end]
            self._at = end + 1
            self._blanks()
            return word
        begin = self._at
        while self._next() and self._next() not in ends:
            self._at += 1
        word = self._text[begin : self._at].strip()
        if not word:
            raise LooseJsonError
        return word

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _blanks(self) -> None:
        while self._next().isspace():
            self._at += 1


def _plain(word: str) -> str:
    """Python's words for truth as JSON's."""
    return {"True": "true", "False": "false"}.get(word, word)
