"""The last line of a process that ended, fit to stand in a sentence."""

from __future__ import annotations

import pytest

from engine_bridge.own_failure import last_words


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("", ""),
        ("\n \n", ""),
        ("first\nGGML_ASSERT(x) failed\n", " Its last line: GGML_ASSERT(x) failed."),
        ("It ends by itself.", " Its last line: It ends by itself."),
        ("type '\x85llama\x1b[31m'", " Its last line: type 'llama[31m'."),
    ],
)
def test_that_it_is_a_sentence_of_characters_that_can_be_shown(said: str, wanted: str) -> None:
    assert last_words(said) == wanted


def test_that_a_flood_is_cut() -> None:
    assert len(last_words("x" * 10_000)) < 300
