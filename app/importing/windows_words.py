"""One text as a program of Windows takes it apart into its words."""

from __future__ import annotations

import re

from app.importing.posix_tokens import json_end

DOUBLED = "doubled_quotes: quotes around {word} are doubled; they are read as single ones"
SINGLE = (
    "shell_quoting: single quotes are plain characters to cmd.exe; {word} is read as the one word "
    "that was meant, write it in double quotes"
)
CURLY = (
    "typographic: {word} stands in quotes of a word processor, which are plain characters to "
    "cmd.exe; it is read as the one word that was meant"
)
OPEN_QUOTE = (
    "shell_quoting: a quote is opened and never closed, so that all of the rest is one word; it is "
    "read as if it closes before the next flag"
)
LOST_QUOTES = (
    "log_paste: quotes around JSON are lost, so that it spans several words; it is read up to its "
    "last brace"
)
_DOUBLED = re.compile(r'(?<![^\s=])""([^"\s](?:[^"\n]*[^"\s])?)""(?=\s|$)')
_SINGLE = re.compile(r"'([^'\n]*)'(?=\s|$)")
_CURLY = re.compile('[“”„‟]([^"“”„‟\n]*)[“”„‟](?=\\s|$)|[‘’‚‛]([^‘’‚‛\n]*)[‘’‚‛](?=\\s|$)')
_CURLY_BEGINS = frozenset("“”„‟‘’‚‛")
_NEXT_FLAG = re.compile(r"\s+--?[A-Za-z]")
_PLAIN = re.compile(r'[^\s"\\{\'“”„‟‘’‚‛]+')
_BACKSLASHES = re.compile(r'(\\+)("?)')
_MEANT = _CURLY_BEGINS | {"'", "{"}
_JSON_TRIES = 64
_SHOWN_CHARACTERS = 80


def windows_words(text: str) -> tuple[list[str], list[str]]:
    r"""The words of ``text`` and the problems with its quotes.

    A quote begins and ends text with blanks, ``\"`` is a quote, ``""`` in quotes is one too.
    """
    problems: list[str] = []

    def single(match: re.Match[str]) -> str:
        problems.append(DOUBLED.format(word=match.group(1)[:_SHOWN_CHARACTERS]))
        return f'"{match.group(1)}"'

    text = _DOUBLED.sub(single, text)
    reading = _Words(text, problems)
    reading.read()
    if not reading.is_open:
        return reading.words, problems
    reading = _Words(_closed(text), [*problems, OPEN_QUOTE])
    reading.read()
    return reading.words, reading.problems


def _closed(text: str) -> str:
    """A text whose last quote is open with one more before the flag behind it, or at its end."""
    at = text.rfind('"')
    flag = _NEXT_FLAG.search(text, at)
    end = flag.start() if flag else len(text.rstrip())
    return f'{text[:end]}"{text[end:]}'


class _Words:
    def __init__(self, text: str, problems: list[str]) -> None:
        self.text = text
        self.words: list[str] = []
        self.problems = problems
        self._parts: list[str] = []
        self._is_in_word = False
        self._is_in_quotes = False
        self._at = 0
        self._json_tries = 0

    def read(self) -> None:
        """All of the text."""
        while self._at < len(self.text):
            plain = _PLAIN.match(self.text, self._at)
            if plain:
                self._add(plain.group(), len(plain.group()))
            else:
                self._step(self.text[self._at])
        self._end_word()

    @property
    def is_open(self) -> bool:
        """Whether a quote is, behind all of the text."""
        return self._is_in_quotes

    def _step(self, character: str) -> None:
        if character.isspace() and not self._is_in_quotes:
            self._end_word()
            self._at += 1
        elif character == '"':
            self._quote()
        elif character == "\\":
            self._backslashes()
        elif character in _MEANT and not self._is_in_quotes and self._begins():
            self._meant_as_one(character)
        else:
            self._add(character, 1)

    def _add(self, text: str, read: int) -> None:
        self._is_in_word = True
        self._parts.append(text)
        self._at += read

    def _end_word(self) -> None:
        if self._is_in_word:
            self.words.append("".join(self._parts))
        self._parts = []
        self._is_in_word = False

    def _quote(self) -> None:
        if self._is_in_quotes and self.text.startswith('""', self._at):
            self._add('"', 2)
            return
        self._is_in_quotes = not self._is_in_quotes
        self._add("", 1)

    def _backslashes(self) -> None:
        match = _BACKSLASHES.match(self.text, self._at)
        run, quote = match.groups() if match else ("\\", "")
        if not quote:
            self._add(run, len(run))
        elif len(run) % 2:
            self._add("\\" * (len(run) // 2) + '"', len(run) + 1)
        else:
            self._add("\\" * (len(run) // 2), len(run))

    def _begins(self) -> bool:
        return not self._is_in_word or self._parts[-1].endswith("=")

    def _meant_as_one(self, character: str) -> None:
        curly = _CURLY.match(self.text, self._at) if character in _CURLY_BEGINS else None
        single = _SINGLE.match(self.text, self._at) if character == "'" else None
        self._json_tries += character == "{"
        may_be_json = character == "{" and self._json_tries <= _JSON_TRIES
        end = json_end(self.text, self._at) if may_be_json else -1
        if curly:
            self.problems.append(CURLY.format(word=curly.group()[:_SHOWN_CHARACTERS]))
            self._add(curly.group(1) or curly.group(2) or "", len(curly.group()))
        elif single:
            self.problems.append(SINGLE.format(word=single.group()[:_SHOWN_CHARACTERS]))
            self._add(single.group(1), len(single.group()))
        elif end > 0:
            self.problems.append(LOST_QUOTES)
            self._add(self.text[self._at : end], end - self._at)
        else:
            self._add(character, 1)
