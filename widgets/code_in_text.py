"""Code blocks in the Markdown of an answer; pure."""

from __future__ import annotations

from widgets.markdown_blocks import BlockSplitter, CodeStart, CodeText


def last_code_block(markdown: str) -> str | None:
    """The text of the last fenced code block, open ones included; None where there is none."""
    splitter = BlockSplitter()
    pieces = splitter.feed(markdown)
    code: str | None = None
    for piece in pieces:
        if isinstance(piece, CodeStart):
            code = ""
        elif isinstance(piece, CodeText) and code is not None:
            code += piece.text
    if code is not None and splitter.is_in_code:
        code += splitter.take_held_code()
    return code
