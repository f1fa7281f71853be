"""A loss of quality in a word."""

from __future__ import annotations

import pytest

from app.experiments.quality_verdict import loss_sentence


def figures(kld: float, same_top: float, *, errors: float = 0.0) -> dict[str, float]:
    """Figures with errors of that share of the KLD, and a tenth of it of the tokens."""
    return {
        "scored_tok": 5100.0, "mean_kld": kld, "mean_kld_error": errors * kld,
        "same_top_share": same_top, "same_top_share_error": errors / 10,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kld", "same_top", "word"),
    [
        (0.0, 1.0, "negligible"),
        (0.005452, 0.96031, "negligible"),  # what weights in Q6_K lose
        (0.0096, 0.97, "small"),
        (0.003, 0.93, "small"),  # the worse of both counts
        (0.031273, 0.91901, "small"),
        (0.05, 0.93, "visible"),
        (0.02, 0.80, "visible"),
        (0.101913, 0.92, "visible"),
        (0.2, 0.80, "large"),
    ],
)
def test_that_a_loss_is_called_by_what_known_weights_lose(
    kld: float, same_top: float, word: str
) -> None:
    sentence = loss_sentence("q8_0/q8_0", figures(kld, same_top))
    assert sentence.startswith(f"In a word, the loss of q8_0/q8_0 is {word}. ")
    assert "lose on LLaMA 3 8B." in sentence


def test_that_what_it_is_held_against_is_told() -> None:
    assert loss_sentence("q8_0/q8_0", figures(0.0096, 0.95)) == (
        "In a word, the loss of q8_0/q8_0 is small. That is more than weights in Q6_K (KLD "
        "0.0055, same top 96 %) and no more than weights in Q4_K_M (KLD 0.0313, same top 92 %) "
        "lose on LLaMA 3 8B."
    )
    assert loss_sentence("a", figures(0.001, 0.99)).endswith(
        "That is no more than weights in Q6_K (KLD 0.0055, same top 96 %) lose on LLaMA 3 8B."
    )
    assert loss_sentence("a", figures(0.5, 0.7)).endswith(
        "That is more than weights in Q3_K_M (KLD 0.1019) lose on LLaMA 3 8B."
    )


def test_that_it_is_told_where_one_figure_alone_would_say_less() -> None:
    by_top = loss_sentence("a", figures(0.02, 0.80))
    assert by_top.endswith("By KLD alone it would be small.")
    by_kld = loss_sentence("a", figures(0.0096, 0.97))
    assert by_kld.endswith("By same top alone it would be negligible.")
    for both in (figures(0.0096, 0.95), figures(0.2, 0.80)):
        assert loss_sentence("a", both).endswith("lose on LLaMA 3 8B.")


def test_that_what_the_error_bars_leave_open_is_not_decided() -> None:
    sentence = loss_sentence("q8_0/q8_0", figures(0.0055, 0.97, errors=0.1))
    assert sentence.startswith(
        "In a word, the loss of q8_0/q8_0 is negligible or small: 5,100 tokens do not tell which, "
        "more chunks do. "
    )
    wide = loss_sentence("q4_0/q4_0", figures(0.05, 0.95, errors=0.6))
    assert "is negligible to large:" in wide
    assert wide.endswith("more chunks do. ") is False


def test_that_nothing_is_said_of_what_was_not_scored() -> None:
    assert loss_sentence("q8_0/q8_0", {"kv_bytes": 1.0}) == ""
