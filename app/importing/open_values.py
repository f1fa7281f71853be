"""Variables of a script that its conditions decide on: what they are for certain, and what is open.

Nothing is executed, so every branch of a condition whose answer is not in the text may be what
happens. A value that a branch only makes longer is read with what it adds, and told of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from app.importing.secret_words import value_without_secrets

Values: TypeAlias = tuple[str, ...]
"""A text is one word, a list is several."""

_MOST_SHOWN = 4
_MOST_PROBLEMS = 200
_SHOWN_CHARACTERS = 60
# A script that goes deeper is made to, not written; its branches are read as one.
_DEEPEST = 40


@dataclass
class _Branch:
    """One branch of a condition.

    Attributes:
        holds: Whether it is what happens; None where the text does not say.
        values: What its variables are behind it.
    """

    holds: bool | None
    values: dict[str, Values | None] = field(default_factory=dict)


@dataclass
class _Condition:
    """One condition that is being read.

    Attributes:
        before: What its branches set, as it was before.
        branches: Those that were read, and the one that is.
        here: What the branch sets that is being read.
    """

    before: dict[str, Values | None] = field(default_factory=dict)
    branches: list[_Branch] = field(default_factory=list)
    here: set[str] = field(default_factory=set)


class OpenValues:
    """Follows the conditions of a script over its variables.

    Attributes:
        problems: ``code: sentence`` by the words that they are about, joined by NUL.
    """

    def __init__(
        self,
        values: dict[str, Values],
        written: Callable[[str], str],
        words_of: Callable[[str], list[str]],
    ) -> None:
        """Follow ``values``, which the script sets.

        Args:
            values: By names; changed where a condition ends.
            written: How the script writes a variable of this name.
            words_of: How its programs take a text apart.
        """
        self._values = values
        self._written = written
        self._words_of = words_of
        self._open: list[_Condition] = []
        self._too_deep = 0
        self._may_be: dict[str, tuple[Values | None, ...]] = {}
        self.problems: dict[str, str] = {}

    def enter(self, holds: bool | None) -> None:
        """A condition begins with the branch that it is about.

        Args:
            holds: Whether it does; None where the text does not say.
        """
        if len(self._open) >= _DEEPEST:
            self._too_deep += 1
            return
        self._open.append(_Condition(branches=[_Branch(holds)]))

    @property
    def holds(self) -> bool | None:
        """Whether what is read now happens; None where the text does not say."""
        branches = [condition.branches[-1].holds for condition in self._open]
        if False in branches:
            return False
        return None if None in branches or self._too_deep else True

    def assigned(self, name: str) -> None:
        """The variable is about to be set."""
        if self._open:
            condition = self._open[-1]
            condition.before.setdefault(name, self._values.get(name))
            condition.here.add(name)

    def next_branch(self, holds: bool | None) -> None:
        """Another branch begins, from what was before all of them.

        Args:
            holds: As in :meth:`enter`; True for what is done where none of them holds.
        """
        if self._open and not self._too_deep:
            self._end_branch(self._open[-1])
            self._open[-1].branches.append(_Branch(holds))

    def leave(self) -> None:
        """The condition ends; what its branches disagree about is open."""
        if self._too_deep or not self._open:
            self._too_deep = max(0, self._too_deep - 1)
            return
        self._end_branch(self._open[-1])
        condition = self._open.pop()
        for name in condition.before:
            self.assigned(name)
        possible = _possible(condition.branches)
        for name, before in condition.before.items():
            every = dict.fromkeys(branch.values.get(name, before) for branch in possible)
            if len(every) == 1:
                self._set(name, next(iter(every)))
            else:
                self._leave_open(name, tuple(every))

    def end(self) -> None:
        """The script ends, with conditions that it does not close."""
        while self._open or self._too_deep:
            self.leave()

    def of(self, name: str) -> list[str]:
        """The problems that the value of a variable has, where it is open."""
        written = self._written(name)
        is_open = self._values.get(name) == (written,) and written in self.problems
        return [self.problems[written]] if is_open else []

    def about(self, words: tuple[str, ...] | list[str]) -> list[str]:
        """The problems that ``words`` of a command have."""
        whole = "\0".join(words) if self.problems else ""
        return [problem for about, problem in self.problems.items() if about in whole]

    def _end_branch(self, condition: _Condition) -> None:
        for name in condition.here:
            condition.branches[-1].values[name] = self._values.get(name)
            self._set(name, condition.before[name])
        condition.here.clear()

    def _set(self, name: str, value: Values | None) -> None:
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value

    def _leave_open(self, name: str, may_be: tuple[Values | None, ...]) -> None:
        longer = _longer(may_be)
        if longer is not None:
            self._set(name, longer[0])
            words = [word for part in longer[1] for word in self._words_of(part)]
            added = _shown(name, (" ".join(words),))
            self._tell(
                "\0".join(words),
                f"conditional_words: {added} stands there only where a condition holds that is "
                "decided when the text runs; it is read",
            )
            return
        written = self._written(name)
        already = self._may_be.get(name, ())
        every = [v for value in may_be for v in (already if value == (written,) else (value,))]
        self._may_be[name] = told = tuple(dict.fromkeys(every))[: _MOST_SHOWN + 1]
        shown = " or ".join(_shown(name, value) for value in told[:_MOST_SHOWN])
        more = " or another" if len(told) > _MOST_SHOWN else ""
        self._tell(
            written,
            f"unresolved_variable: {written} is {shown}{more}; a condition decides that when the "
            "text runs",
        )
        self._set(name, (written,))

    def _tell(self, about: str, problem: str) -> None:
        if about and (about in self.problems or len(self.problems) < _MOST_PROBLEMS):
            self.problems[about] = problem


def _possible(branches: list[_Branch]) -> list[_Branch]:
    """The branches that may be what happens, one that changes nothing where none has to."""
    found: list[_Branch] = []
    for branch in branches:
        if branch.holds is not False:
            found.append(branch)
        if branch.holds is True:
            return found
    return [*found, _Branch(None)]


def _longer(may_be: tuple[Values | None, ...]) -> tuple[Values, Values] | None:
    """Of two values of which one goes on where the other ends: the longer, and what it adds."""
    if len(may_be) != 2 or None in may_be:
        return None
    short, long = sorted((value for value in may_be if value is not None), key=_length)
    if long[: len(short)] == short:
        return long, long[len(short) :]
    if len(short) == len(long) == 1 and short[0].strip() and long[0].startswith(short[0]):
        added = long[0][len(short[0]) :]
        return (long, (added,)) if added[:1].isspace() or short[0][-1:].isspace() else None
    return None


def _length(values: Values) -> tuple[int, int]:
    return len(values), sum(map(len, values))


def _shown(name: str, value: Values | None) -> str:
    if value is None:
        return "not set"
    text = value_without_secrets(name.rpartition(":")[2], " ".join(value))
    return f"“{text}”" if len(text) <= _SHOWN_CHARACTERS else f"“{text[: _SHOWN_CHARACTERS - 1]}…”"
