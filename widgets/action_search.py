"""Which actions a few typed letters mean, the likeliest first.

Pure: no Qt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ActionEntry:
    """An action as the list shows it.

    Attributes:
        id: What is reported when it is chosen.
        text: What it does.
        group: The part of the program it belongs to.
        keys: Its keys as this system writes them; empty for none.
        reason: Why it cannot be done now; empty if it can.
        words: Further words that a search finds it by.
    """

    id: str
    text: str
    group: str
    keys: str = ""
    reason: str = ""
    words: str = ""


# What stands before it in "Show or hide: Log" is the same in many entries; what follows is meant.
_KIND_ENDS = ": "
# The worst a whole query can cost and still be meant: letters spread over a text are no match.
_PREFIX, _WORD_START, _INSIDE, _OTHER_WORDS, _SPREAD = 0, 1, 3, 4, 8


def found(entries: Sequence[ActionEntry], query: str) -> list[ActionEntry]:
    """The entries that each word of ``query`` is found in, the best first; equals keep their order.

    A word counts most at the start of the text or of what follows its colon, then at the start of a
    word, then within one; at last as letters that follow each other with gaps. Among those whose
    text holds the words, what can be done now comes first.
    """
    words = query.casefold().split()
    ranked = []
    for entry in entries:
        costs = [_cost(entry, word) for word in words]
        if None not in costs:
            ranked.append((sum(cost for cost in costs if cost is not None), entry))
    best = min((cost for cost, _ in ranked), default=0)
    # Scattered letters help only where nothing holds the word as it was typed.
    return [entry for cost, entry in sorted(ranked, key=_rank) if cost < _SPREAD or best >= _SPREAD]


def _rank(pair: tuple[int, ActionEntry]) -> tuple[bool, bool, int]:
    cost, entry = pair
    # What cannot be done stays above what only its further words name: Enter must not do another
    # thing than the one that was typed.
    return cost >= _OTHER_WORDS, bool(entry.reason), cost


def _cost(entry: ActionEntry, word: str) -> int | None:
    text = entry.text.casefold()
    if text.startswith(word) or text.partition(_KIND_ENDS)[2].startswith(word):
        return _PREFIX
    if re.search(rf"\b{re.escape(word)}", text):
        return _WORD_START
    if word in text:
        return _INSIDE
    if word in f"{entry.group} {entry.words} {entry.keys}".casefold():
        return _OTHER_WORDS
    return _SPREAD if len(word) > 1 and _is_spread(word, text) else None


def _is_spread(word: str, text: str) -> bool:
    """Whether ``text`` has the letters of ``word`` in order, the first at a word's start."""
    begin = re.search(rf"\b{re.escape(word[0])}", text)
    if begin is None:
        return False
    letters = iter(text[begin.start() :])
    return all(letter in letters for letter in word)
