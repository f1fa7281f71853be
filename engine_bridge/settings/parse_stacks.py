"""Grammars that can be read in ever more ways the longer a text gets, which llama.cpp drowns in.

llama.cpp follows every way to read a text at once, one stack of places each, and asks each of them
about each token: a thousand stacks take seconds a token, and some grammars double them with every
character. So a grammar is followed here for some characters as llama.cpp follows it
(``llama_grammar_advance_stack`` in src/llama-grammar.cpp) and refused where the stacks pile up. The
search is short and not complete: what it misses, the engine's own limit ends.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from engine_bridge.settings.left_recursion import Letters, Rules, Symbol

# More ways than that, and than there are alternatives in the grammar, come of no ordinary one.
_MOST_STACKS = 1_000
# How far texts are followed, and how many; the stacks that are moved on for it all together.
_TEXT_LETTERS, _TEXTS = 96, 6
_MOST_MOVES = 5_000
# Letters that a set of all but some is tried with.
_USUAL = tuple(map(ord, 'a 0"\\\n'))
_MOST_TRIED = 64

# Places in the flat grammar, the one to be read next being the last.
_Stack: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class _Flat:
    """A grammar as one row of places, as llama.cpp keeps it.

    Attributes:
        places: The symbol of each place, ``None`` behind the last of an alternative.
        owners: The rule of each place.
        starts: Where the alternatives of each rule begin.
    """

    places: list[Symbol]
    owners: list[str | int]
    starts: Mapping[str | int, list[int]]

    @classmethod
    def of(cls, rules: Rules) -> _Flat:
        """Lay ``rules`` out."""
        places: list[Symbol] = []
        owners: list[str | int] = []
        starts: dict[str | int, list[int]] = {}
        for name, rows in rules.items():
            starts[name] = []
            for row in rows:
                starts[name].append(len(places))
                places += [*row, None]
                owners += [name] * (len(row) + 1)
        return cls(places, owners, starts)

    def letters_of(self, stack: _Stack) -> Letters | None:
        """What may come next; None at the end of the text."""
        symbol = self.places[stack[-1]] if stack else None
        return symbol if isinstance(symbol, Letters) else None


class _Drowned(Exception):  # noqa: N818 - no error of anybody
    """Too many stacks.

    Attributes:
        stack: One of them.
    """

    def __init__(self, stack: _Stack) -> None:
        super().__init__()
        self.stack = stack


def piling_rule(rules: Rules) -> str | int | None:
    """A rule by which the ways to read a text pile up, None where none is found.

    Args:
        rules: A grammar without left recursion, with a rule ``root``.
    """
    flat = _Flat.of(rules)
    most = max(_MOST_STACKS, sum(map(len, flat.starts.values())))
    moves = 0
    try:
        begin = _read_on(flat, ((start,) for start in flat.starts["root"]), most)
        for number in range(_TEXTS):
            draw = random.Random(number)
            stacks = begin
            for place in range(_TEXT_LETTERS):
                letter = _next_letter(flat, stacks, draw if number else None, place)
                if letter is None or moves > _MOST_MOVES:
                    break
                moved = [
                    (*stack[:-1], stack[-1] + 1)
                    for stack in stacks
                    if (asked := flat.letters_of(stack)) is not None and asked.hold(letter)
                ]
                moves += len(moved)
                stacks = _read_on(flat, moved, most)
    except _Drowned as found:
        owners = Counter(flat.owners[place] for place in found.stack)
        return owners.most_common(1)[0][0]
    return None


def _read_on(flat: _Flat, stacks: Iterable[_Stack], most: int) -> set[_Stack]:
    """Every stack that stands at letters after these, ends of alternatives taken away.

    Raises:
        _Drowned: If there are more than ``most``.
    """
    todo = list(stacks)
    seen: set[_Stack] = set()
    found: set[_Stack] = set()
    while todo:
        stack = todo.pop()
        while stack and flat.places[stack[-1]] is None:
            stack = stack[:-1]
        if stack in seen:
            continue
        seen.add(stack)
        symbol = flat.places[stack[-1]] if stack else None
        if not stack or isinstance(symbol, Letters):
            found.add(stack)
        elif symbol is not None:
            behind = stack[-1] + 1
            rest = stack[:-1] if flat.places[behind] is None else (*stack[:-1], behind)
            todo += [(*rest, start) for start in flat.starts[symbol]]
        if len(found) > most or len(seen) > 8 * most:
            raise _Drowned(stack)
    return found


def _next_letter(
    flat: _Flat, stacks: set[_Stack], draw: random.Random | None, place: int
) -> int | None:
    """The letter to go on with; None at the end.

    Without ``draw`` the one that most stacks allow, else one of those at random: every other time
    among the most allowed, so that texts go deep as well as far.
    """
    # By place first, since hashing letters costs more than all else here.
    places = Counter(stack[-1] for stack in stacks if stack)
    tops: Counter[Letters] = Counter()
    for at, number in places.items():
        symbol = flat.places[at]
        if isinstance(symbol, Letters):
            tops[symbol] += number
    tried: dict[int, None] = dict.fromkeys(_USUAL)
    for top in tops:
        for low, high in top.ranges:
            tried.setdefault(low)
            tried.setdefault(high)
        if len(tried) > _MOST_TRIED:
            break
    counted = {
        letter: count
        for letter in tried
        if (count := sum(number for top, number in tops.items() if top.hold(letter)))
    }
    if not counted:
        return None
    most = max(counted.values())
    if draw is None:
        return next(letter for letter, count in counted.items() if count == most)
    if place % 2:
        return draw.choice(list(counted))
    return draw.choice([letter for letter, count in counted.items() if count == most])
