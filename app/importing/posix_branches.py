"""Assignments of a shell's text that a condition decides on: what is open behind it.

Knows ``if``, ``case`` and what stands behind ``&&`` and ``||``; nothing is executed, so both sides
of a condition may be what happens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

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

    before: dict[str, str | None] = field(default_factory=dict)
    values: dict[str, list[str | None]] = field(default_factory=dict)
    here: set[str] = field(default_factory=set)
    branches: int = 0
    has_else: bool = False


class Branches:
    """Follows the conditions of a text; a variable that one decides on is open behind it.

    Attributes:
        problems: ``code: sentence`` by the variable that is open, as it stands in words.
    """

    def __init__(self, variables: Variables) -> None:
        """Follow what is set in ``variables``."""
        self._variables = variables
        self._open: list[_Condition] = []
        self._is_asked = False
        self._may_be: dict[str, list[str | None]] = {}
        self.problems: dict[str, str] = {}

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
            condition.before.setdefault(name, self._variables.scalars.get(name))
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
            condition.values.setdefault(name, []).append(self._variables.scalars.get(name))
            self._set(name, condition.before[name])
        condition.here.clear()

    def _set(self, name: str, value: str | None) -> None:
        if value is None:
            self._variables.scalars.pop(name, None)
        else:
            self._variables.scalars[name] = value

    def _leave_open(self, name: str, may_be: list[str | None]) -> None:
        written = f"${{{name}}}"
        already = self._may_be.get(name, [])
        every = [v for value in may_be for v in (already if value == written else [value])]
        self._may_be[name] = every = list(dict.fromkeys(every))[: _MOST_SHOWN + 1]
        told = " or ".join(_shown(name, value) for value in every[:_MOST_SHOWN])
        more = " or another" if len(every) > _MOST_SHOWN else ""
        self.problems[written] = (
            f"unresolved_variable: {written} is {told}{more}; a condition decides that when the "
            "text runs"
        )
        self._variables.scalars[name] = written


def _shown(name: str, value: str | None) -> str:
    if value is None:
        return "not set"
    text = value_without_secrets(name, value)
    return f"“{text}”" if len(text) <= _SHOWN_CHARACTERS else f"“{text[: _SHOWN_CHARACTERS - 1]}…”"
