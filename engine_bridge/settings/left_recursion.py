"""Rules of a grammar that begin with themselves, which llama.cpp cannot follow.

llama.cpp looks for them too (``llama_grammar_detect_left_recursion``), but takes a rule for never
empty that is only empty by way of another: it then follows some grammars for ever. And its search
walks every path of first symbols, of which there may be more than it ever ends with.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Letters:
    """One character or token to be read.

    Attributes:
        ranges: Code points from and to, of which one must come; tokens are numbers below 0.
        is_all_but: Whether none of them must come, but any other.
    """

    ranges: tuple[tuple[int, int], ...]
    is_all_but: bool = False

    def hold(self, letter: int) -> bool:
        """Whether ``letter`` may stand here."""
        return any(low <= letter <= high for low, high in self.ranges) is not self.is_all_but


# The name of a rule, the number of one made for a bracket or a repetition, letters, or None for
# the end of an alternative where one is written out.
Symbol = str | int | Letters | None
# Alternatives of each rule, each the symbols in a row.
Rules = dict[str | int, list[list[Symbol]]]
_Edges = Mapping[str | int, list[tuple[str | int, bool]]]
_MOST_PATHS = 1_000_000


def left_fault(rules: Rules) -> tuple[str, str] | None:
    """A rule that cannot be followed, and why; None where all can."""
    plainly_empty = {name for name, rows in rules.items() if not all(rows)}
    seen_by_llama_cpp = _first_symbols(rules, plainly_empty.__contains__)
    loops = _loops(seen_by_llama_cpp)
    if not loops:
        name = _branching(seen_by_llama_cpp)
        if name is not None:
            return name, "the rules from here on branch too often for llama.cpp"
        # What comes round with nothing behind it is noticed; behind anything else it piles up.
        edges = _first_symbols(rules, _empty(rules).__contains__)
        loops = [
            loop
            for loop in _loops(edges)
            if any(to in loop and is_followed for name in loop for to, is_followed in edges[name])
        ]
    for loop in loops:
        name = next((name for name in rules if name in loop and isinstance(name, str)), "root")
        return name, f"the rule {name!r} can begin with itself, which llama.cpp cannot follow"
    return None


def _empty(rules: Rules) -> set[str | int]:
    """Rules that may stand for nothing."""
    users: dict[Symbol, set[str | int]] = {}
    for name, rows in rules.items():
        for symbol in itertools.chain(*rows):
            if not isinstance(symbol, Letters):  # which are never empty
                users.setdefault(symbol, set()).add(name)
    empty: set[Symbol] = set()
    todo = list(rules)
    while todo:
        name = todo.pop()
        if name in empty or not any(all(symbol in empty for symbol in row) for row in rules[name]):
            continue
        empty.add(name)
        todo += users.get(name, ())
    return {name for name in rules if name in empty}


def _first_symbols(rules: Rules, is_empty: Callable[[str | int], bool]) -> _Edges:
    """What each rule may begin with, and whether anything stands behind it there."""

    def of(rows: list[list[Symbol]]) -> Iterator[tuple[str | int, bool]]:
        for row in rows:
            for place, symbol in enumerate(row, 1):
                if symbol is None or isinstance(symbol, Letters):
                    break
                yield symbol, place < len(row)
                if not is_empty(symbol):
                    break

    return {name: list(of(rows)) for name, rows in rules.items()}


def _loops(edges: _Edges) -> list[set[str | int]]:
    """Sets of rules each of which leads to all others of its set (Tarjan's algorithm)."""
    found: list[set[str | int]] = []
    number: dict[str | int, int] = {}
    lowest: dict[str | int, int] = {}
    stack: list[str | int] = []
    on_stack: set[str | int] = set()
    for start in edges:
        walk = [] if start in number else [(start, iter(edges[start]))]
        while walk:
            rule, ahead = walk[-1]
            if rule not in number:
                number[rule] = lowest[rule] = len(number)
                stack.append(rule)
                on_stack.add(rule)
            following = next((to for to, _ in ahead if to not in number or to in on_stack), None)
            if following is not None and following not in number:
                walk.append((following, iter(edges[following])))
            elif following is not None:
                lowest[rule] = min(lowest[rule], number[following])
            else:
                walk.pop()
                if walk:
                    lowest[walk[-1][0]] = min(lowest[walk[-1][0]], lowest[rule])
                if lowest[rule] == number[rule]:
                    found.append(_cut(stack, on_stack, rule))
    return [one for one in found if len(one) > 1 or _leads_to_itself(edges, one)]


def _cut(stack: list[str | int], on_stack: set[str | int], rule: str | int) -> set[str | int]:
    """Take off ``stack`` what stands from ``rule`` on."""
    loop: set[str | int] = set()
    while rule not in loop:
        loop.add(stack.pop())
    on_stack -= loop
    return loop


def _leads_to_itself(edges: _Edges, loop: set[str | int]) -> bool:
    return any(to in loop for name in loop for to, _ in edges[name])


def _branching(edges: _Edges) -> str | None:
    """A rule from which too many paths of first symbols lead on; there are no loops."""
    paths: dict[str | int, int] = {}
    for start in edges:
        todo = [] if start in paths else [(start, iter(edges[start]))]
        while todo:
            rule, ahead = todo[-1]
            missing = next((to for to, _ in ahead if to not in paths), None)
            if missing is not None:
                todo.append((missing, iter(edges[missing])))
                continue
            todo.pop()
            paths[rule] = 1 + sum(paths[to] for to, _ in edges[rule])
            if paths[rule] > _MOST_PATHS:
                named = (name for name, _ in reversed(todo) if isinstance(name, str))
                return next(named, str(start))
    return None
