"""Lines and columns of text for a terminal of 80 columns, without escape codes. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

WIDTH = 80
_GAP = "  "


def text_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,)
) -> list[str]:
    """Rows with aligned columns, nothing behind the last sign of a line.

    Args:
        head: Title of each column; all empty for none.
        rows: As many texts each; one too short is filled up with empty ones.
        left: Columns whose texts begin at the left; the others end at the right.
    """
    columns = len(head)
    filled = [[*row, *[""] * (columns - len(row))] for row in rows]
    lines = [list(head), *filled] if any(head) else filled
    widths = [max((len(line[at]) for line in lines), default=0) for at in range(columns)]
    return [
        _GAP.join(
            text.ljust(width) if at in left else text.rjust(width)
            for at, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def wrapped(text: str, *, mark: str = "") -> list[str]:
    """``text`` broken into lines; ``mark`` stands before the first, the others are indented."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
