from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.thoughts import ThoughtCounter, ThoughtReader, answer_of, opens_thought


def read(text: str, *cuts: int, starts_inside: bool = False) -> tuple[str, str]:
    """Thought and answer of ``text``, fed in pieces cut at ``cuts``."""
    reader = ThoughtReader(starts_inside=starts_inside)
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    pieces: list[tuple[bool, str]] = []
    for begin, end in itertools.pairwise(edges):
        pieces += reader.feed(text[begin:end])
    pieces += reader.finish()
    assert all(piece for _, piece in pieces)
    thought = "".join(piece for is_thought, piece in pieces if is_thought)
    return thought, "".join(piece for is_thought, piece in pieces if not is_thought)


CASES = [
    ("<think>\nLet me see.\n</think>\n\nIt is 4.", False, ("Let me see.", "It is 4.")),
    ("Let me see.\n</think>\n\nIt is 4.", True, ("Let me see.", "It is 4.")),
    ("It is 4. A <think> tag.", False, ("", "It is 4. A <think> tag.")),
    ("<thinking aloud", False, ("", "<thinking aloud")),
    ("\n<think>\n\n</think>\n\nYes.", False, ("", "Yes.")),
    ("<think>cut </th", False, ("cut </th", "")),
    ("<think>a < b, </b></think>c", False, ("a < b, </b>", "c")),
    (
        "<|channel|>analysis<|message|>Hm.<|start|>assistant<|channel|>final<|message|>Yes.",
        False,
        ("Hm.", "Yes."),
    ),
    ("<|channel|>final<|message|>Yes.", False, ("", "Yes.")),
    ("  indented answer", False, ("", "  indented answer")),
]


@pytest.mark.parametrize(("text", "starts_inside", "expected"), CASES)
def test_that_a_thought_is_told_from_the_answer(
    text: str, starts_inside: bool, expected: tuple[str, str]
) -> None:
    thought, answer = read(text, starts_inside=starts_inside)
    assert (thought.rstrip(), answer) == expected


@given(st.sampled_from(CASES), st.lists(st.integers(0, 200), max_size=8))
def test_that_it_does_not_matter_where_the_text_is_cut(
    case: tuple[str, bool, tuple[str, str]], cuts: list[int]
) -> None:
    text, starts_inside, expected = case
    thought, answer = read(text, *cuts, starts_inside=starts_inside)
    assert (thought.rstrip(), answer) == expected


def test_that_the_answer_alone_can_be_had() -> None:
    assert answer_of("<think>a</think>b") == "b"
    assert answer_of("a[/THINK] b", starts_inside=True) == "b"
    assert answer_of("<thi") == "<thi"


def test_that_a_text_that_ends_in_a_possible_mark_is_not_lost() -> None:
    assert read("  <thi") == ("", "  <thi")


def test_that_tokens_of_the_thought_are_counted_with_its_marks() -> None:
    counter = ThoughtCounter()
    for piece in (b"<th", b"ink", b">", b"\n", b"Hm", b" \xf0\x9f", b"\x98\x80", b"</think", b">"):
        counter.take(piece)
    assert counter.tok == 9
    for piece in (b"\n\n", b"Yes", b" <think>", b"!"):
        counter.take(piece)
    assert counter.tok == 9


def test_that_an_answer_without_a_thought_counts_none() -> None:
    counter = ThoughtCounter()
    for piece in (b"<", b"b>", b"bold", b"</think>"):
        counter.take(piece)
    assert counter.tok == 0


def test_that_a_thought_the_template_opened_counts_from_the_first_token() -> None:
    counter = ThoughtCounter(starts_inside=True)
    for piece in (b"Hm", b".", b"</think>", b"Yes"):
        counter.take(piece)
    assert counter.tok == 3


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("<|im_start|>assistant\n<think>\n", True),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
        ("<|im_start|>assistant\n", False),
        ("", False),
    ],
)
def test_that_a_template_that_opens_the_thought_is_seen(prompt: str, expected: bool) -> None:
    assert opens_thought(prompt) is expected
