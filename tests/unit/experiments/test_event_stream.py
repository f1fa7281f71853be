"""Server-sent events, whatever the pieces they arrive in."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.experiments.event_stream import EventStream, NoEventStreamError

_STREAM = (
    b": comment\r\n\r\ndata: one\n\nevent: x\nid: 3\ndata:two\r\n\r\n"
    b"retry: 5\n\n\n: OPENROUTER PROCESSING\n\ndata: a\ndata: b\n\ndata\n\ndata: last\n\n"
)
_EVENTS = [b"one", b"two", b"a\nb", b"", b"last"]


def _fed(parts: list[bytes]) -> list[bytes]:
    stream = EventStream()
    return [event for part in parts for event in stream.feed(part)] + stream.end()


def test_that_comments_and_other_fields_are_passed_over() -> None:
    assert _fed([_STREAM]) == _EVENTS


@given(st.lists(st.integers(0, len(_STREAM)), max_size=12))
def test_that_it_does_not_matter_how_the_bytes_arrive(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(_STREAM)]
    parts = [_STREAM[a:b] for a, b in itertools.pairwise(places)]
    assert _fed(parts) == _EVENTS


def test_that_every_byte_alone_says_the_same() -> None:
    assert _fed([bytes([value]) for value in _STREAM.replace(b"\n", b"\r\n")]) == _EVENTS


def test_that_an_event_is_told_with_the_bytes_that_end_it() -> None:
    stream = EventStream()
    assert stream.feed(b"data: x\n") == []
    assert stream.feed(b"\ndata: y") == [b"x"]
    assert stream.end() == [b"y"]


@pytest.mark.parametrize("part", [b"x" * 65_536, b"data: " + b"y" * 65_530 + b"\n"])
def test_that_an_event_without_an_end_is_not_kept_for_ever(part: bytes) -> None:
    stream = EventStream()

    def send() -> None:
        for _ in range(100):
            stream.feed(part)

    with pytest.raises(NoEventStreamError):
        send()
