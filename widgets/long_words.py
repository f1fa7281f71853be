"""Words that are longer than a line, such as a path or what somebody pasted. Pure."""

from __future__ import annotations

import re

# Shorter ones stand in any line.
_LONGEST = 24
_LONG = re.compile(rf"\S{{{_LONGEST + 1},}}")
_BREAK = "\u200b"


def breakable(text: str) -> str:
    """``text`` for a label that wraps: a long word may end its line too, which looks the same.

    Qt breaks lines between words only, and makes a label as wide as its longest word.
    """
    return _LONG.sub(lambda found: _parts(found[0]), text)


def _parts(word: str) -> str:
    return _BREAK.join(word[begin : begin + _LONGEST] for begin in range(0, len(word), _LONGEST))
