"""Pieces of a text of wanted lengths, each from another place. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from random import Random

# Up to the end of a sentence or a line, else of a word, else anywhere: long runs without a space
# are cut, so that a single line of 2 MB becomes pieces as well.
_LONGEST_CHARS = 400
_SENTENCE = re.compile(
    rf"[\s\S]{{1,{_LONGEST_CHARS}}}?(?:[.!?][\"'”’)]*\s+|\n\s*|\Z)"
    rf"|[\s\S]{{1,{_LONGEST_CHARS}}}(?<=\s)|[\s\S]{{1,{_LONGEST_CHARS}}}"
)
_BLOCK = re.compile(r"[\s\S]+?(?:\n\n\n+|\Z)")
# How far back a cut goes for the end of a word or a line: at most that many characters, and never
# more than a quarter of the piece.
_WORD_CHARS = 16
_LINE_CHARS = 80


def sentences(text: str) -> tuple[str, ...]:
    """``text`` in sentences of at most 400 characters, each with the white space behind it."""
    return _said(found[0] for found in _SENTENCE.finditer(text))


def lines(text: str) -> tuple[str, ...]:
    """``text`` in lines, each with its end."""
    return _said(text.splitlines(keepends=True))


def blocks(text: str) -> tuple[str, ...]:
    """Code in blocks that two empty lines part, each with them."""
    return _said(found[0] for found in _BLOCK.finditer(text))


class Passages:
    """Cuts a text from a drawn place on; what was cut is not cut again until all was.

    Then its units come in another order, and in other words where that can be done, so that what
    two passages share is never long.
    """

    def __init__(
        self,
        units: Sequence[str],
        random: Random,
        *,
        ends_at_lines: bool = False,
        reworded: Callable[[str, int], str] | None = None,
    ) -> None:
        """Begin at a unit that ``random`` draws.

        Args:
            units: The text in order, each with the white space behind it; not empty.
            random: Draws the place and later the orders.
            ends_at_lines: Passages end with a line where one ends near enough.
            reworded: Says a unit in other words, by the round, from 2 on; None where that cannot be
                done.
        """
        first = random.randrange(len(units))
        self._units = [*units[first:], *units[:first]]
        self._random = random
        self._ends_at_lines = ends_at_lines
        self._reworded = reworded
        self._round = 1
        self._at = 0

    def take(self, chars: int) -> str:
        """The next passage.

        Args:
            chars: Its length in characters, at least 1; it is at most that long.
        """
        parts: list[str] = []
        length = 0
        while length < chars:
            parts.append(self._next())
            length += len(parts[-1])
        return cut("".join(parts).lstrip(), chars, ends_at_lines=self._ends_at_lines)

    def _next(self) -> str:
        if self._at == len(self._units):
            self._random.shuffle(self._units)
            self._at = 0
            self._round += 1
        unit = self._units[self._at]
        self._at += 1
        if self._round == 1 or self._reworded is None:
            return unit
        return self._reworded(unit, self._round)


def cut(text: str, chars: int, *, ends_at_lines: bool = False) -> str:
    """The beginning of ``text``, at most ``chars`` characters, whole words where that is near."""
    if len(text) <= chars:
        return text.rstrip()
    reach = min(_LINE_CHARS if ends_at_lines else _WORD_CHARS, chars // 4)
    tail = text[chars - reach : chars + 1]
    end = max(tail.rfind("\n"), -1 if ends_at_lines else tail.rfind(" "))
    return text[: chars - reach + end].rstrip() if end >= 0 else text[:chars].rstrip()


def _said(units: Iterable[str]) -> tuple[str, ...]:
    """Without units of white space, which would be a passage of nothing.

    One by one, so that the window's thread gets its turn while a long text is taken apart.
    """
    return tuple(unit for unit in units if not unit.isspace())
