"""A pasted text made plain: what every reader may count on, and the blocks that it is given in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.importing.text_error import TextError

# The longest real file of settings has some ten thousand characters; reading has to end in less
# time than a person notices, whatever the text.
LONGEST_CHARACTERS = 128 * 1024
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\n]*\x07")
_INVISIBLE = re.compile("[\ufeff\u200b\u200c\u2060\u00ad\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ODD_BLANKS = re.compile("[\u00a0\u2002-\u200a\u202f\u205f\u3000]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
_FENCE = re.compile(r"^[ \t]{0,8}(`{3,}|~{3,})[ \t]*([\w.+-]*)[^\n]*$")
_MOST_CONTROL_SHARE = 0.05


@dataclass(frozen=True)
class Block:
    """A part of a text that stands by itself.

    Attributes:
        text: It.
        hint: What it is said to be: the name of a file, or a language; empty where nothing is.
    """

    text: str
    hint: str


def plain(text: str) -> str:
    """``text`` without what screens and word processors put in.

    Raises:
        TextError: If it is empty, too long, or no text.
    """
    if "\0" in text or _is_binary(text[:LONGEST_CHARACTERS]):
        raise TextError(
            "This is no text but the content of some other file. Paste the command or the file of "
            "settings that starts the engine."
        )
    if len(text) > LONGEST_CHARACTERS:
        raise TextError(
            f"The text has {len(text):,} characters; a command or a file of settings has at most "
            f"{LONGEST_CHARACTERS:,}. Paste the part that starts the engine."
        )
    text = _INVISIBLE.sub("", _COLOURS.sub("", text)).replace("\r\n", "\n").replace("\r", "\n")
    text = _ODD_BLANKS.sub(" ", text)
    if not text.strip():
        raise TextError("The text is empty. Paste a command line or a file of settings.")
    return _without_quote_marks(text)


def _is_binary(text: str) -> bool:
    controls = _CONTROL.findall(_COLOURS.sub("", text))
    return len(controls) > len(text) * _MOST_CONTROL_SHARE


def _without_quote_marks(text: str) -> str:
    """A mail or a posting that quotes has a mark before each line."""
    lines = text.split("\n")
    marked = [re.match(r">[ \t]?", line) for line in lines]
    pairs = list(zip(marked, lines, strict=True))
    if all(mark or not line.strip() for mark, line in pairs):
        lines = [line[mark.end() :] if mark else line for mark, line in pairs]
    return "\n".join(lines)


def blocks_of(text: str, hint: str) -> list[Block]:
    """The blocks of code of a text in Markdown; all of it as one where it has none."""
    blocks: list[Block] = []
    fence, language, lines = "", "", list[str]()
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match and not fence:
            fence, language, lines = match.group(1), match.group(2), []
        elif match and match.group(1).startswith(fence) and not match.group(2):
            blocks.append(Block(_without_indent(lines), language))
            fence = ""
        elif fence:
            lines.append(line)
    if fence:
        blocks.append(Block(_without_indent(lines), language))
    return [block for block in blocks if block.text.strip()] or [Block(text, hint)]


def _without_indent(lines: list[str]) -> str:
    """Lines without the blanks that all of them begin with."""
    filled = [line for line in lines if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in filled), default=0)
    return "\n".join(line[indent:] for line in lines)
