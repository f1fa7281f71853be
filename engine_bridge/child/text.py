"""From the bytes of tokens to text that may be shown: whole characters, nothing of a stop text.

Pure; knows neither tokens nor the engine.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class TextAssembler:
    """Collects the bytes of one answer.

    Bytes of an incomplete character wait, and so does text that may be the beginning of a stop
    text, since a stop text may be spread over several tokens.

    Args:
        stops: Texts that end the answer; empty ones are dropped.
    """

    def __init__(self, stops: Sequence[str] = ()) -> None:
        """Start an empty answer."""
        self._stops = tuple(stop.encode() for stop in stops if stop)
        self._longest = max(map(len, self._stops), default=0)
        self._waiting = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.stopped_by = ""

    @property
    def has_stops(self) -> bool:
        """Whether more text may end the answer."""
        return bool(self._stops)

    def push(self, piece: bytes) -> bool:
        """Take the bytes of a token.

        Returns:
            True if a stop text is now complete: nothing of it, nor after it, will be shown.
        """
        if not self._stops:
            self._waiting += piece
            return False
        # A stop text that was already there would have been found with an earlier piece.
        begin = max(0, len(self._waiting) - self._longest + 1)
        self._waiting += piece
        found = [
            (at, -len(stop), stop)
            for stop in self._stops
            if (at := self._waiting.find(stop, begin)) >= 0
        ]
        if not found:
            return False
        at, _, stop = min(found)  # the earliest; of those that begin there, the longest
        del self._waiting[at:]
        self.stopped_by = stop.decode()
        return True

    def take(self) -> str:
        """The text that can be shown by now and was not taken before."""
        if self._stops and not self.stopped_by:
            ready = len(self._waiting) - self._held_back()
        else:
            ready = len(self._waiting)
        raw = bytes(self._waiting[:ready])
        del self._waiting[:ready]
        return self._decoder.decode(raw)

    def finish(self) -> str:
        """The rest, once no token follows; a broken character at the end becomes one U+FFFD."""
        raw = bytes(self._waiting)
        self._waiting.clear()
        return self._decoder.decode(raw, final=True)

    def _held_back(self) -> int:
        """Bytes at the end that may be the beginning of a stop text."""
        tail = bytes(self._waiting[-self._longest + 1 :]) if self._longest > 1 else b""
        for begin in range(len(tail)):
            rest = tail[begin:]
            if any(stop.startswith(rest) for stop in self._stops):
                return len(rest)
        return 0
