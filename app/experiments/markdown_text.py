"""Text of others as Markdown: literal, on one line, in tables and blocks that it cannot leave."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~])")


def line(text: str) -> str:
    """``text`` on one line, and without what would be read as markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """``text`` as code on one line; empty for an empty one."""
    words = " ".join(text.split())
    if not words:
        return ""
    ticks = "`" * (1 + max(map(len, re.findall("`+", words)), default=0))
    # A tick at an end would be taken for one of the fence.
    space = " " if words[0] == "`" or words[-1] == "`" else ""
    return f"{ticks}{space}{words}{space}{ticks}"


def block(text: str, language: str = "") -> str:
    """``text`` as a block of code that it cannot end itself."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """A table; its texts are taken literally.

    Args:
        head: Title of each column.
        rows: As many texts each.
        left: Columns whose texts begin at the left; the others end at the right.
    """
    rule = ["---" if at in left else "---:" for at in range(len(head))]
    lines = [list(map(line, head)), rule, *(list(map(line, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(texts)} |" for texts in lines)
