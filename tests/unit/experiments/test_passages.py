from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from app.experiments.passages import Passages, blocks, cut, lines, sentences

WORDS = [f"word{number}" for number in range(4000)]
TEXT = " ".join(f"{word}." if number % 7 == 6 else word for number, word in enumerate(WORDS))


@pytest.mark.parametrize("take_apart", [sentences, blocks])
def test_that_units_put_together_are_the_text(
    take_apart: Callable[[str], tuple[str, ...]],
) -> None:
    text = "One two. Three\nfour!\n\n\nclass A:\n    x = 1\n\n\nlast"
    assert "".join(take_apart(text)) == text


def test_that_sentences_end_where_sentences_do() -> None:
    assert sentences("He came. “Why?” she said.\nNobody knew") == (
        "He came. ",
        "“Why?” ",
        "she said.\n",
        "Nobody knew",
    )


def test_that_blocks_are_parted_by_two_empty_lines() -> None:
    assert blocks("def a():\n    b\n\n    c\n\n\ndef d():\n    e\n") == (
        "def a():\n    b\n\n    c\n\n\n",
        "def d():\n    e\n",
    )


def test_that_a_line_of_two_megabytes_without_a_space_becomes_pieces() -> None:
    units = sentences("x" * 2_000_000)
    assert "".join(units) == "x" * 2_000_000
    assert {len(unit) for unit in units} == {400}


def test_that_empty_lines_are_no_units() -> None:
    assert lines("one\n\n\ntwo") == ("one\n", "two")


def test_that_a_long_line_is_cut_between_words() -> None:
    units = sentences("lorem " * 400_000)
    assert all(unit.endswith("lorem ") for unit in units)
    assert max(map(len, units)) <= 400


def test_that_white_space_alone_is_no_unit() -> None:
    assert not [unit for unit in sentences("a" + " " * 5000 + "b") if unit.isspace()]
    assert Passages(sentences("a" + " " * 5000 + "b"), Random(1)).take(3)


def test_that_passages_are_nearly_as_long_as_asked_for_and_never_longer() -> None:
    passages = Passages(sentences(TEXT), Random(1))
    for chars in (1, 7, 40, 333, 1000, 5000):
        passage = passages.take(chars)
        assert chars * 0.7 - 1 <= len(passage) <= chars
        assert len(passage) >= chars - 17


def test_that_no_word_is_in_two_passages_until_the_text_is_used_up() -> None:
    passages = Passages(sentences(TEXT), Random(1))
    seen: set[str] = set()
    # Half of the text, for a passage leaves the rest of its last sentence.
    for _ in range(len(TEXT) // 2 // 500):
        found = {word.rstrip(".") for word in passages.take(500).split()[:-1]}
        assert not found & seen
        seen |= found


def test_that_words_are_not_cut() -> None:
    passages = Passages(sentences(TEXT), Random(1))
    whole = set(WORDS) | {word + "." for word in WORDS}
    for _ in range(20):
        assert set(passages.take(300).split()) <= whole


def test_that_a_used_up_text_goes_on_in_another_order() -> None:
    passages = Passages(sentences("One a. Two b. Three c. Four d. Five e. Six f."), Random(3))
    rounds = {passages.take(42) for _ in range(12)}
    assert len(rounds) > 8
    for passage in rounds:
        assert len(passage) > 30


def test_that_a_used_up_text_is_said_in_other_words_where_that_can_be_done() -> None:
    units = ("one\n", "two\n")
    passages = Passages(units, Random(3), reworded=lambda unit, number: f"{number}{unit}")
    rounds = [passages.take(chars).split() for chars in (8, 10, 10)]
    assert [sorted(words) for words in rounds] == [
        ["one", "two"],
        ["2one", "2two"],
        ["3one", "3two"],
    ]


def test_that_a_passage_can_be_longer_than_the_text() -> None:
    passages = Passages(sentences("One a. Two b."), Random(3))
    assert 900 < len(passages.take(1000)) <= 1000


def test_that_the_place_is_drawn_and_the_draw_repeats() -> None:
    units = sentences(TEXT)
    starts = {Passages(units, Random(seed)).take(80) for seed in range(10)}
    assert len(starts) > 7
    assert Passages(units, Random(4)).take(80) == Passages(units, Random(4)).take(80)


def test_that_code_is_cut_between_lines() -> None:
    code = "".join(f"    value_{number} = {number}\n" for number in range(200))
    passages = Passages(lines(code), Random(2), ends_at_lines=True)
    for _ in range(5):
        for line in passages.take(400).splitlines():
            assert line.strip() in code.split("\n    ") or line.strip() + "\n" in code
    assert cut("a b\nc d e f g h", 7, ends_at_lines=True) == "a b\nc d"


@pytest.mark.parametrize(
    ("chars", "text"), [(100, "alpha beta"), (10, "alpha beta"), (9, "alpha bet"), (1, "a")]
)
def test_that_a_text_is_cut_to_characters(chars: int, text: str) -> None:
    assert cut("alpha beta", chars) == text


def test_that_a_cut_takes_whole_words_where_one_ends_near() -> None:
    assert cut("alpha beta gamma delta", 20) == "alpha beta gamma"
    assert cut("alpha beta gamma delta", 16) == "alpha beta gamma"
