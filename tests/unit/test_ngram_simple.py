"""ngram-simple drafts what llama.cpp drafts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.child.speculation.choice import drafters_of
from engine_bridge.child.speculation.ngram_simple import NgramSimple
from engine_bridge.settings.config import EngineConfig
from tests.unit.lines_run import lines_run
from tests.unit.lookup_files import no_file


def _drafter(match_tok: int, draft_tok: int) -> NgramSimple:
    return NgramSimple(EngineConfig(ngram_size_n=match_tok, ngram_size_m=draft_tok))


def _as_specified(history: list[int], n: int, m: int) -> list[int]:
    """The rules of common_ngram_simple_draft, one token at a time.

    The text before the newest token must be longer than n + m + 1; the latest place but 0 where the
    last n tokens stood before counts; at least n tokens must follow it there, newest excluded.
    """
    text, newest = history[:-1], history[-1]
    if len(text) <= n + m + 1:
        return []
    pattern = [*text[len(text) - n + 1 :], newest]
    for start in range(len(text) - n - 1, 0, -1):
        if text[start : start + n] == pattern:
            length = min(m, len(text) - (start + n))
            return text[start + n : start + n + length] if length >= n else []
    return []


@given(
    history=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    n=st.integers(1, 6),
    m=st.integers(1, 10),
)
def test_that_it_follows_llama_cpp_s_rules(history: list[int], n: int, m: int) -> None:
    drafted = _drafter(n, m).looked_up(np.asarray(history, np.int32), 1000)
    assert drafted.tolist() == _as_specified(history, n, m)


def test_that_it_quotes_what_followed_last_time() -> None:
    history = [0, *range(100, 140), 7, 8, *range(100, 112)]
    drafted = _drafter(12, 16).looked_up(np.asarray(history, np.int32), 1000)
    assert drafted.tolist() == list(range(112, 128))


def test_that_the_latest_occurrence_counts() -> None:
    history = [0, 5, 6, 1, 1, 0, 5, 6, 2, 2, 0, 0, 5, 6]
    assert _drafter(2, 2).looked_up(np.asarray(history, np.int32), 1000).tolist() == [2, 2]


def test_that_it_never_drafts_more_than_wanted() -> None:
    history = [99, *range(30), *range(12)]
    assert len(_drafter(12, 16).looked_up(np.asarray(history, np.int32), 5)) == 5


def test_that_a_draft_shorter_than_the_match_is_dropped() -> None:
    history = [*range(50), *range(12)]
    assert _drafter(12, 11).looked_up(np.asarray(history, np.int32), 1000).size == 0


def test_that_a_long_text_of_common_words_is_searched_in_few_steps() -> None:
    """32k tokens where the last token is every third one; a step must not wait for the search."""
    history = np.tile(np.asarray([1, 2, 3], np.int32), 11_000)
    history[-5] = 9
    drafter = _drafter(12, 48)
    assert lines_run(lambda: drafter.looked_up(history, 48)) < 200


def test_that_the_configuration_chooses_the_drafter() -> None:
    assert drafters_of(EngineConfig(), {}, {}, no_file) == {}
    config = EngineConfig(spec_types=("ngram-simple",), ngram_size_n=3, ngram_size_m=9)
    drafter = drafters_of(config, {}, {}, no_file)["ngram-simple"]
    assert isinstance(drafter, NgramSimple)
    assert (drafter.match_tok, drafter.draft_tok) == (3, 9)
    again = drafters_of(config, {"ngram-simple": drafter}, {}, no_file)
    assert again["ngram-simple"] is drafter
