"""Bounded reads from the front of a file that is not trusted.

Every length is checked against the size of the file and against fixed limits before it is
followed, and the file is read through a window of fixed size, so a header that lies costs neither
memory nor time. Plain reads instead of mmap: a file that shrinks or a drive that goes away raises
an error here, where a mapped page would kill the process.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Protocol, TypeAlias

from engine_bridge.typed_text import MOST_QUOTED

# Far above any real header (a vocabulary of 262,144 texts takes 6 MB).
MAX_HEADER_BYTES = 128 * 2**20
MAX_STRINGS = 2_000_000
MAX_KEPT_TEXT_BYTES = 2 * 2**20
WINDOW_BYTES = 2 * 2**20
# What file systems allow is 255 bytes, each of which may be escaped by four signs.
_LONGEST_NAME = 1020

Number: TypeAlias = int | float | bool


class GgufError(ValueError):
    """A file that cannot be used as a model; the message is a sentence for the user."""


class GgufCutError(GgufError):
    """A file that ends before it should: an unfinished download, or one that is under way."""


def shown_name(path: str | os.PathLike[str]) -> str:
    """The file's name for people; bytes that are no UTF-8 are escaped.

    One that no file can have, for it is too long, is only begun.
    """
    name = os.fsencode(Path(path).name or path).decode("utf-8", "backslashreplace")
    return name if len(name) <= _LONGEST_NAME else f"{name[:MOST_QUOTED]}…"


class Readable(Protocol):
    """What a header can be read from: a file without a buffer, or what behaves like one."""

    def seek(self, position: int, /) -> int:
        """Go to a place, counted from the front."""
        ...

    def read(self, size: int, /) -> bytes | None:
        """Up to ``size`` bytes from there on."""
        ...


class BoundedReader:
    """Reads little-endian values one behind the other.

    Attributes:
        size: Bytes of the file.
        position: Where the next read begins.
    """

    def __init__(
        self, file: Readable, size: int, name: str, window_bytes: int = WINDOW_BYTES
    ) -> None:
        """Begin at the front of ``file``; ``name`` stands in error sentences.

        Args:
            file: What is read.
            size: Its bytes.
            name: See above.
            window_bytes: How much is asked for at once, at least.
        """
        self._window_bytes = window_bytes
        self.size = size
        self.position = 0
        self._file = file
        self._name = name
        self._window = b""
        self._window_start = 0
        self._strings_left = MAX_STRINGS
        self._text_bytes_left = MAX_KEPT_TEXT_BYTES

    def scalar(self, code: str) -> Number:
        """Read one value of the ``struct`` code ``code``."""
        value: Number = struct.unpack(f"<{code}", self.take(struct.calcsize(code)))[0]
        return value

    def text(self, max_bytes: int, what: str) -> str:
        """Read a short text, ``what`` in error sentences; broken UTF-8 is replaced."""
        length = int(self.scalar("Q"))
        if length > max_bytes:
            raise self.lies(f"has {what} of {length:,} bytes")
        return self.take(length).decode("utf-8", "replace")

    def kept_text(self) -> str:
        """Read a text of any length up to what is left of ``MAX_KEPT_TEXT_BYTES``."""
        length = int(self.scalar("Q"))
        if length > self._text_bytes_left:
            raise self.lies(f"has a text of {length:,} bytes")
        self._text_bytes_left -= length
        return self.take(length).decode("utf-8", "replace")

    def skip_texts(self, count: int, what: str) -> None:
        """Go past ``count`` texts, ``what`` in error sentences."""
        if count > self._strings_left:
            raise self.lies(f"claims {count:,} texts under {what}")
        self._strings_left -= count
        left = count
        while left:
            self._fill(8)
            passed, index = _pass_texts(self._window, self.position - self._window_start, left)
            left -= passed
            self.skip(self._window_start + index - self.position)

    def skip(self, size: int) -> None:
        """Go past ``size`` bytes."""
        self._check(size)
        self.position += size

    def take(self, size: int) -> bytes:
        """Read ``size`` bytes."""
        self._fill(size)
        start = self.position - self._window_start
        self.position += size
        return self._window[start : start + size]

    def peek(self, position: int, size: int) -> bytes:
        """Up to ``size`` bytes from ``position`` on; the next read begins where it would have."""
        self._file.seek(position)
        parts = []
        while size and (part := self._file.read(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def lies(self, what: str) -> GgufError:
        """The error of a header that ``what`` (a verb and the rest, with words of the file)."""
        shown = "".join(letter if letter.isprintable() else "�" for letter in what)
        return GgufError(
            f"{self._name} is damaged or was made to harm: its header {shown}. "
            "Download it again from a source you trust."
        )

    def _fill(self, size: int) -> None:
        """Have the next ``size`` bytes in the window."""
        self._check(size)
        begin, end = self._window_start, self._window_start + len(self._window)
        if begin <= self.position and self.position + size <= end:
            return
        self._window = self.peek(self.position, max(self._window_bytes, size))
        self._window_start = self.position
        if len(self._window) < size:
            raise GgufCutError(f"{self._name} shrank while it was read. Wait for its download.")

    def _check(self, size: int) -> None:
        if self.position + size > self.size:
            raise GgufCutError(
                f"{self._name} ends in the middle of its header: the download did not finish, or "
                "the file is damaged. Download it again."
            )
        if self.position + size > MAX_HEADER_BYTES:
            raise self.lies(f"is longer than {MAX_HEADER_BYTES // 2**20} MiB")


def _pass_texts(window: bytes, index: int, count: int) -> tuple[int, int]:
    """Go past up to ``count`` texts whose lengths stand in ``window``, from ``index`` on.

    Returns:
        How many were passed, and where the next one begins; perhaps beyond the window.
    """
    read_length = struct.Struct("<Q").unpack_from
    passed = 0
    try:
        # The loop over 262,144 texts is nearly all the time of reading a header.
        for passed in range(count):  # noqa: B007 (the number is what the exception leaves)
            index += 8 + read_length(window, index)[0]
    except (struct.error, OverflowError):  # the next length lies beyond the window
        return passed, index
    return count, index
