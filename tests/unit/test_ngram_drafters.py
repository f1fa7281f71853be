"""ngram-map-k, ngram-map-k4v, ngram-mod and ngram-cache draft what llama.cpp drafts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine_bridge.child.speculation.choice import drafters_of
from engine_bridge.child.speculation.drafter import Drafter, Wanted
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import NGRAM_KINDS
from tests.unit.lines_run import lines_run
from tests.unit.lookup_files import no_file
from tests.unit.ngram_reference import CacheReference, MapReference, ModReference

_REMEMBERING = [kind for kind in NGRAM_KINDS if kind != "ngram-simple"]


def _array(tokens: list[int]) -> NDArray[np.int32]:
    return np.asarray(tokens, np.int32)


def _drafter(kind: str, **values: int) -> Drafter:
    config = EngineConfig(spec_types=(kind,)).with_values(dict(values))
    return drafters_of(config, {}, {}, no_file)[kind]


def _draft(drafter: Drafter, history: list[int], seq: int = 0) -> list[int]:
    drafted: list[int] = drafter.draft([Wanted(seq, _array(history), 1000)])[0].tolist()
    return drafted


class _Reference(Protocol):
    def begin(self, seq: int, text: list[int]) -> None: ...
    def draft(self, seq: int, history: list[int]) -> list[int]: ...
    def accept(self, seq: int, accepted: int) -> None: ...


class _Maps:
    """A reference map for each slot."""

    def __init__(self, config: EngineConfig) -> None:
        self.slots = [
            MapReference(
                config.ngram_size_n,
                config.ngram_size_m,
                has_values="ngram-map-k4v" in config.spec_types,
                min_hits=config.ngram_min_hits,
            )
            for _ in range(2)
        ]

    def begin(self, seq: int, text: list[int]) -> None:
        self.slots[seq].begin(text)

    def draft(self, seq: int, history: list[int]) -> list[int]:
        return self.slots[seq].draft(history)

    def accept(self, seq: int, accepted: int) -> None:
        self.slots[seq].accept(accepted)


class _Caches:
    """A reference count for each slot."""

    def __init__(self, config: EngineConfig) -> None:
        self.slots = [CacheReference(), CacheReference()]

    def begin(self, seq: int, text: list[int]) -> None:
        pass

    def draft(self, seq: int, history: list[int]) -> list[int]:
        return self.slots[seq].draft(history)

    def accept(self, seq: int, accepted: int) -> None:
        pass


def _mod(config: EngineConfig) -> ModReference:
    return ModReference(config.ngram_mod_n_match, config.ngram_mod_n_min, config.ngram_mod_n_max)


_REFERENCES: dict[str, Callable[[EngineConfig], _Reference]] = {
    "ngram-map-k": _Maps,
    "ngram-map-k4v": _Maps,
    "ngram-mod": _mod,
    "ngram-cache": _Caches,
}


@dataclass
class _Turn:
    """A question and what the model would say of itself."""

    seq: int
    kept: float
    question: list[int]
    answer: list[int]


_tokens = st.integers(0, 4)
# An answer that repeats itself, with a slip here and there.
_answers = st.builds(
    lambda block, times, slips: [slips.get(at, token) for at, token in enumerate(block * times)],
    st.lists(_tokens, min_size=2, max_size=12),
    st.integers(2, 6),
    st.dictionaries(st.integers(0, 60), _tokens, max_size=6),
)
_turns = st.builds(
    _Turn, st.integers(0, 1), st.floats(0, 1), st.lists(_tokens, max_size=40), _answers
)
_configs = st.builds(
    lambda n, m, hits, match, shortest, longest: {
        "ngram_size_n": n, "ngram_size_m": m, "ngram_min_hits": hits,
        "ngram_mod_n_match": match, "ngram_mod_n_min": shortest, "ngram_mod_n_max": longest,
    },
    st.integers(1, 4), st.integers(1, 8), st.integers(1, 3), st.integers(1, 4),
    st.integers(0, 3), st.integers(1, 8),
)  # fmt: skip


@pytest.mark.parametrize("kind", _REMEMBERING)
@given(turns=st.lists(_turns, min_size=1, max_size=4), values=_configs)
def test_that_it_follows_llama_cpp_s_rules(
    kind: str, turns: list[_Turn], values: dict[str, int]
) -> None:
    """Two slots with several turns each; a turn may rewrite the end of the text before it."""
    drafter = _drafter(kind, **values)
    config = EngineConfig(spec_types=(kind,)).with_values(dict(values))
    reference = _REFERENCES[kind](config)
    texts: list[list[int]] = [[], []]
    for turn in turns:
        seq, before = turn.seq, texts[turn.seq]
        text = [*before[: round(turn.kept * len(before))], *turn.question]
        drafter.begin(seq, _array(text))
        reference.begin(seq, text)
        left = list(turn.answer)
        text.append(left.pop(0))
        while left:
            drafted = _draft(drafter, text, seq)
            assert drafted == reference.draft(seq, text)
            accepted = 0
            while accepted < min(len(drafted), len(left)) and drafted[accepted] == left[accepted]:
                accepted += 1
            if drafted:
                drafter.accept(seq, accepted, is_own=True)
                reference.accept(seq, accepted)
            text += left[: accepted + 1]
            del left[: accepted + 1]
        texts[seq] = text


@pytest.mark.parametrize("kind", _REMEMBERING)
def test_that_large_vocabularies_hash_as_llama_cpp_hashes(kind: str) -> None:
    """Token numbers near the largest of today's vocabularies, in a text long enough to collide."""
    random = np.random.default_rng(7)
    text: list[int] = random.integers(0, 262_144, 1500).tolist()
    text += text[100:400]
    values = {"ngram_size_n": 5, "ngram_mod_n_match": 6, "ngram_mod_n_min": 2}
    drafter = _drafter(kind, **values)
    config = EngineConfig(spec_types=(kind,)).with_values(dict(values))
    reference = _REFERENCES[kind](config)
    drafter.begin(0, _array(text))
    reference.begin(0, text)
    for at in (600, 601, 650, 1200):
        text += text[at : at + 8]
        drafted = _draft(drafter, text)
        assert drafted == reference.draft(0, text)
        assert drafted


def test_that_drafters_are_asked_in_llama_cpp_s_order() -> None:
    config = EngineConfig(spec_types=("draft-simple", *reversed(NGRAM_KINDS)))
    model = _drafter("ngram-cache")
    asked = drafters_of(config, {}, {"draft-simple": model, "draft-mtp": model}, no_file)
    assert list(asked) == [*NGRAM_KINDS, "draft-simple"]


# --- What is remembered ------------------------------------------------------------------------

_PASSAGE = [*range(10, 40)]


def _learned(kind: str) -> tuple[Drafter, list[int]]:
    """A drafter that has read a passage in slot 0, and a text that begins to repeat it."""
    drafter = _drafter(
        kind, ngram_size_n=4, ngram_size_m=8, ngram_mod_n_match=4, ngram_mod_n_min=2,
        ngram_mod_n_max=8,
    )  # fmt: skip
    text = [1, *_PASSAGE, *range(50, 90)]
    drafter.begin(0, _array(text))
    assert _draft(drafter, [*text, *_PASSAGE[:6]]) == _PASSAGE[6:14]
    return drafter, [2, *range(100, 140), *_PASSAGE[:6]]


@pytest.mark.parametrize("kind", ["ngram-map-k", "ngram-map-k4v", "ngram-cache"])
def test_that_nothing_of_a_forgotten_text_is_drafted(kind: str) -> None:
    drafter, other = _learned(kind)
    drafter.forget(0)
    drafter.begin(0, _array(other[:-1]))
    assert _draft(drafter, other) == []
    assert _draft(drafter, other, seq=1) == []


def test_that_the_table_is_shared_by_slots() -> None:
    drafter, other = _learned("ngram-mod")
    drafter.forget(0)
    assert _draft(drafter, other, seq=1) == _PASSAGE[6:14]


def test_that_a_forgotten_text_s_slot_is_filed_from_its_beginning() -> None:
    """As after a context shift: what stands there now is another text, and shorter."""
    drafter, _ = _learned("ngram-mod")
    drafter.forget(0)
    shorter = [*range(200, 240), *range(200, 206)]
    assert _draft(drafter, shorter) == [*range(206, 214)]


@pytest.mark.parametrize("kind", ["ngram-map-k", "ngram-map-k4v"])
def test_that_a_map_drafts_as_much_as_was_right_the_last_time(kind: str) -> None:
    drafter, _ = _learned(kind)
    text = [1, *_PASSAGE, *range(50, 90), *_PASSAGE[:6]]
    drafter.accept(0, 3, is_own=True)
    drafter.accept(0, 1, is_own=False)  # another drafter's; it says nothing of this one
    assert _draft(drafter, text) == _PASSAGE[6:9]
    drafter.accept(0, 0, is_own=True)
    assert _draft(drafter, text) == []


def test_that_a_table_that_guesses_wrong_five_times_is_emptied() -> None:
    drafter, other = _learned("ngram-mod")
    for _ in range(5):
        assert _draft(drafter, other) == _PASSAGE[6:14]
        drafter.accept(0, 1, is_own=True)
    assert _draft(drafter, other) == []


@pytest.mark.parametrize("kind", ["ngram-map-k", "ngram-map-k4v", "ngram-mod"])
def test_that_lengths_change_live(kind: str) -> None:
    drafter, _ = _learned(kind)
    drafter.set_live(
        EngineConfig(
            spec_types=(kind,), ngram_size_n=3, ngram_size_m=5, ngram_mod_n_match=3,
            ngram_mod_n_min=1, ngram_mod_n_max=5,
        )
    )  # fmt: skip
    text = [1, *_PASSAGE, *range(50, 90), *_PASSAGE[:6]]
    assert _draft(drafter, text) == _PASSAGE[6:11]


@pytest.mark.parametrize("kind", ["ngram-map-k", "ngram-map-k4v"])
def test_that_a_text_cut_in_its_middle_is_gone_on_with(kind: str) -> None:
    """As a context shift cuts it; llama.cpp would abort."""
    drafter, _ = _learned(kind)
    text = [1, *range(50, 90), *_PASSAGE, 3, 4, 5, 6, 7, 8, 9, *range(90, 100), *_PASSAGE[:6]]
    assert _draft(drafter, text[20:]) == _PASSAGE[6:14]


def test_that_the_oldest_of_two_equal_followers_counts_less() -> None:
    drafter = _drafter("ngram-cache")
    text = [1, 2, 3, 4, 5, 1, 2, 3, 4, 6, 1, 2, 3, 4]
    assert _draft(drafter, text)[0] == 6


@pytest.mark.parametrize("kind", list(NGRAM_KINDS))
def test_that_a_step_does_not_walk_over_a_long_text(kind: str) -> None:
    """32k tokens of few words: the next token must not cost a loop over them."""
    drafter = _drafter(kind, ngram_mod_n_min=1)
    text = np.tile(_array([1, 2, 3]), 11_000)
    text[::97] = 9
    drafter.begin(0, text)
    drafter.draft([Wanted(0, text, 48)])
    longer = np.append(text, _array([1, 2]))
    assert lines_run(lambda: drafter.draft([Wanted(0, longer, 48)])) < 2000
