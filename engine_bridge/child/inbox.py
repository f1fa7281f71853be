"""Commands on their way to the loop, and the thread that reads them from a pipe.

Knows the protocol's lines; must not know what commands do.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from engine_bridge.protocol import Command, Event, Logged, Refused, decode_command
from engine_bridge.settings.rules import Problem

_READ_BYTES = 1 << 16
_UNDECODABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)
# Inside a text of JSON a quotation mark has a backslash in front, so neither matches there.
_KIND = re.compile(rb'"type"\s*:\s*"(load|apply|plan|generate|save_slot|restore_slot)"')
_NUMBER = re.compile(rb'"(?:request_id|plan_id)"\s*:\s*(\d{1,18})\b')


@dataclass(frozen=True)
class Arrived:
    """Something for the loop.

    Attributes:
        item: A command, or what a worker thread of the engine hands back.
        at_ns: When it arrived, by the inbox's clock.
    """

    item: Any
    at_ns: int


class Inbox:
    """A queue that any thread may put into and the loop's thread takes from.

    Attributes:
        on_put: Called with every item on the thread that puts it, so that a cancel can reach into
            a running step.
    """

    def __init__(self, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        """Start empty."""
        self._clock = clock
        self._items: deque[Arrived] = deque()
        self._filled = threading.Condition()
        self.on_put: Callable[[Any], None] = lambda _: None

    def __bool__(self) -> bool:
        """Whether something waits; cheap enough to ask every step."""
        return bool(self._items)

    def put(self, item: Any) -> None:  # noqa: ANN401 - commands and workers' results
        """Add ``item``, stamped with the time."""
        with self._filled:
            self._items.append(Arrived(item, self._clock()))
            self._filled.notify()
        self.on_put(item)

    def take(self) -> Arrived | None:
        """The oldest item, None if there is none."""
        return self._items.popleft() if self._items else None

    def wait(self, timeout_s: float) -> None:
        """Return when something is there, or after ``timeout_s``."""
        with self._filled:
            if not self._items:
                self._filled.wait(timeout_s)


class PipeReader(threading.Thread):
    """Reads commands from a pipe into an inbox.

    Args:
        descriptor: The pipe's file descriptor.
        put: Takes each command.
        on_eof: Called once the other side has closed the pipe or died.
        on_bad_line: Called with what to say of a line that is no command.
    """

    def __init__(
        self,
        descriptor: int,
        put: Callable[[Command], None],
        on_eof: Callable[[], None],
        on_bad_line: Callable[[Event], None],
    ) -> None:
        """Prepare the thread; ``start`` begins reading."""
        super().__init__(name="pipe-reader", daemon=True)
        self._descriptor = descriptor
        self._put = put
        self._on_eof = on_eof
        self._on_bad_line = on_bad_line

    def run(self) -> None:
        """Read until the pipe is closed."""
        pieces: list[bytes] = []
        while True:
            try:
                block = os.read(self._descriptor, _READ_BYTES)
            except OSError:
                block = b""
            if not block:
                self._on_eof()
                return
            *ended, rest = block.split(b"\n")
            for line in ended:
                pieces.append(line)
                self._take_line(b"".join(pieces))
                pieces.clear()
            if rest:
                pieces.append(rest)

    def _take_line(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            command = decode_command(line)
        except _UNDECODABLE as error:
            self._on_bad_line(_said_of(line, error))
            return
        self._put(command)


def _said_of(line: bytes, error: Exception) -> Event:
    """The refusal of a command that cannot be read, as long as it says which one it is."""
    sentence = f"The engine got a line that is no command of its protocol version: {error}"
    kind, number = _KIND.search(line), _NUMBER.search(line)
    if kind is None or number is None:
        return Logged("error", sentence)
    return Refused(kind[1].decode(), int(number[1]), Problem((), f"{sentence}."))
