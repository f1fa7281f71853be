"""What a pasted text is made into: clean, and folded when it is long.

Knows text only, not Qt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# The editor lays out every line it holds; beyond this a paste becomes an attachment.
FOLD_CHARS = 16 * 1024
_KIB = 1024
# Tab and line feed are kept; carriage returns have become line feeds before.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x84\x86-\x9f]")


@dataclass(frozen=True)
class CleanText:
    r"""A text without control characters.

    Attributes:
        text: Lines end in ``\n``.
        removed: How many control characters were taken out.
    """

    text: str
    removed: int


def cleaned(text: str) -> CleanText:
    r"""``text`` without NUL and other control characters, with ``\n`` as line ends."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _CONTROL.search(text) is None:
        return CleanText(text, 0)
    result, removed = _CONTROL.subn("", text)
    return CleanText(result, removed)


def utf8_bytes(text: str) -> int:
    """Bytes of ``text`` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def described(text: str) -> str:
    """Size and lines of ``text`` in words, e.g. ``4.8 MiB · 200,000 lines``."""
    size_bytes = utf8_bytes(text)
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{_size(size_bytes)} · {lines:,} {'line' if lines == 1 else 'lines'}"


def _size(size_bytes: int) -> str:
    if size_bytes < _KIB:
        return f"{size_bytes} B"
    if size_bytes < _KIB * _KIB:
        return f"{size_bytes / _KIB:.1f} KiB"
    return f"{size_bytes / _KIB / _KIB:.1f} MiB"
