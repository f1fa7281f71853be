"""Words that others wrote as a tip: shown as they are, whatever they look like. Pure.

Qt takes a tip that looks like HTML for HTML: of a title with tags in it some would go missing, and
an image in it would be looked for on the disk.
"""

from __future__ import annotations

from html import escape

# A tip is read at a glance; more covers the screen.
_MOST_CHARACTERS = 1000


def plain_tip(text: str) -> str:
    """``text`` for ``setToolTip``; what could be markup is escaped, and line feeds stay."""
    if len(text) > _MOST_CHARACTERS:
        text = text[: _MOST_CHARACTERS - 1] + "…"
    if "<" not in text and "&" not in text:
        return text
    return f"<p style='white-space: pre-wrap'>{escape(text)}</p>"


def wrapped_tip(text: str) -> str:
    """The program's own paragraphs for ``setToolTip``: only what is marked up does Qt break."""
    return f"<p>{escape(text)}</p>".replace("\n\n", "<br><br>")
