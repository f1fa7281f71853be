"""Direction of text: code and paths stay left to right, override marks become visible.

Knows Unicode and nothing of Qt. A paragraph's own direction is found by Qt from its first strong
character; what is done here keeps a path inside a right-to-left paragraph in order, and keeps
invisible marks from showing a name in another order than it has.
"""

from __future__ import annotations

import re
import unicodedata

LRI = "\u2066"
PDI = "\u2069"

# Marks that change the order of what follows them; LRM, RLM and ALM do not.
_MARKS = {
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
}
_SHOWN = {ord(mark): f"‹{name}›" for mark, name in _MARKS.items()} | {0: "␀"}
_HIDDEN = re.compile("[\x00\u202a-\u202e\u2066-\u2069]")
# Hebrew to Arabic Extended, their presentation forms, and the right-to-left scripts of plane 1.
_RTL = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
# https://x, /usr/x, ./x, ../x, ~/x, C:\x, \\host\share, and name/name.ext.
_PATH = re.compile(
    r"(?<![\w\\/.\-])"
    r"(?:https?://[!-~]+|"
    r"(?:[A-Za-z]:[\\/]|\\\\|~?/|\.{1,2}/)(?:[.@+\-\\/:]*\w+)+|[\w\-]++(?:/[\w.\-]+)+)",
    re.ASCII,
)


def with_marks_shown(text: str) -> str:
    """``text`` with direction overrides, embeddings and NUL written out, e.g. ``‹RLO›``."""
    if _HIDDEN.search(text) is None:
        return text
    return text.translate(_SHOWN)


def has_rtl(text: str) -> bool:
    """Whether a character of a right-to-left script stands in ``text``."""
    return _RTL.search(text) is not None


def path_spans(text: str) -> list[tuple[int, int]]:
    """Start and end (code points) of everything in ``text`` that looks like a path."""
    return [match.span() for match in _PATH.finditer(text)]


def without_isolates(text: str) -> str:
    """``text`` without the isolates that were put in to show it."""
    return text.replace(LRI, "").replace(PDI, "")


def safe_cut(text: str, at: int) -> int:
    """The last place at or before ``at`` where ``text`` can be cut within a character's limits.

    Args:
        text: Any text longer than ``at``.
        at: Wanted length, at least 1.

    Returns:
        1 to ``at``: never before a combining mark, a joiner, a variation selector or a skin tone.
    """
    for cut in range(at, max(at - 32, 0), -1):
        if not _clings(text[cut]) and text[cut - 1] != "\u200d":
            return cut
    return at


def _clings(character: str) -> bool:
    return (
        unicodedata.combining(character) != 0
        or unicodedata.category(character) in {"Mn", "Me", "Mc"}
        or character == "\u200d"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )
