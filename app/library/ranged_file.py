"""A file elsewhere, read like one here: what is read is loaded once, and kept in a sparse file."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

# A question and its answer take longer than a megabyte; a header has 0.1 to 20 of them.
_FIRST_BYTES, _MOST_BYTES = 1 << 20, 8 << 20
# What is passed over is loaded along up to here: the scores of a vocabulary, behind which its
# reader goes on, and not the weights, behind which it looks for the end.
_LARGEST_GAP_BYTES = 4 << 20

Load = Callable[[int, int], bytes]
"""Loads the bytes from the first number to the second (exclusive)."""


class RangedFile(io.RawIOBase):
    """Reads front to back load ahead; other places load what is asked for.

    Attributes:
        loaded_bytes: How much was loaded.

    Args:
        path: Where the sparse file is made, as long as the whole; taken anew if it is there.
        size: Bytes of the whole file.
        load: Loads a part of it.
    """

    def __init__(self, path: Path, size: int, load: Load) -> None:
        """Make the sparse file.

        Raises:
            OSError: If it cannot be made.
        """
        super().__init__()
        self.loaded_bytes = 0
        self._size = size
        self._load = load
        self._position = 0
        self._front = 0  # everything before it is loaded
        self._next_bytes = _FIRST_BYTES
        self._file = path.open("wb+", buffering=0)
        self._file.truncate(size)

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, counted from the front."""
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("Only places counted from the front.")
        self._position = offset
        return offset

    def tell(self) -> int:
        """The place."""
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes, loading what is not here yet.

        Raises:
            HubError: If it cannot be loaded.
            OSError: If there is no room for it.
        """
        end = self._size if size < 0 else min(self._size, self._position + size)
        if end <= self._position:
            return b""
        content = self._content(self._position, end)
        self._position += len(content)
        return content

    def close(self) -> None:
        """Close the sparse file, which stays."""
        self._file.close()
        super().close()

    def _content(self, begin: int, end: int) -> bytes:
        if begin > self._front + _LARGEST_GAP_BYTES:
            return self._loaded(begin, end)  # the end of the file: nobody reads on from there
        while self._front < end:
            until = min(self._size, max(end, self._front + self._next_bytes))
            self._loaded(self._front, until)
            self._front = until
            self._next_bytes = min(_MOST_BYTES, 2 * self._next_bytes)
        self._file.seek(begin)
        return self._file.read(end - begin)

    def _loaded(self, begin: int, end: int) -> bytes:
        content = self._load(begin, end)
        if len(content) != end - begin:
            raise EOFError(
                f"{end - begin:,} bytes were asked for and {len(content):,} came: the file is not "
                "as long as the hub says."
            )
        self._file.seek(begin)
        view = memoryview(content)
        while view:
            view = view[self._file.write(view) :]
        self.loaded_bytes += len(content)
        return content
