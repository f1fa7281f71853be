"""Server-sent events, taken apart as their bytes arrive. Pure.

By the standard: comments and fields other than ``data`` are passed over, an empty line ends an
event. Nothing a server sends makes it hold more than a limit.
"""

from __future__ import annotations

import re

# An event is some hundred bytes; a server without line ends must not fill the memory.
_LIMIT_BYTES = 1 << 20
# A CR at the end of what has arrived may be half of a CR LF.
_LINE_END = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)


class NoEventStreamError(ValueError):
    """What arrives is no stream of events; the message is the end of a sentence."""


class EventStream:
    """Takes one stream apart."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._unread = b""
        self._data: list[bytes] = []

    def feed(self, received: bytes) -> list[bytes]:
        """The data of the events that are complete now.

        Raises:
            NoEventStreamError: If an event is longer than any event.
        """
        *lines, self._unread = _LINE_END.split(self._unread + received)
        events: list[bytes] = []
        for line in lines:
            self._take(line, events)
        if len(self._unread) + sum(map(len, self._data)) > _LIMIT_BYTES:
            raise NoEventStreamError("sent an event without an end")
        return events

    def end(self) -> list[bytes]:
        """The stream is over: the data of a last event whose end was left out."""
        events: list[bytes] = []
        self._take(self._unread.rstrip(b"\r"), events)
        self._take(b"", events)
        self._unread = b""
        return events

    def _take(self, line: bytes, events: list[bytes]) -> None:
        if not line:
            if self._data:
                events.append(b"\n".join(self._data))
                self._data = []
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
