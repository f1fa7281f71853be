"""Brackets in texts of Python, strings and comments passed over."""

from __future__ import annotations

import re

LONGEST_CHARACTERS = 20_000
"""What a call or a list of settings may have; more is no settings."""

_STRINGS = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|[\[\](){}]",
    re.DOTALL,
)


def to_closing(text: str, start: int) -> str:
    """``text`` from the bracket at ``start`` to the one that closes it; empty where none does."""
    depth = 0
    for match in _STRINGS.finditer(text, start, start + LONGEST_CHARACTERS):
        sign = match.group()
        if len(sign) != 1:
            continue
        depth += 1 if sign in "[({" else -1
        if not depth:
            return text[start : match.end()]
    return ""
