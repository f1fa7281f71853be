from __future__ import annotations

import pytest

from app.context_use import ContextUse, TokenRate, text_bytes


def test_that_a_rate_follows_what_was_measured() -> None:
    rate = TokenRate()
    before = rate.tok(3600)
    assert before > 900
    rate.note(2000, 1000)
    assert rate.tok(2000) == 1000 + rate.tok(1)  # and a little around every message
    assert rate.tok(0) == 0


def test_that_a_few_tokens_are_no_measurement() -> None:
    rate = TokenRate()
    before = rate.tok(1000)
    rate.note(10, 10)
    rate.note(0, 500)
    assert rate.tok(1000) == before


@pytest.mark.parametrize("text", ["plain", "ж" * 10, "日本語" * 50_000])
def test_that_bytes_of_a_text_are_known_without_encoding_all_of_it(text: str) -> None:
    assert text_bytes(text) == len(text.encode())


@pytest.mark.parametrize(
    ("used", "words", "is_warning"),
    [
        (0, "", False),
        (3071, "", False),
        (3072, "75% of the context is used", False),
        (3687, "nearly full, 409 tokens are left. When it is full the answer stops", True),
    ],
)
def test_that_a_full_context_is_said_before_it_is_full(
    used: int, words: str, is_warning: bool
) -> None:
    text, warns = ContextUse(used, 4096).notice()
    assert words in text
    assert bool(text) is bool(words)
    assert warns is is_warning


def test_that_a_draft_that_will_not_fit_is_said_before_it_is_sent() -> None:
    use = ContextUse(1000, 4096, draft_tok=3100)
    text, is_warning = use.notice()
    assert is_warning
    assert "≈ 3,100 tokens and 3,096 are left: it will not fit" in text
    assert use.line() == "context ≈ 4,100 of 4,096 · 0 left · your text ≈ 3,100"
    assert ContextUse(1000, 4096, draft_tok=3000).notice() == ("", False)


def test_that_an_estimate_is_marked_as_one() -> None:
    use = ContextUse(3700, 4096, is_estimate=True)
    assert use.line() == "context ≈ 3,700 of 4,096 · 396 left"
    assert "about 396 tokens" in use.notice()[0]


def test_that_nothing_is_said_of_a_context_nobody_knows() -> None:
    assert ContextUse(10, 0, draft_tok=500).notice() == ("", False)
