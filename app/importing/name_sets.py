"""Sets of names, written as people read them: one text with blanks between."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """The words of ``text``."""
    return frozenset(text.split())
