"""A regular expression of a JSON schema as a part of a grammar in GBNF.

Takes what a grammar can say: texts, classes, groups, alternatives and repetitions, from the first
character to the last. What a JSON text cannot hold unescaped is escaped, or left out of classes.
"""

from __future__ import annotations

import re

# Backslash and letter stand for these characters, as they are written in a class of a grammar.
_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": " "}
_SAME_IN_BOTH = frozenset("tnr")
_HEX_DIGITS = {"x": 2, "u": 4}
# What a JSON text holds only behind a backslash.
NEVER_BARE = r'"\\\x7F\x00-\x1F'
_REPETITION = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
MOST_DEEP = 60


class PatternError(ValueError):
    """A pattern that is none, or that no grammar can say; the message says why."""


def grammar_of(pattern: str) -> str:
    """What stands between the quotes of a JSON text that matches ``pattern``, in GBNF.

    Raises:
        PatternError: If there is no such grammar.
    """
    if len(pattern) < 2 or pattern[0] != "^" or pattern[-1] != "$":
        raise PatternError("it must begin with '^' and end with '$'")
    reader = _Reader(pattern[1:-1])
    made = reader.alternatives()
    if not reader.is_done():
        raise PatternError("it closes a bracket that is not open")
    return f"({made})"


def letter_in_class(letter: str) -> str:
    """``letter`` as it is written in a class of a grammar."""
    return f"\\{letter}" if letter in '[]\\-"' else letter if letter != "^" else r"\x5E"


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def is_done(self) -> bool:
        return self._at >= len(self._text)

    def alternatives(self) -> str:
        rows = [self._sequence()]
        while self._here() == "|":
            self._at += 1
            rows.append(self._sequence())
        return " | ".join(rows)

    def _sequence(self) -> str:
        parts: list[str] = []
        while (letter := self._here()) and letter not in "|)":
            if letter in "*+?{":
                parts[-1:] = [self._repeated(parts)]
            else:
                parts.append(self._part(letter))
        return " ".join(parts)

    def _part(self, letter: str) -> str:
        self._at += 1
        if letter == "(":
            return self._group()
        if letter == "[":
            return self._class()
        if letter == ".":
            return f"[^{NEVER_BARE}]"
        if letter == "\\":
            return self._escape()
        if letter in "^$]}":
            raise PatternError(f"{letter!r} stands inside of it")
        return _literal(letter)

    def _group(self) -> str:
        if self._here() == "?":
            if not self._text.startswith("?:", self._at):
                raise PatternError("a grammar has no groups that begin with '(?'")
            self._at += 2
        self._depth += 1
        if self._depth > MOST_DEEP:
            raise PatternError(f"more than {MOST_DEEP} brackets are open")
        made = self.alternatives()
        if self._here() != ")":
            raise PatternError("a bracket is not closed")
        self._at += 1
        self._depth -= 1
        return f"({made})"

    def _repeated(self, parts: list[str]) -> str:
        if not parts or parts[-1][-1] in "*+?}":
            raise PatternError("nothing stands before a repetition")
        sign = self._here()
        if sign != "{":
            self._at += 1
            return parts[-1] + sign
        found = _REPETITION.match(self._text, self._at)
        if found is None:
            raise PatternError("a repetition is written {3}, {3,} or {3,5}")
        self._at = found.end()
        return parts[-1] + found[0]

    def _escape(self) -> str:
        letter = self._taken()
        if letter in _CLASSES:
            return f"[{_CLASSES[letter]}]"
        if letter in _SAME_IN_BOTH:
            return _literal({"t": "\t", "n": "\n", "r": "\r"}[letter])
        if letter in _HEX_DIGITS:
            return _literal(chr(int(self._hex(letter), 16)))
        if letter.isalnum():
            raise PatternError(f"a grammar has nothing like '\\{letter}'")
        return _literal(letter)

    def _class(self) -> str:
        is_not = self._here() == "^"
        self._at += is_not
        made = NEVER_BARE if is_not else ""
        while self._here() != "]":
            letter = self._taken()
            is_range = letter == "-" and made and self._here() not in ("", "]")
            made += "-" if is_range else self._class_letter(letter)
        self._at += 1
        if not made:
            raise PatternError("a class is empty")
        return f"[{'^' if is_not else ''}{made}]"

    def _class_letter(self, letter: str) -> str:
        if letter != "\\":
            return letter_in_class(letter)
        escaped = self._taken()
        if escaped in _CLASSES:
            return _CLASSES[escaped]
        if escaped in _SAME_IN_BOTH:
            return f"\\{escaped}"
        if escaped in _HEX_DIGITS:
            return f"\\{escaped}{self._hex(escaped)}"
        if escaped.isalnum():
            raise PatternError(f"a grammar has nothing like '\\{escaped}'")
        return letter_in_class(escaped)

    def _hex(self, kind: str) -> str:
        digits = self._text[self._at : self._at + _HEX_DIGITS[kind]]
        if re.fullmatch(rf"[0-9A-Fa-f]{{{_HEX_DIGITS[kind]}}}", digits) is None:
            raise PatternError(f"hexadecimal digits should follow '\\{kind}'")
        self._at += len(digits)
        return digits

    def _here(self) -> str:
        return self._text[self._at : self._at + 1]

    def _taken(self) -> str:
        letter = self._here()
        if not letter:
            raise PatternError("it ends too early")
        self._at += 1
        return letter


def _literal(letter: str) -> str:
    """One character of a JSON text; what JSON escapes is escaped."""
    code = ord(letter)
    if letter in '"\\':
        return f'"\\\\\\{letter}"'
    if code < 32 or code == 127:
        return f'"\\\\u{code:04x}"'
    return f'"{letter}"'
