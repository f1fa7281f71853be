"""JSON for other programs: one object on a line, valid whatever the stream can write.

Errors too: who asked for JSON parses the answer, and reads no sentence on the error stream.
"""

from __future__ import annotations

import re
import sys
from typing import TextIO

import msgspec

from app.plain_output import printable

# Beyond ASCII, and what moves a terminal: JSON has both in texts only, where they may be spelt out.
_BEYOND_ASCII = re.compile("[^\x00-\x7e]")
_CONTROLS = re.compile("[\x7f-\x9f]")


def json_line(value: object, encoding: str | None = None) -> str:
    r"""``value`` as JSON on one line, without its end.

    Args:
        value: What msgspec can encode.
        encoding: Of the stream; a character that it lacks is spelt out as ``\u2264``.
    """
    return writable_json(msgspec.json.encode(value).decode(), encoding)


def writable_json(text: str, encoding: str | None = None) -> str:
    """JSON as a stream of that encoding can have it; still the same values."""
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return _BEYOND_ASCII.sub(_spelt, text)
    return _CONTROLS.sub(_spelt, text)


def write_json(value: object, out: TextIO) -> None:
    """One JSON object on a line."""
    out.write(json_line(value, out.encoding) + "\n")


def tell_error(sentence: str, *, as_json: bool, out: TextIO | None = None) -> None:
    """Say why nothing came of it: on the error stream, and with JSON as an object too.

    Args:
        sentence: What went wrong.
        as_json: Whether ``{"error": sentence}`` is written to the output.
        out: The output; that of the program by default.
    """
    sys.stderr.write(f"{printable(sentence)}\n")
    if as_json:
        write_json({"error": sentence}, sys.stdout if out is None else out)


def _spelt(found: re.Match[str]) -> str:
    # JSON writes what lies beyond 16 bits as two halves.
    pairs = found[0].encode("utf-16-be")
    return "".join(f"\\u{pairs[at]:02x}{pairs[at + 1]:02x}" for at in range(0, len(pairs), 2))
