"""The bytes of an ordinary file within a limit, and the text they are, if they are one.

Must not know what the text is for, or how a refusal is worded.
"""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

# Longest first: the mark of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 8192
# Tab, line ends, form feed and escape occur in text; other control characters hardly ever.
_CONTROL = bytes(set(range(32)) - {9, 10, 12, 13, 27})
# A pipe without a writer would otherwise keep who opens it.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class EndlessFileError(OSError):
    """A device or a pipe: reading it may never end."""


def read_plain(path: Path, limit_bytes: int) -> bytes:
    """Read a file; one byte more than ``limit_bytes`` comes of a file that has more.

    Raises:
        IsADirectoryError: If it is a folder.
        EndlessFileError: If it is a device or a pipe.
        OSError: If it cannot be read.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder")
    if not stat.S_ISREG(mode):
        raise EndlessFileError(f"{path} is a device or a pipe")
    with os.fdopen(os.open(path, _OPEN_FLAGS), "rb") as file:
        return file.read(limit_bytes + 1)


def decoded(raw: bytes) -> str | None:
    """The text; None where the bytes are none."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(encoding, errors="replace")
    if b"\0" in raw:
        return _wide(raw)
    head = raw[:_LOOKED_AT]
    if len(head) - len(head.translate(None, _CONTROL)) > len(head) // 100:
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        # Windows' own Western code page; what it leaves open is read as Latin-1.
        return raw.decode("cp1252", errors="replace") if _is_cp1252(raw) else raw.decode("latin-1")


def _wide(raw: bytes) -> str | None:
    """UTF-16 without a mark, told by where its zero bytes stand."""
    head = raw[:_LOOKED_AT]
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    encoding = ""
    if odd > half // 3 and even <= half // 50:
        encoding = "utf-16-le"
    elif even > half // 3 and odd <= half // 50:
        encoding = "utf-16-be"
    if not encoding:
        return None
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_cp1252(raw: bytes) -> bool:
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return True
