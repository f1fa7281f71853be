r"""Words of a pasted text as they can be shown: escaped, shortened, and without secrets. Pure.

A text from elsewhere may hold characters that turn its order round or that nobody sees, and the
key of somebody's server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.importing.secret_words import HIDDEN, is_secret_name, without_secrets

LONGEST = 300
"""Signs of one word or value that are shown; a grammar has thousands."""

# What stands behind a flag, or behind a name and a sign that gives it a value.
_BY_FLAG = re.compile(
    r"(?<![\w-])(--?[A-Za-z][\w-]{1,60})([\"']?[\s=:,]{1,4}[\"']?)([^\s\"',;-][^\s\"',;]*)"
)
_BY_NAME = re.compile(r"\b([A-Za-z][\w.-]{1,60})([\"']?\s{0,4}[=:]\s{0,4}[\"']?)([^\s\"',;]+)")
# Words of a sentence behind a flag, which say something about it; behind “Bearer” stands the key.
_NO_SECRET = frozenset(
    {
        "a", "an", "and", "are", "can", "comes", "for", "from", "has", "is", "it", "must", "need",
        "needs", "none", "not", "nothing", "says", "should", "stands", "takes", "that", "the",
        "this", "was", "which", "with", "bearer",
    }
)  # fmt: skip


def masked(text: str) -> str:
    """``text`` without keys, tokens and passwords."""
    return without_secrets(_BY_NAME.sub(_hide, _BY_FLAG.sub(_hide, text)))


def shown(text: str, most: int = LONGEST) -> str:
    r"""``text`` in one line as it can be shown: ``\u202e`` spelt out, no secret, not too long.

    Args:
        text: Any text.
        most: Signs that are shown of it.
    """
    # Of what is endless only the beginning is looked at.
    text = masked(text[: 4 * most])
    if not text.isprintable():
        text = "".join(map(_visible, text))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def sentence_shown(sentence: str, most: int = 2 * LONGEST) -> str:
    """The same of a sentence, whose line feeds are spaces."""
    return shown(" ".join(sentence[: 8 * most].split()), most)


def words_shown(words: Iterable[str], most: int = 4 * LONGEST) -> str:
    """Words of a command behind each other, those with spaces in quotes."""
    return shown(" ".join(f'"{word}"' if " " in word else word for word in words), most)


def other_shown(name: str, value: object) -> str:
    """What stands under ``name`` and is no setting of the desk."""
    if value is None:
        return "left open"
    if isinstance(value, bool):
        return "on" if value else "off"
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return HIDDEN if text and is_secret_name(name) else shown(text)


def _hide(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    if not is_secret_name(name) or value.lower().rstrip(".") in _NO_SECRET:
        return found[0]
    return f"{name}{between}{HIDDEN}"


def _visible(sign: str) -> str:
    return sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")
