"""A text file for a message: read whole within limits, decoded, refused in a sentence.

Touches the disk, so it runs off the GUI thread.
"""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

from engine_bridge.gguf_window import shown_name
from widgets.attached_text import Attached
from widgets.composer_paste import cleaned

LIMIT_BYTES = 2 * 1024 * 1024
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


class TextFileError(Exception):
    """The file is not taken; the message is a sentence for the user."""


def read_text_file(path: Path) -> Attached:
    """Read a file for a message.

    Raises:
        TextFileError: If it cannot be read, is too large, or is no text.
    """
    name = " ".join(shown_name(path).split())
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise TextFileError(f"{name} is a folder. Drop its files one by one.")
        if not stat.S_ISREG(mode):
            raise TextFileError(f"{name} is a device or a pipe and has no end. Attach a file.")
        with os.fdopen(os.open(path, _OPEN_FLAGS), "rb") as file:
            raw = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise TextFileError(f"{name} could not be read: {reason}.") from error
    if len(raw) > LIMIT_BYTES:
        raise TextFileError(
            f"{name} is larger than {LIMIT_BYTES >> 20} MiB, which is more text than a "
            "context holds. Attach the part that matters."
        )
    text = _decoded(raw)
    if text is None:
        raise TextFileError(f"{name} is not a text file; the model could make nothing of it.")
    text = cleaned(text).text
    if not text.strip():
        raise TextFileError(f"{name} is empty.")
    return Attached(name, text)


def _decoded(raw: bytes) -> str | None:
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
