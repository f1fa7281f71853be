"""What commands write to a terminal: no character that moves it, and streams that may be gone.

Names, tags and notes come from files and from whoever typed them; an escape code among them would
colour, clear or retitle the terminal of whoever reads. Only the standard library.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import sys
from pathlib import Path
from typing import TextIO

# All but tabs and line ends, which lay a text out.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")

# What sentences and tables are made of, where an encoding lacks it.
_PLAIN = {
    "·": "-", "×": "x", "→": "->", "←": "<-", "±": "+-", "–": "-", "—": "-", "−": "-", "≤": "<=",
    "≥": ">=", "≈": "~", "“": '"', "”": '"', "‘": "'", "’": "'", "…": "...", "◆": "#",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ",
}  # fmt: skip
_PLAINLY = "tunedeck.plainly"

# Disk full, terminal gone, stream closed, file too large.
_STREAM_ERRNOS = {errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG}

# Marks that change the direction of what follows: a name could read as another one.
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""``text`` with what moves a terminal or turns words round spelt out, such as ``\x1b``."""
    plain = _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return _TURNS.sub(lambda found: f"\\u{ord(found[0]):04x}", plain)


def without_controls(text: str) -> str:
    """``text`` without its control characters, line ends and tabs left in."""
    return _CONTROLS.sub("", text)


def prepare_streams() -> None:
    """Make the standard streams take every text.

    One that was closed before the program began (``>&-``) is None; it becomes one that swallows.
    A sign that the terminal's encoding lacks is written as typewriters had it, any other character
    is spelt out.
    """
    if sys.stdout is None:
        sys.stdout = _swallowing()
    if sys.stderr is None:
        sys.stderr = _swallowing()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_PLAINLY)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Signs of the program's own words as others that every encoding has."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    plain = "".join(
        _PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in signs
    )
    return plain, error.end


codecs.register_error(_PLAINLY, _plainly)


def is_of_stream(error: OSError) -> bool:
    """Whether ``error`` is of a stream that takes no more: those have no file name."""
    return error.filename is None and error.errno in _STREAM_ERRNOS


def silence(stream: TextIO) -> None:
    """Send the rest of ``stream`` nowhere: what it still holds would fail again at the exit."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # none of the system's
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _swallowing() -> TextIO:
    # Open until the program ends, as the streams are.
    return Path(os.devnull).open("w", encoding="utf-8")
