"""Bytes of a pipe as lines, wherever the pipe cuts them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.pipe_text import LineSplitter, LineTooLongError, StderrTail

_BYTES = st.binary(max_size=300) | st.lists(st.sampled_from([b"a", b"\n", b"\r"])).map(b"".join)


@st.composite
def chunked(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """Some bytes and a way to cut them."""
    data = draw(_BYTES)
    cuts = sorted(draw(st.lists(st.integers(0, len(data)))))
    return data, [data[a:b] for a, b in pairwise([0, *cuts, len(data)])]


@given(chunked())
def test_that_lines_do_not_depend_on_where_the_pipe_cuts(case: tuple[bytes, list[bytes]]) -> None:
    data, chunks = case
    splitter = LineSplitter(1000)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    assert lines == data.split(b"\n")[:-1]


@given(st.integers(1, 50), st.integers(1, 20))
def test_that_a_line_may_be_as_long_as_the_bound_and_no_longer(bound: int, step: int) -> None:
    splitter = LineSplitter(bound)
    assert splitter.feed(b"x" * bound + b"\n") == [b"x" * bound]
    for _ in range(bound // step):
        splitter.feed(b"x" * step)
    with pytest.raises(LineTooLongError, match=f"more than {bound} bytes"):
        splitter.feed(b"x" * step)


def test_that_a_long_line_is_refused_even_where_its_end_is_in_sight() -> None:
    with pytest.raises(LineTooLongError):
        LineSplitter(3).feed(b"good\nbad")


@given(chunked())
def test_that_stderr_does_not_depend_on_where_the_pipe_cuts(
    case: tuple[bytes, list[bytes]],
) -> None:
    data, chunks = case
    whole, cut = StderrTail(5, 8), StderrTail(5, 8)
    whole.feed(data)
    for chunk in chunks:
        cut.feed(chunk)
    assert cut.lines() == whole.lines()


@given(_BYTES)
def test_that_stderr_stays_within_its_bounds(data: bytes) -> None:
    tail = StderrTail(5, 8)
    tail.feed(data)
    assert len(tail.lines()) <= 5
    assert all(len(line) <= 9 for line in tail.lines())


def test_that_the_newest_lines_are_kept_and_told() -> None:
    tail = StderrTail(max_lines=3)
    assert tail.feed(b"1\n2\n3\n4\n5") == ["2", "3", "4"]
    assert tail.lines() == ("3", "4", "5")
    assert tail.feed(b"!\r\n") == ["5!"]
    assert tail.lines() == ("3", "4", "5!")


def test_that_a_cut_line_says_so() -> None:
    tail = StderrTail(max_line_bytes=4)
    tail.feed(b"1234\n12345\n\xff\n")
    assert tail.lines() == ("1234", "1234…", "\ufffd")


def test_that_every_line_has_its_time() -> None:
    now_s = [100.0]
    tail = StderrTail(max_lines=2, clock_s=lambda: now_s[0])
    tail.feed(b"dropped\nfirst\n")
    now_s[0] = 200.0
    tail.feed(b"second\nunfin")
    assert tail.lines() == ("second", "unfin")
    assert tail.times_s() == (200.0, 200.0)
    now_s[0] = 300.0
    tail = StderrTail(max_lines=3, clock_s=lambda: now_s[0])
    tail.feed(b"first\n")
    now_s[0] = 400.0
    tail.feed(b"second\n")
    assert tail.times_s() == (300.0, 400.0)
