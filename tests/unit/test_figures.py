from __future__ import annotations

import pytest

from app.figures import answer_figures, bytes_text, end_text, seconds_text, speed_text
from engine_bridge.protocol import RequestFinished, RequestTiming


def timing(**changes: object) -> RequestTiming:
    fields: dict[str, object] = {
        "queue_s": 0.0, "prefill_s": 0.29, "ttft_s": 0.31, "tpot_s": 0.0171, "itl_p50_s": 0.017,
        "itl_p99_s": 0.031, "prompt_tok": 541, "reused_tok": 498, "new_tok": 208,
    }  # fmt: skip
    return RequestTiming(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.00002, "20 µs"), (0.0171, "17.1 ms"), (0.31, "310 ms"), (0.99949, "999 ms"),
        (0.9996, "1.00 s"), (1.239, "1.24 s"), (12.34, "12.3 s"), (125.0, "2 min 5 s"),
    ],
)  # fmt: skip
def test_that_a_duration_has_three_digits_and_a_unit(seconds: float, text: str) -> None:
    assert seconds_text(seconds).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1024, "1.00 KiB"), (20_900_000, "19.9 MiB"),
     (500 * 2**20, "500 MiB"), (2**30, "1.00 GiB"), (5 * 2**50, "5120 TiB")],
)  # fmt: skip
def test_that_a_size_has_a_binary_unit(size: int, text: str) -> None:
    assert bytes_text(size).replace("\u202f", " ") == text


def test_that_slow_speeds_keep_a_decimal() -> None:
    assert speed_text(4.25).startswith("4.2")
    assert speed_text(58.4).startswith("58")


def test_that_the_figures_name_reused_computed_drafted_and_accepted_tokens() -> None:
    line = answer_figures(timing(drafted_tok=208, accepted_tok=162)).replace("\u202f", " ")
    assert line == (
        "TTFT 310 ms · TPOT 17.1 ms · 58 tok/s · prompt 541 (498 reused, 43 computed) · 208 new"
        " · drafted 208, accepted 162 (78%)"
    )


def test_that_figures_which_were_not_measured_are_left_out() -> None:
    line = answer_figures(timing(ttft_s=None, tpot_s=None, new_tok=0))
    assert "TTFT" not in line
    assert "TPOT" not in line


@pytest.mark.parametrize("reason", ["token_limit", "context_full", "pool_full", "failed"])
def test_that_every_answer_cut_short_says_so(reason: str) -> None:
    words, is_warning = end_text(RequestFinished(1, reason, "", timing(), 5))  # type: ignore[arg-type]
    assert words
    assert is_warning


def test_that_a_normal_end_says_nothing() -> None:
    assert end_text(RequestFinished(1, "end", "", timing(), 5)) == (None, False)


def test_that_what_was_computed_again_is_said_beside_the_end() -> None:
    why = "199 tokens are computed again: another conversation took the slot."
    assert end_text(RequestFinished(1, "end", "", timing(), 5, why)) == (why, False)
    cut = RequestFinished(1, "context_full", "Full.", timing(), 5, why)
    assert end_text(cut) == (f"Full. {why}", True)


def test_that_a_stop_text_is_shown_visibly() -> None:
    words, _ = end_text(RequestFinished(1, "stop_text", "\n", timing(), 5))
    assert words == "Ended at the stop text '\\n'."


def test_that_what_was_thought_is_told_apart() -> None:
    assert "304 new (120 thought)" in answer_figures(timing(new_tok=304, think_tok=120))
    assert "304 new" in answer_figures(timing(new_tok=304))
    assert "thought" not in answer_figures(timing(new_tok=304))
