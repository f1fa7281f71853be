from __future__ import annotations

from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.quality_words import (
    gqa_sentence,
    quality_lines,
    quality_table,
    verdict_sentences,
)

FIGURES = {
    "scored_tok": 5100.0, "chunks": 20.0,
    "mean_kld": 0.009673, "mean_kld_error": 0.000412,
    "median_kld": 0.0041, "p90_kld": 0.02, "p99_kld": 0.09, "max_kld": 0.8,
    "same_top_share": 0.9562, "same_top_share_error": 0.0029,
    "ppl_base": 12.3412, "ppl_base_error": 0.3, "ppl": 12.3606, "ppl_error": 0.31,
    "ppl_ratio": 1.0016, "ppl_ratio_error": 0.0012,
    "mean_kld_from_256_tok": 0.011, "mean_kld_from_256_tok_error": 0.001,
    "same_top_share_from_256_tok": 0.95, "same_top_share_from_256_tok_error": 0.004,
    "facts": 20.0, "recall_ctx_tok": 2048.0, "recall_share_base": 0.9, "recall_share": 0.85,
    "recall_lost": 2.0,
    "kv_bytes": 25_067_520.0, "kv_base_bytes": 47_185_920.0, "kv_ctx_tok": 16_384.0,
    "tpot_s": 0.0183, "tpot_base_s": 0.0181, "tpot_ratio": 1.011, "tpot_ratio_low": 0.99,
    "tpot_ratio_high": 1.03, "tpot_depth_tok": 2024.0,
}  # fmt: skip
CELL = Cell("q8_0/q8_0", {"cache_type_k": "q8_0"}, extra=FIGURES)


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_that_the_verdict_says_what_it_costs_and_what_it_buys() -> None:
    cost, word, recall, gain = map(plain, verdict_sentences(CELL))
    assert word.startswith("In a word, the loss of q8_0/q8_0 is small.")
    assert "mean KLD of 0.009673 ± 0.000412 over 5,100 tokens" in cost
    assert "95.62 ± 0.29 %" in cost
    assert "from 12.34 to 12.36 (× 1.0016 ± 0.0012, no clear difference)" in cost
    assert "Of 20 facts told in 2,048 tokens the base recalled 18 and q8_0/q8_0 17" in recall
    assert "2 of those that the base recalled are lost" in recall
    assert (
        "buys memory: the KV cache takes 23.9 MiB in place of 45.0 MiB at 16,384 tokens (47 % less)"
        in gain
    )
    assert (
        "TPOT behind 2,024 tokens shows no difference (between 1.0 % shorter and 3.0 % longer)"
        in gain
    )


def test_that_a_clear_difference_is_called_one() -> None:
    figures = FIGURES | {
        "ppl_ratio": 1.02, "tpot_ratio": 1.2, "tpot_ratio_low": 1.1, "tpot_ratio_high": 1.3,
    }  # fmt: skip
    cost, _, _, gain = verdict_sentences(Cell("q4_0/q4_0", extra=figures))
    assert "no clear difference" not in cost
    assert "is 20.0 % longer than the base's (between 10.0 % longer and 30.0 % longer)" in gain


def test_that_only_what_was_measured_is_told() -> None:
    few = {key: FIGURES[key] for key in FIGURES if not key.startswith(("kv", "tpot", "recall"))}
    del few["facts"]
    assert len(verdict_sentences(Cell("q8_0/q8_0", extra=few))) == 2
    assert verdict_sentences(Cell("q8_0/q8_0")) == ()


def test_that_the_table_has_a_column_for_each_cache_and_no_empty_line() -> None:
    base = Cell("f16/f16", extra={"ppl": 12.3412, "ppl_error": 0.3})
    lines = quality_table([base, CELL])
    assert lines[0].split() == ["f16/f16", "q8_0/q8_0"]
    [perplexity] = [line for line in lines if line.startswith("perplexity")]
    assert "12.3412 ± 0.3000" in perplexity
    assert perplexity.endswith("12.3606 ± 0.3100")
    assert any(line.startswith("  from 256 tok") for line in lines)
    assert max(map(len, lines)) <= 80
    few = quality_table([base])
    assert not any("KLD" in line for line in few)


def test_that_what_was_skipped_and_what_the_figures_mean_are_told() -> None:
    skipped = Cell("q4_0/q4_0", skipped="Quantised V needs flash attention.")
    experiment = Experiment(
        "k", Kind.QUALITY, "2026-11-30T11:00:00+00:00", State.DONE, "KV cache of m against f16",
        Subject(model="m"), cells=(Cell("f16/f16", extra={"ppl": 1.0, "ppl_error": 0.0}),
                                   CELL, skipped),
        conclusion=verdict_sentences(CELL),
    )  # fmt: skip
    text = " ".join(" ".join(quality_lines(experiment)).split())
    assert "skipped q4_0/q4_0: Quantised V needs flash attention." in text
    assert "as llama-perplexity --kl-divergence defines them" in text
    assert "costs a mean KLD" in text


def test_that_the_gqa_ratio_is_explained() -> None:
    assert gqa_sentence(7.0) == "GQA ratio 7: each KV head serves 7 query heads."
    assert "a KV head of its own" in gqa_sentence(1.0)
    assert gqa_sentence(0.0) == ""
