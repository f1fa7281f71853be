"""The grammar of a text for ``cmd.exe``: commands, blocks, conditions and loops.

Nothing is put in for variables, nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto


class What(Enum):
    """What an event is."""

    COMMAND = auto()
    CONDITION = auto()
    LOOP = auto()
    OTHERWISE = auto()
    ELSE = auto()
    LEAVE = auto()
    READ = auto()


@dataclass(frozen=True, slots=True)
class Event:
    """A piece of the text.

    Attributes:
        what: A ``COMMAND``; a ``CONDITION`` or ``LOOP`` that a body follows; ``OTHERWISE``, behind
            ``||``; the ``ELSE`` of a condition; ``LEAVE``, where the last that was entered ends;
            ``READ``, where cmd.exe has read enough to begin.
        text: Of a command or a condition, without marks ``^`` and redirections; the name of a
            loop's variable.
    """

    what: What
    text: str = ""


_IF = re.compile(r"if(?=[\s/(\"%!])\s*", re.IGNORECASE)
_SIDE = r"(?:\"[^\"\n]*\"|[^\s=()\"]+)"
_QUESTION = re.compile(
    rf"(?:/i\s+)?(?:not\s+)?(?:/i\s+)?(?:(?:exist|defined|errorlevel|cmdextversion)\s+{_SIDE}"
    rf"|{_SIDE}?\s*==\s*{_SIDE}?|{_SIDE}\s+(?:equ|neq|lss|leq|gtr|geq)\s+{_SIDE})",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"for\s+(?:/[a-z]\s+(?:\"[^\"\n]*\"\s+|[^\s(%]+\s+)?)?%{1,2}([A-Za-z])\s+in\s*"
    r"\((?:\"[^\"\n]*\"|'[^'\n]*'|[^)\"'\n])*\)\s*do(?=[\s(@])",
    re.IGNORECASE,
)
_ELSE = re.compile(r"\s*else(?=[\s(]|$)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"<[A-Za-z_][\w .:/|-]{0,60}>(?=[\s\"'./:]|$)")
_TARGET = re.compile(r'>?&?\s*(?:"[^"]*"|[^\s&|<>()]+)')
SHIELD = "\u2060"
"""Stands where a ``^`` behind a ``%`` kept a word from being a variable."""
_PLAIN, _BLOCK, _LINE = "plain", "block", "line"


class Grammar:
    """Takes lines apart, one after the other."""

    def __init__(self) -> None:
        """Begin outside of every block."""
        self._frames: list[str] = []
        self._line = ""
        self._at = 0

    @property
    def is_free(self) -> bool:
        """Whether the next line begins outside of every block."""
        return not self._frames

    def read(self, line: str) -> Iterator[Event]:
        """The events of one line, lines that go on joined to it."""
        self._line, self._at = line, 0
        while self._at < len(self._line):
            yield from self._begin()
            text = self._command()
            if text:
                yield Event(What.COMMAND, text)
            yield from self._operator()
        yield from self._end_line()

    def end(self) -> Iterator[Event]:
        """The events where the text ends, with blocks that it does not close."""
        while self._frames:
            yield from self._pop()

    # --- where a command begins -----------------------------------------------------------------

    def _begin(self) -> Iterator[Event]:
        while True:
            self._skip_blanks()
            opening = self._line.startswith("(", self._at)
            question = _IF.match(self._line, self._at)
            loop = _FOR.match(self._line, self._at)
            if opening:
                self._frames.append(_PLAIN)
                self._at += 1
            elif loop:
                self._at = loop.end()
                yield Event(What.LOOP, loop.group(1))
                self._begin_body()
            elif question:
                asked = _QUESTION.match(self._line, question.end())
                self._at = asked.end() if asked else question.end()
                yield Event(What.CONDITION, asked.group() if asked else "")
                self._begin_body()
            else:
                return

    def _begin_body(self) -> None:
        self._skip_blanks()
        is_block = self._line.startswith("(", self._at)
        self._at += is_block
        self._frames.append(_BLOCK if is_block else _LINE)

    def _skip_blanks(self) -> None:
        while self._line[self._at : self._at + 1] in {" ", "\t", "@", ",", ";"}:
            self._at += 1

    # --- a command ------------------------------------------------------------------------------

    def _command(self) -> str:
        line, parts, depth, is_quoted = self._line, list[str](), 0, False
        while self._at < len(line):
            character = line[self._at]
            if character == '"':
                is_quoted = not is_quoted
            if is_quoted or character not in "^&|<>()":
                parts.append(character)
                self._at += 1
            elif character == "^":
                parts += [SHIELD] if parts and parts[-1] == "%" else []
                parts.append(line[self._at + 1 : self._at + 2])
                self._at += 2
            elif character in "<>":
                self._redirect(parts)
            elif character in "&|" or (character == ")" and self._is_in_block() and not depth):
                break
            else:
                depth += 1 if character == "(" else -1
                depth = max(0, depth)
                parts.append(character)
                self._at += 1
        return "".join(parts).strip()

    def _is_in_block(self) -> bool:
        return any(frame != _LINE for frame in self._frames)

    def _redirect(self, parts: list[str]) -> None:
        """Leaves a redirection out, or keeps a placeholder in angle brackets."""
        placeholder = _PLACEHOLDER.match(self._line, self._at)
        if placeholder:
            word = placeholder.group()
            parts.append(f'"{word}"' if " " in word else word)
            self._at = placeholder.end()
            return
        if parts and parts[-1].isdigit() and (len(parts) < 2 or parts[-2].isspace()):
            parts.pop()
        target = _TARGET.match(self._line, self._at + 1)
        self._at = target.end() if target else self._at + 1

    # --- where it ends --------------------------------------------------------------------------

    def _operator(self) -> Iterator[Event]:
        line = self._line
        if line.startswith("||", self._at):
            self._at += 2
            yield Event(What.OTHERWISE)
            self._begin_body()
        elif line.startswith(("&&", "&", "|"), self._at):
            self._at += 2 if line.startswith("&&", self._at) else 1
        elif line.startswith(")", self._at):
            self._at += 1
            yield from self._close()

    def _close(self) -> Iterator[Event]:
        while self._frames and self._frames[-1] == _LINE:
            yield from self._pop()
        otherwise = _ELSE.match(self._line, self._at)
        if otherwise and self._frames and self._frames[-1] == _BLOCK:
            self._frames.pop()
            self._at = otherwise.end()
            yield Event(What.ELSE)
            self._begin_body()
        else:
            yield from self._pop()

    def _end_line(self) -> Iterator[Event]:
        while self._frames and self._frames[-1] == _LINE:
            yield from self._pop()
        if not self._frames:
            yield Event(What.READ)

    def _pop(self) -> Iterator[Event]:
        frame = self._frames.pop() if self._frames else _PLAIN
        if frame != _PLAIN:
            yield Event(What.LEAVE)
