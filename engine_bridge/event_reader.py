"""The engine's output as events; anything else that comes is named and refused.

Pure: bytes in, events out, bounded memory. Decodes one event at a time, so that the caller decides
how long it wants to be busy.
"""

from __future__ import annotations

import contextlib
from collections import deque

import msgspec

from engine_bridge.client_limits import ClientLimits
from engine_bridge.pipe_text import LineSplitter, LineTooLongError
from engine_bridge.protocol import PROTOCOL_VERSION, Event, Hello, Logged, decode_event

_UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class BrokenEngineError(Exception):
    """The engine does not keep to the protocol; the message is a sentence for the user."""


class EventReader:
    """Reads the output of one engine process.

    Attributes:
        hello: How the engine introduced itself; None before.
    """

    def __init__(self, limits: ClientLimits) -> None:
        """Begin with nothing read."""
        self.hello: Hello | None = None
        self._limits = limits
        self._splitter = LineSplitter(limits.max_line_bytes)
        self._lines: deque[bytes] = deque()
        self._waiting_bytes = 0

    @property
    def has_waiting(self) -> bool:
        """Whether ``next_event`` has something to read."""
        return bool(self._lines)

    def feed(self, chunk: bytes) -> None:
        """Take what came through the pipe.

        Raises:
            BrokenEngineError: If a line never ends or more comes than is ever read.
        """
        try:
            lines = self._splitter.feed(chunk)
        except LineTooLongError as error:
            raise BrokenEngineError(f"The engine sent {error}, which no message is.") from None
        self._lines.extend(lines)
        self._waiting_bytes += sum(map(len, lines))
        if self._waiting_bytes > self._limits.max_backlog_bytes:
            raise BrokenEngineError("The engine sends more than the window can ever read.")

    def next_event(self) -> Event:
        """Decode the oldest line.

        Raises:
            BrokenEngineError: If it is no event, or comes before a proper introduction.
        """
        line = self._lines.popleft()
        self._waiting_bytes -= len(line)
        try:
            event = decode_event(line)
        except _UNDECODABLE as error:
            raise BrokenEngineError(_unreadable_sentence(line, error)) from None
        if self.hello is None:
            self._greet(event)
        return event

    def clear(self) -> None:
        """Drop what waits."""
        self._lines.clear()
        self._waiting_bytes = 0

    def _greet(self, event: Event) -> None:
        if isinstance(event, Logged):
            return
        if not isinstance(event, Hello):
            raise BrokenEngineError("The engine did not introduce itself.")
        if event.protocol_version != PROTOCOL_VERSION:
            raise BrokenEngineError(_version_sentence(event.protocol_version))
        self.hello = event


def _unreadable_sentence(line: bytes, error: Exception) -> str:
    # An engine of another version may introduce itself with other fields.
    with contextlib.suppress(*_UNDECODABLE):
        match msgspec.json.decode(line):
            case {"type": "hello", "protocol_version": int(version)} if version != PROTOCOL_VERSION:
                return _version_sentence(version)
            case _:
                pass
    beginning = line[:80].decode("utf-8", errors="backslashreplace")
    return f"The engine sent “{beginning}”, which is no message of this version ({error})."


def _version_sentence(version: int) -> str:
    return (
        f"The engine speaks version {version} of the protocol, this window version "
        f"{PROTOCOL_VERSION}."
    )
