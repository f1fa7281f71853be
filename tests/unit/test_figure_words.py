"""The figures of a stretch of time as words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine_bridge.metrics.stretch_figures import Limits, StretchFigures
from widgets.figure_words import (
    NO_VALUE,
    Cell,
    cells,
    count_text,
    count_tip,
    gaps_text,
    span_text,
)

BUSY = StretchFigures(
    length_s=120.0,
    requests=12,
    ttft_p50_s=0.312,
    ttft_p95_s=0.62,
    tpot_p50_s=0.0172,
    itl_p50_s=0.0171,
    itl_p95_s=0.0184,
    itl_p99_s=0.031,
    tokens=4920,
    throughput_tok_s=41.0,
    busy_tok_s=58.1,
    steps_length_s=120.0,
    ended=11,
    good=9,
    goodput_req_s=0.08,
    limits=Limits(0.5, 0.05),
)


def by_head(figures: StretchFigures) -> dict[str, Cell]:
    return {cell.head: cell for cell in cells(figures)}


def test_that_each_figure_has_its_unit_and_its_second_figure() -> None:
    shown = [(cell.head, cell.value, cell.unit, cell.note) for cell in cells(BUSY)]
    assert shown == [
        ("TTFT p50", "0.31", "s", "p95 0.62 s"),
        ("Per user p50", "58", "tok/s", "TPOT 17.2 ms"),
        ("In total", "41", "tok/s", "busy 58 tok/s"),
        ("Goodput", "0.08", "req/s", "9 of 11 ended"),
    ]
    assert gaps_text(BUSY) == "ITL p50 17.1, p95 18.4, p99 31.0 ms"
    assert count_text(BUSY) == "12 requests in 2 min"


def test_that_nothing_measured_is_a_dash_with_its_unit() -> None:
    for cell in cells(StretchFigures()):
        assert cell.value == NO_VALUE
        assert cell.unit
    assert gaps_text(StretchFigures()) == f"ITL {NO_VALUE}"
    assert count_text(StretchFigures()) == ""
    silent = replace(BUSY, tokens=0, throughput_tok_s=0.0, busy_tok_s=None)
    assert by_head(silent)["In total"].value == NO_VALUE


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(), "no limits set"),
        (Limits(0.5, None), "no TPOT limit"),
        (Limits(None, 0.05), "no TTFT limit"),
    ],
)
def test_that_goodput_says_which_limit_is_missing(limits: Limits, said: str) -> None:
    cell = by_head(replace(BUSY, limits=limits, good=None, goodput_req_s=None))["Goodput"]
    assert (cell.value, cell.note) == (NO_VALUE, said)
    assert "press L" in cell.tip
    assert cell.sentence == f"Goodput: none, {said}"


def test_that_every_figure_says_what_it_means() -> None:
    tips = {head: cell.tip for head, cell in by_head(BUSY).items()}
    assert "In the time shown" in tips["TTFT p50"]
    assert "1 / TPOT" in tips["Per user p50"]
    assert "pauses included" in tips["In total"]
    assert "both limits" in tips["Goodput"]
    assert "press L" not in tips["Goodput"]


def test_that_figures_of_fewer_steps_say_so() -> None:
    assert "not kept" not in count_tip(BUSY)
    assert "last 90 s" in count_tip(replace(BUSY, steps_length_s=90.0))


def test_that_one_request_is_no_requests() -> None:
    assert count_text(replace(BUSY, requests=1, length_s=8.0)) == "1 request in 8 s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (8.0, "8 s"),
        (99.4, "99 s"),
        (120.0, "2 min"),
        (152.0, "2.5 min"),
        (3600, "60 min"),
    ],
)
def test_that_a_span_is_short(seconds: float, text: str) -> None:
    assert span_text(seconds) == text
