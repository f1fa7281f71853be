"""Bytes of tokens to text that may be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.child.text import TextAssembler


def _shown(pieces: list[bytes], stops: tuple[str, ...] = ()) -> tuple[list[str], str]:
    """What is shown after each piece, and the rest at the end."""
    assembler = TextAssembler(stops)
    shown = []
    for piece in pieces:
        stopped = assembler.push(piece)
        shown.append(assembler.take())
        if stopped:
            break
    return shown, assembler.finish()


def test_that_bytes_of_an_incomplete_character_wait() -> None:
    emoji = "👍".encode()
    shown, rest = _shown([emoji[i : i + 1] for i in range(4)])
    assert shown == ["", "", "", "👍"]
    assert rest == ""


def test_that_a_broken_tail_is_one_mark_and_nothing_before_it_is_lost() -> None:
    shown, rest = _shown([b"good ", "👍".encode()[:3]])
    assert "".join(shown) + rest == "good \ufffd"


def test_that_a_broken_middle_does_not_hold_the_rest_back() -> None:
    shown, rest = _shown([b"a\xf0\x9f", b"b"])
    assert "".join(shown) + rest == "a\ufffdb"


def test_that_the_beginning_of_a_stop_text_is_held_back() -> None:
    shown, rest = _shown([b"one EN", b"D", b" two"], ("END.",))
    assert shown == ["one ", "", "END two"]
    assert rest == ""


def test_that_a_stop_text_over_three_tokens_is_cut_out() -> None:
    assembler = TextAssembler(("<stop>",))
    assert not assembler.push(b"text <s")
    assert not assembler.push(b"to")
    assert assembler.push(b"p> and more")
    assert assembler.take() + assembler.finish() == "text "
    assert assembler.stopped_by == "<stop>"


def test_that_the_earliest_and_then_the_longest_stop_text_hits() -> None:
    assembler = TextAssembler(("b", "bc", "d"))
    assert assembler.push(b"a bcd")
    assert assembler.stopped_by == "bc"
    assert assembler.finish() == "a "


def test_that_a_held_beginning_is_shown_when_the_answer_ends() -> None:
    shown, rest = _shown([b"almost </en"], ("</end>",))
    assert shown == ["almost "]
    assert rest == "</en"


@pytest.mark.parametrize("stop", ["\n", "x" * 300, "汉"])
def test_that_odd_stop_texts_work(stop: str) -> None:
    """S03: a line feed, 300 characters, one of three bytes."""
    raw = f"before{stop}after".encode()
    assembler = TextAssembler((stop,))
    hit = [assembler.push(raw[i : i + 1]) for i in range(len(raw))]
    assert hit.index(True) == len(f"before{stop}".encode()) - 1
    assembler = TextAssembler((stop,))
    assert assembler.push(raw)
    assert assembler.finish() == "before"


def test_that_empty_stop_texts_are_dropped() -> None:
    shown, rest = _shown([b"abc"], ("", ""))
    assert ("".join(shown), rest) == ("abc", "")


@given(
    text=st.text(alphabet="ab👍汉\n", max_size=40),
    stops=st.lists(st.text(alphabet="ab👍\n", min_size=1, max_size=4), max_size=3),
    cuts=st.lists(st.integers(1, 5), min_size=1, max_size=20),
)
def test_that_cutting_into_tokens_changes_no_text(
    text: str, stops: list[str], cuts: list[int]
) -> None:
    raw, at = text.encode(), 0
    pieces: list[bytes] = []
    while at < len(raw):
        step = cuts[len(pieces) % len(cuts)]
        pieces.append(raw[at : at + step])
        at += step
    shown, rest = _shown(pieces, tuple(stops))
    hits = [raw.find(stop.encode()) for stop in stops if stop.encode() in raw]
    # Cut byte by byte, the stop text that is complete first ends the answer.
    ends = [raw.find(s.encode()) + len(s.encode()) for s in stops if s.encode() in raw]
    result = "".join(shown) + rest
    if not hits:
        assert result == text
    else:
        assert raw.startswith(result.encode().replace("\ufffd".encode(), b"")[:1])
        assert len(result.encode()) <= max(ends)
        assert not any(stop in result for stop in stops)


@given(st.binary(max_size=30))
def test_that_any_bytes_become_what_python_makes_of_them(raw: bytes) -> None:
    shown, rest = _shown([raw[i : i + 1] for i in range(len(raw))])
    assert "".join(shown) + rest == raw.decode(errors="replace")
