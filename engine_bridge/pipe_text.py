"""Bytes of a pipe as lines, whatever the other side writes; memory stays bounded.

Pure: knows bytes and text, not where they come from.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable


class LineTooLongError(ValueError):
    """A line that outgrew its bound without ending."""


class LineSplitter:
    """Cuts a stream of bytes into lines."""

    def __init__(self, max_line_bytes: int) -> None:
        """Take lines of up to ``max_line_bytes`` bytes."""
        self._max_line_bytes = max_line_bytes
        self._begun: list[bytes] = []
        self._begun_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that ``chunk`` completes, without their line feeds.

        Raises:
            LineTooLongError: If a line exceeds the bound, ended or not.
        """
        first, *rest = chunk.split(b"\n")
        self._begun.append(first)
        self._begun_bytes += len(first)
        lines = []
        for piece in rest:
            self._check(self._begun_bytes)
            lines.append(b"".join(self._begun))
            self._begun, self._begun_bytes = [piece], len(piece)
        self._check(self._begun_bytes)
        return lines

    def _check(self, length: int) -> None:
        if length > self._max_line_bytes:
            raise LineTooLongError(f"a line of more than {self._max_line_bytes} bytes")


class StderrTail:
    """The last lines that a process wrote for people, each cut to a bound."""

    def __init__(
        self,
        max_lines: int = 400,
        max_line_bytes: int = 2048,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        """Keep ``max_lines`` lines of at most ``max_line_bytes`` bytes, and when each came."""
        self._lines: deque[str] = deque(maxlen=max_lines)
        self._times_s: deque[float] = deque(maxlen=max_lines)
        self._clock_s = clock_s
        self._max_line_bytes = max_line_bytes
        self._begun = b""

    def feed(self, chunk: bytes) -> list[str]:
        """Keep ``chunk``; returns the lines it completes that are still kept, oldest first."""
        first, *rest = chunk.split(b"\n")
        self._begin(first)
        if not rest:
            return []
        kept = self._lines.maxlen or 0
        # Of a flood only what will be kept is worth decoding.
        complete = [self._begun, *rest[:-1]][-kept:]
        lines = [self._text(line) for line in complete]
        self._lines.extend(lines)
        self._times_s.extend([self._clock_s()] * len(lines))
        self._begun = b""
        self._begin(rest[-1])
        return lines

    def lines(self) -> tuple[str, ...]:
        """What is kept, oldest first, an unfinished last line included."""
        unfinished = (self._text(self._begun),) if self._begun else ()
        return (*self._lines, *unfinished)[-(self._lines.maxlen or 0) :]

    def times_s(self) -> tuple[float, ...]:
        """When each of ``lines()`` came, in seconds since 1970."""
        unfinished = (self._clock_s(),) if self._begun else ()
        return (*self._times_s, *unfinished)[-(self._times_s.maxlen or 0) :]

    def _begin(self, piece: bytes) -> None:
        # One byte more than is shown tells that something was cut.
        room = self._max_line_bytes + 1 - len(self._begun)
        if room > 0:
            self._begun += piece[:room]

    def _text(self, line: bytes) -> str:
        cut = line[: self._max_line_bytes].decode("utf-8", errors="replace").rstrip("\r")
        return cut + "…" if len(line) > self._max_line_bytes else cut
