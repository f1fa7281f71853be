"""Assignments of a shell's text that a condition decides on: what is open behind it.

Knows ``if``, ``case`` and what stands behind ``&&`` and ``||``; nothing is executed, so both sides
of a condition may be what happens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile

from app.importing.name_sets import names
from app.importing.posix_variables import Variables
from app.importing.secret_words import value_without_secrets

_OPENING = ("if", "case")
_NEXT = ("else", "elif")
_CLOSING = ("fi", "esac")
# Commands that people ask a question with, before && or ||.
_ASKING = names("[ [[ test grep command which type ! lspci nvidia-smi uname true false")
_MOST_SHOWN = 4
_SHOWN_CHARACTERS = 60
_MOST_TOLD = 20

_Value = str | tuple[str, ...] | None
"""Of a variable, of an array, of none."""


@dataclass
class _Condition:
    """One condition that is being read.

    Attributes:
        before: What its branches set, as it was before.
        values: What each variable may be, by branches that set it.
        here: What the branch sets that is being read.
        branches: How many were read.
        has_else: Whether one of the branches is taken for certain.
    """

    before: dict[str, _Value] = field(default_factory=dict)
    values: dict[str, list[_Value]] = field(default_factory=dict)
    here: set[str] = field(default_factory=set)
    branches: int = 0
    has_else: bool = False


class Branches:
    """Follows the conditions of a text; a variable that one decides on is open behind it.

    Attributes:
        problems: ``code: sentence`` by the variable that is open, as it stands in words.
        left_out: The same by the name of a variable whose words are known but for some.
    """

    def __init__(self, variables: Variables) -> None:
        """Follow what is set in ``variables``."""
        self._variables = variables
        self._open: list[_Condition] = []
        self._is_asked = False
        self._may_be: dict[str, list[_Value]] = {}
        self.problems: dict[str, str] = {}
        self.left_out: dict[str, list[str]] = {}

    def keyword(self, word: str) -> None:
        """A word of the shell's grammar that stands before a command."""
        if word in _OPENING:
            self.enter()
        elif word in _NEXT:
            self.next_branch(is_else=word == "else")
        elif word in _CLOSING:
            self.leave()

    def begin_command(self) -> None:
        """A command begins, which the one before it may keep from running."""
        if self._is_asked:
            self.enter()

    def end_command(self, operator: str, *words: str) -> None:
        """A command ends.

        Args:
            operator: What stands behind it.
            words: Its first word, with the words of the grammar and without them.
        """
        is_asked = self._is_asked
        if is_asked:
            self.leave()
        if operator == ";;":
            self.next_branch()
        is_question = is_asked or operator == "||" or not _ASKING.isdisjoint(words)
        self._is_asked = operator in ("&&", "||") and is_question

    def enter(self) -> None:
        """A condition begins."""
        self._open.append(_Condition())

    def assigned(self, variables: Iterable[str]) -> None:
        """``variables`` are about to be set."""
        for name in variables if self._open else ():
            condition = self._open[-1]
            condition.before.setdefault(name, self._get(name))
            condition.here.add(name)

    def next_branch(self, *, is_else: bool = False) -> None:
        """Another branch of the condition begins, from what was before all of them."""
        if self._open:
            self._end_branch(self._open[-1])
            self._open[-1].has_else |= is_else

    def leave(self) -> None:
        """The condition ends; what its branches disagree about is open."""
        if not self._open:
            return
        self._end_branch(self._open[-1])
        condition = self._open.pop()
        self.assigned(condition.before)
        for name, values in condition.values.items():
            is_certain = condition.has_else and len(values) == condition.branches
            may_be = dict.fromkeys(values if is_certain else [condition.before[name], *values])
            if len(may_be) == 1:
                self._set(name, values[0])
            else:
                self._leave_open(name, list(may_be))

    def end(self) -> None:
        """The text ends, with conditions that it does not close."""
        while self._open:
            self.leave()

    def _end_branch(self, condition: _Condition) -> None:
        condition.branches += 1
        for name in condition.here:
            condition.values.setdefault(name, []).append(self._get(name))
            self._set(name, condition.before[name])
        condition.here.clear()

    def loop(self, name: str, values: list[str]) -> None:
        """A variable that a loop sets to each of ``values`` in turn."""
        self.assigned([name])
        if len(values) == 1 and not {"*", "?"} & set(values[0]):
            self._set(name, values[0])
        else:
            self._tell_open(name, list(values), "the loop sets it to each of them")

    def _get(self, name: str) -> _Value:
        array = self._variables.arrays.get(name)
        return self._variables.scalars.get(name) if array is None else array

    def _set(self, name: str, value: _Value) -> None:
        self._variables.scalars.pop(name, None)
        self._variables.arrays.pop(name, None)
        if isinstance(value, tuple):
            self._variables.set_array(name, value)
        elif value is not None:
            self._variables.scalars[name] = value

    def _leave_open(self, name: str, may_be: list[_Value]) -> None:
        words = [_flags_of(value) for value in may_be]
        if all(each is not None for each in words):
            self._leave_out(name, [each for each in words if each is not None], may_be)
        else:
            self._tell_open(name, may_be, "a condition decides that when the text runs")

    def _leave_out(self, name: str, words: list[list[str]], may_be: list[_Value]) -> None:
        """Of several rows of flags what all of them begin with; the rest is told."""
        common = _common(words)
        rests = dict.fromkeys(" ".join(row[len(common) :]) for row in words)
        told = " or ".join(_shown(name, rest) for rest in list(rests)[:_MOST_SHOWN] if rest)
        said = self.left_out.setdefault(name, [])
        if len(said) < _MOST_TOLD:
            said.append(
                f"unresolved_variable: a condition decides whether {_written(name)} has {told}; "
                "it is left out"
            )
        is_array = any(isinstance(value, tuple) for value in may_be)
        self._set(name, tuple(common) if is_array else " ".join(common))

    def _tell_open(self, name: str, may_be: list[_Value], why: str) -> None:
        written = f"${{{name}}}"
        already = self._may_be.get(name, [])
        every = [v for value in may_be for v in (already if value == written else [value])]
        self._may_be[name] = every = list(dict.fromkeys(every))[: _MOST_SHOWN + 1]
        told = " or ".join(_shown(name, value) for value in every[:_MOST_SHOWN])
        more = " or another" if len(every) > _MOST_SHOWN else ""
        self.problems[written] = f"unresolved_variable: {written} is {told}{more}; {why}"
        self._set(name, written)


def _flags_of(value: _Value) -> list[str] | None:
    """The words of a value that is a row of flags, or of none; None for any other value."""
    words = value.split() if isinstance(value, str) else list(value or ())
    return words if not words or words[0].startswith("-") or isinstance(value, tuple) else None


def _common(rows: list[list[str]]) -> list[str]:
    """What all rows begin with, up to a flag: none is parted from its value."""
    same = list(takewhile(lambda words: len(set(words)) == 1, zip(*rows, strict=False)))
    at = len(same)
    while at and any(not _begins_flag(row[at]) for row in rows if len(row) > at):
        at -= 1
    return [words[0] for words in same[:at]]


def _begins_flag(word: str) -> bool:
    return word.startswith("-") and word[1:2] not in "0123456789"


def _written(name: str) -> str:
    return name if name.isidentifier() else f"${name}"


def _shown(name: str, value: _Value) -> str:
    if value is None:
        return "not set"
    text = value_without_secrets(name, " ".join(value) if isinstance(value, tuple) else value)
    return f"“{text}”" if len(text) <= _SHOWN_CHARACTERS else f"“{text[: _SHOWN_CHARACTERS - 1]}…”"
