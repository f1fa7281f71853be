"""The recall test: where facts stand, and what counts as recalled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_bridge.child.context_pair import ContextPair, QualityError
from engine_bridge.child.recall import facts_of, lay_out, recalled

FILLER = "It rained all day. The road was long and nobody spoke. A dog barked somewhere! " * 3


class Characters:
    """A tokenizer whose tokens are characters."""

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]:
        assert not add_special
        assert not parse_special
        return [ord(character) for character in text]


class Knowing:
    """Two contexts that foretell the next character of the text they read, but for some facts."""

    def __init__(self, forgets_base: Sequence[str], forgets_candidate: Sequence[str]) -> None:
        self.read_tok: list[int] = []
        self._forgets = (forgets_base, forgets_candidate)

    def clear(self) -> None:
        self.read_tok.clear()

    def read_without_logits(self, tokens: Sequence[int], on_step: object = None) -> None:
        self.read_tok.extend(tokens)

    def read(
        self, tokens: Sequence[int], begin: int, wanted: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        assert begin == len(self.read_tok)
        self.read_tok.extend(tokens)
        text = "".join(map(chr, tokens))
        base, candidate = (
            self._rows(tokens, wanted, any(code in text for code in forgets))
            for forgets in self._forgets
        )
        return base, candidate

    @staticmethod
    def _rows(tokens: Sequence[int], wanted: int, is_forgotten: bool) -> NDArray[np.float32]:
        rows = np.zeros((wanted, 128), np.float32)
        for row in range(wanted - 1):
            rows[row, tokens[len(tokens) - wanted + row + 1]] = 1
        if is_forgotten:
            rows[-2, :] = 0
            rows[-2, ord("?")] = 1
        return rows


def test_that_facts_are_the_same_for_the_same_seed_and_all_different() -> None:
    facts = facts_of(30, seed=4)
    assert facts == facts_of(30, seed=4)
    assert facts != facts_of(30, seed=5)
    assert len({fact.subject for fact in facts}) == 30
    assert all(len(fact.code) == 5 for fact in facts)


def test_that_the_text_has_the_length_asked_for_with_every_fact_in_it_once() -> None:
    facts = facts_of(6, seed=1)
    text = lay_out(Characters(), facts, FILLER, 2000, bos=1)
    assert text.length_tok == 2000
    assert text.document[0] == 1
    document = "".join(map(chr, text.document))
    assert all(document.count(fact.told) == 1 for fact in facts)
    asked = ["".join(map(chr, question.tokens)) for question in text.questions]
    assert sorted(asked) == sorted(fact.answered for fact in facts)


def test_that_facts_stand_at_even_depths_in_their_order() -> None:
    facts = facts_of(5, seed=1)
    text = lay_out(Characters(), facts, FILLER, 3000, bos=None)
    document = "".join(map(chr, text.document))
    assert text.depths == tuple(document.index(fact.told) / 3000 for fact in facts)
    assert text.depths[0] == 0.0
    gaps = np.diff(text.depths)
    assert gaps.min() > 0.6 * gaps.max()


def test_that_questions_are_not_asked_in_the_order_of_the_facts() -> None:
    text = lay_out(Characters(), facts_of(8, seed=1), FILLER, 3000, bos=None)
    assert [question.number for question in text.questions] != list(range(8))


def test_that_an_answer_begins_behind_the_question() -> None:
    facts = facts_of(3, seed=2)
    text = lay_out(Characters(), facts, FILLER, 2000, bos=None)
    for question in text.questions:
        answer = "".join(map(chr, question.tokens[question.answer_at :]))
        assert answer == f" {facts[question.number].code}"


def test_that_what_is_foretold_is_recalled_and_what_is_not_is_lost() -> None:
    facts = facts_of(4, seed=3)
    text = lay_out(Characters(), facts, FILLER, 2000, bos=None)
    pair = Knowing([facts[3].code], [facts[0].code, facts[3].code])
    tested = recalled(cast(ContextPair, pair), text)
    assert tested.base == (True, True, True, False)
    assert tested.candidate == (False, True, True, False)
    assert tested.ctx_tok == len(pair.read_tok) == 2000


def test_that_too_many_facts_for_the_text_are_a_sentence() -> None:
    with pytest.raises(QualityError, match="20 facts needs at least"):
        lay_out(Characters(), facts_of(20, seed=1), FILLER, 1000, bos=None)


def test_that_a_text_without_full_stops_is_cut_into_pieces() -> None:
    text = lay_out(Characters(), facts_of(3, seed=1), "word " * 2000, 2000, bos=None)
    assert text.length_tok == 2000
    # Between them there is text: none stands right behind another.
    assert np.diff(text.depths).min() > 0.1
