"""Settings that hold free text, or a list of free words. Strict like the other domains.

Knows text; must not know widgets, the engine or other settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.gbnf import TextFault
from engine_bridge.typed_text import quoted

# A line feed and a tab are text; of the other control characters a terminal makes keys.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# How a word shows what would end it or cannot be seen.
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", " ": "\\s", ",": "\\,"}
_LETTERS = {"\\": "\\", "n": "\n", "t": "\t", "s": " ", ",": ","}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class TextDomain:
    """A text of some lines, or the empty string for none.

    Attributes:
        most_characters: Length of the longest text allowed.
        what: What the text is, in words: ``a grammar in GBNF``.
        example: A text that shows how one is written.
        fault_in: Finds what makes a text something else, and where; None where nothing does.
    """

    most_characters: int
    what: str
    example: str
    fault_in: Callable[[str], TextFault | None]

    def check(self, value: object) -> str:
        """Return ``value`` if it is a text of its kind, without control characters.

        Raises:
            DomainError: If it is not, with the place where there is one.
        """
        if not isinstance(value, str):
            raise DomainError(f"{quoted(value)} is not {self.what}.")
        if len(value) > self.most_characters:
            raise DomainError(
                f"{len(value):,} characters are more than the {self.most_characters:,} allowed."
            )
        found = _CONTROL.search(value) or _SURROGATE.search(value)
        if found is not None:
            line = value.count("\n", 0, found.start()) + 1
            raise DomainError(
                f"Line {line} holds {quoted(found.group())}, which is no character of a text."
            )
        fault = self.fault_in(value)
        if fault is not None:
            raise DomainError(str(fault))
        return value

    def parse(self, text: str) -> str:
        """The text itself, with line feeds only between its lines.

        Raises:
            DomainError: As ``check`` does.
        """
        return self.check(text.replace("\r\n", "\n").replace("\r", "\n"))

    def format(self, value: object) -> str:
        """The value as ``parse`` reads it."""
        return str(value)

    def describe(self) -> str:
        """What may be set, in words."""
        return f"{self.what}, at most {self.most_characters:,} characters"


@dataclass(frozen=True)
class WordsDomain:
    r"""Words in the order they were given, each of a certain form and at most once.

    As text they stand beside each other with a space or a comma between; in a word ``\n`` is a
    line feed, ``\t`` a tab, ``\s`` a space, ``\,`` a comma and ``\\`` a backslash.

    Attributes:
        form: Regular expression that a whole word matches.
        what: What a word is, in words: ``a token and its bias such as 15043+1``.
        most: Words that the list may have.
    """

    form: str
    what: str
    most: int = 64

    def check(self, value: object) -> tuple[str, ...]:
        """Return ``value`` as a tuple if every word has the form.

        Raises:
            DomainError: If one has not, stands twice, or there are too many.
        """
        if isinstance(value, str) or not isinstance(value, (tuple, list)):
            raise DomainError(f"{quoted(value)} is not a list of words, each {self.what}.")
        words = tuple(value)
        for word in words:
            is_text = isinstance(word, str) and word != "none"
            if not is_text or re.fullmatch(self.form, word, re.DOTALL) is None:
                raise DomainError(f"{quoted(word)} is not {self.what}.")
        if len(set(words)) != len(words):
            twice = next(word for word in words if words.count(word) > 1)
            raise DomainError(f"{quoted(twice)} stands twice.")
        if len(words) > self.most:
            raise DomainError(f"{len(words):,} words are more than the {self.most:,} allowed.")
        return words

    def parse(self, text: str) -> tuple[str, ...]:
        """Read words with spaces or commas between; ``none`` or nothing is the empty list.

        Raises:
            DomainError: If a word is not allowed.
        """
        # An escaped comma or backslash must not be taken apart.
        found = re.findall(r"(?:\\.|[^\\\s,])+|\\", text, re.DOTALL)
        if found == ["none"]:
            return ()
        return self.check(tuple(_ESCAPED.sub(_plain, word) for word in found))

    def format(self, value: object) -> str:
        """The value as ``parse`` reads it."""
        if not isinstance(value, tuple) or not value:
            return "none"
        return " ".join("".join(map(_escaped, word)) for word in value)

    def describe(self) -> str:
        """What may be set, in words."""
        return f"none, or words with spaces between, each {self.what}"


def _escaped(letter: str) -> str:
    return _ESCAPES.get(letter) or (f"\\{letter}" if letter.isspace() else letter)


def _plain(found: re.Match[str]) -> str:
    return _LETTERS.get(found[1], found[1])
