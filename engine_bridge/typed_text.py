"""What somebody typed, which may be anything: quoted in sentences, and read as a number.

Only the standard library; must not know settings.
"""

from __future__ import annotations

import re

MOST_QUOTED = 40
"""Signs of a typed text that a sentence repeats; what is behind them tells nobody more."""

LONGEST_NUMBER = 30
"""Signs of a whole number: Python refuses to read thousands, and nothing counted needs thirty."""

_LONG_WORD = re.compile(rf"(\S{{{MOST_QUOTED}}})\S{{{MOST_QUOTED},}}")


def quoted(value: object) -> str:
    """``value`` in quotes for a sentence, its beginning where it is long."""
    if isinstance(value, str):
        text = value[:MOST_QUOTED]
        return repr(text) if len(value) <= MOST_QUOTED else f"{text!r}…"
    text = repr(value)
    return text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}…"


def without_long_words(sentence: str) -> str:
    """A sentence of which words of no end are only begun; those of others may hold some."""
    return _LONG_WORD.sub(r"\1…", sentence)


def whole_number(text: str) -> int:
    """A whole number of at most thirty signs.

    Raises:
        ValueError: If the text is none.
    """
    if len(text.strip()) > LONGEST_NUMBER:
        raise ValueError(f"{quoted(text)} is no whole number of a sensible size.")
    return int(text)
