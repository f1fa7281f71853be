"""The engine's output as events: the greeting first, nonsense named, memory bounded."""

from __future__ import annotations

import pytest

from engine_bridge.client_limits import ClientLimits
from engine_bridge.event_reader import BrokenEngineError, EventReader
from engine_bridge.protocol import PROTOCOL_VERSION, Hello, Logged, encode

HELLO = encode(Hello(PROTOCOL_VERSION, 1, 0, "0.3.36", "", (), True))
LOGGED = encode(Logged("info", "text"))


def test_that_a_log_line_may_come_before_the_greeting() -> None:
    reader = EventReader(ClientLimits())
    reader.feed(LOGGED + HELLO)
    seen = []
    while reader.has_waiting:
        event = reader.next_event()
        seen.append((type(event).__name__, reader.hello is not None))
    assert seen == [("Logged", False), ("Hello", True)]


def test_that_an_old_greeting_with_other_fields_is_told_by_its_version() -> None:
    reader = EventReader(ClientLimits())
    reader.feed(b'{"type":"hello","protocol_version":0,"was_called":"otherwise"}\n')
    with pytest.raises(BrokenEngineError, match="version 0 of the protocol"):
        reader.next_event()


def test_that_a_bad_greeting_of_this_version_is_not_taken_for_another_version() -> None:
    reader = EventReader(ClientLimits())
    reader.feed(b'{"type":"hello","protocol_version":%d}\n' % PROTOCOL_VERSION)
    with pytest.raises(BrokenEngineError, match="missing required field"):
        reader.next_event()


def test_that_what_is_quoted_is_short_and_printable() -> None:
    reader = EventReader(ClientLimits())
    reader.feed(b"\xff" * 1000 + b"\n")
    with pytest.raises(BrokenEngineError) as caught:
        reader.next_event()
    assert len(str(caught.value)) < 600
    assert "\\xff\\xff" in str(caught.value)


def test_that_the_backlog_is_bounded_and_reading_makes_room() -> None:
    reader = EventReader(ClientLimits(max_backlog_bytes=2 * len(HELLO)))
    reader.feed(HELLO)
    reader.next_event()
    for _ in range(5):
        reader.feed(HELLO)
        reader.next_event()
    reader.feed(HELLO)
    reader.clear()
    reader.feed(HELLO + HELLO)
    with pytest.raises(BrokenEngineError, match="more than the window can ever read"):
        reader.feed(HELLO)
