"""Figures of one kind of experiment, told by their names."""

from __future__ import annotations

import math

import pytest

from app.experiments.extra_figures import extra_figures, extra_label


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("mean_kld", 0.0006123, "Mean KLD: 0.0006123"),
        ("p99_kld", 0.00001234567, "P99 KLD: 0.00001235"),
        ("mean_kld", 0.00000123, "Mean KLD: 1.23e-06"),
        ("same_top_share", 0.9912, "Same top: 99.12 %"),
        ("ppl_ratio", 1.0007, "PPL ratio: 1.001"),
        ("kv_bytes", 23 * 2**20, "KV: 23 MiB"),
        ("peak_bytes_per_s", 51.2e9, "Peak: 51.2 GB/s"),
        ("tpot_s", 0.0182, "TPOT: 18.2 ms"),
        ("tpot_s", 1.5, "TPOT: 1.5 s"),
        ("goodput_req_s", 1.25, "Goodput: 1.25 req/s"),
        ("recall_ctx_tok", 8192, "Recall ctx: 8,192 tok"),
        ("facts", 0.0, "Facts: 0"),
        ("gain", -0.5, "Gain: -0.5"),
        ("odd", math.inf, "Odd: inf"),
        ("_s", 2.0, "_s: 2 s"),
    ],
)
def test_that_a_figure_is_told_with_its_unit(name: str, value: float, told: str) -> None:
    (figure,) = extra_figures({name: value})
    assert f"{figure.label}: {figure.text}" == told


def test_that_an_error_stands_with_its_figure_in_the_same_unit() -> None:
    extra = {"mean_kld_error": 0.00002, "mean_kld": 0.0006, "same_top_share": 0.9,
             "same_top_share_error": 0.00312, "lone_error": 1.0}  # fmt: skip
    told = [figure.text for figure in extra_figures(extra)]
    assert told == ["0.0006 ± 0.00002", "90 ± 0.31 %", "1"]


def test_that_a_label_has_no_unit() -> None:
    assert extra_label("kv_bytes") == "KV"
    assert extra_label("same_top_share") == "Same top"
