"""The ceiling in words: every figure with its unit, every odd case explained."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine_bridge.metrics.bandwidth_meter import Peak, PeakPart
from engine_bridge.metrics.ceiling import CeilingView, estimate_of
from tests.widgets.ceilings import HOST, ONE, TWO, UNKNOWN, decode, prefill
from widgets.ceiling_words import (
    headline,
    left_text,
    mbu_text,
    notes,
    parts_text,
    point_text,
    rate_text,
    rows,
    size_text,
    speed_text,
    unbroken,
)


def test_that_the_ceiling_is_a_sum_a_person_can_check() -> None:
    assert headline(ONE) == (
        "61.2 GB/s ÷ 1.07 GB a step = 56.9 steps/s. You are at 38.0 steps/s, 67 % of it: the rest "
        "is compute, waiting and other programs."
    )
    assert mbu_text(ONE) == "MBU 67 %"
    assert parts_text(ONE) == "1.04 GB weights + 35.0 MB KV of one stream"
    assert speed_text(ONE) == "One stream, a token a step: 38 tok/s"


def test_that_the_rest_is_compute_where_the_prompts_prove_it() -> None:
    # 3.1 operations at 461 billion a second take 6.7 of the 8.7 ms that reading leaves.
    assert headline(replace(ONE, best_prefill=prefill(3.0))).endswith("the rest is compute.")
    (note,) = notes(replace(ONE, best_prefill=prefill(3.0)))
    assert note == (
        "A step takes 26.3 ms: reading at the peak 17.6 ms, computing at the best prefill rate "
        "seen 6.73 ms."
    )


def test_that_a_step_says_where_the_rest_of_it_is() -> None:
    slow = replace(ONE, present=decode(1, 0.164), best_prefill=prefill(3.0))
    (note,) = notes(slow)
    assert note == (
        "A step takes 164 ms: reading at the peak 17.6 ms, computing at the best prefill rate "
        "seen 6.73 ms; the rest, 140 ms, is waiting, other programs and what neither counts."
    )
    # Without a prompt there is no telling what computing takes, and what is left.
    assert "rest" not in notes(replace(slow, best_prefill=None))[0]


def test_that_a_model_in_the_caches_is_the_first_thing_told() -> None:
    said = notes(replace(ONE, cache_bytes=2_000_000_000))
    assert said[0].startswith("1.07 GB fit into the processor's caches")
    assert said[1].startswith("A step takes")


def test_that_several_streams_have_a_speed_each_and_one_in_all() -> None:
    assert speed_text(TWO) == "2 streams, a token a step each: 32 tok/s per user, 64 tok/s in all"
    assert parts_text(TWO) == "1.04 GB weights + 70.0 MB KV of 2 streams"


def test_that_drafts_are_told_with_what_they_read() -> None:
    work = decode(1, 0.04, computed_tok=400, delivered_tok=240, draft_bytes=31e9)
    view = replace(ONE, present=work, decoding=(work,))
    assert view.has_drafts
    assert speed_text(view) == "One stream, 2.40 tokens a step: 60 tok/s"
    assert parts_text(view).endswith(" + 0.31 GB of what drafts")


def test_that_a_past_is_told_as_one() -> None:
    assert "The last steps ran at 38.0 steps/s, 67 % of it" in headline(replace(ONE, is_live=False))


def test_that_a_lower_bound_is_one() -> None:
    text = headline(replace(ONE, peak=replace(HOST, is_lower_bound=True)))
    assert text.startswith("At least 61.2 GB/s ÷ 1.07 GB a step = at least 56.9 steps/s.")


def test_that_no_model_and_no_step_say_what_will_come() -> None:
    assert headline(CeilingView()).startswith("No model runs.")
    nothing = replace(ONE, present=None, decoding=())
    assert headline(nothing) == (
        "Nothing was decoded yet with these settings; send a message. 61.2 GB/s ÷ 1.04 GB of "
        "weights = 58.8 steps/s, before any text lies in the cache."
    )
    mixture = headline(replace(nothing, experts=8))
    assert mixture.endswith("The memory delivers 61.2 GB/s.")
    unmeasured = headline(replace(nothing, peak=Peak()))
    assert unmeasured.endswith("is measured in the next quiet moment.")
    assert mbu_text(nothing) == "MBU –"
    assert (parts_text(nothing), speed_text(nothing), left_text(nothing)) == ("", "", "")


def test_that_an_unknown_peak_has_no_ceiling_and_says_whose() -> None:
    text = headline(replace(ONE, peak=UNKNOWN))
    assert text == (
        "1.07 GB a step at 38.0 steps/s: 40.9 GB/s. There is no ceiling to hold it against (peak "
        "of RTX 3090 unknown)."
    )
    assert "%" not in text


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"peak": replace(HOST, bytes_per_s=30e9, is_lower_bound=True)}, "it is higher"),
        ({"peak": replace(HOST, bytes_per_s=30e9), "experts": 8}, "Fewer experts were read"),
        ({"peak": replace(HOST, bytes_per_s=30e9)}, "processor's caches (32.0 MB)"),
        ({"peak": replace(HOST, bytes_per_s=30e9), "cache_bytes": 0}, "taken too low"),
        ({"peak": replace(HOST, bytes_per_s=30e9), "cache_bytes": 2_000_000_000}, "stay in"),
    ],
)
def test_that_more_than_the_peak_is_shown_and_explained(
    change: dict[str, object], why: str
) -> None:
    text = headline(replace(ONE, **change))  # type: ignore[arg-type]
    assert "136 % of it: more than the memory is known to deliver." in text
    assert why in text


def test_that_a_model_in_the_caches_is_told_so() -> None:
    view = replace(ONE, cache_bytes=2_000_000_000)
    assert headline(view).endswith("67 % of it.")
    assert "fit into the processor's caches (2.00 GB)" in " ".join(notes(view))
    on_board = replace(view, peak=Peak(900e9, "", (PeakPart("RTX 3090", 1e9, 900e9),)))
    assert not on_board.fits_in_cache


def test_that_a_peak_read_from_the_caches_is_told_as_one() -> None:
    view = replace(ONE, cache_bytes=480_000_000)
    assert "in part from them" not in " ".join(notes(view))
    told = " ".join(notes(replace(view, peak=replace(HOST, is_of_cache=True))))
    assert "caches (0.48 GB), in part from them" in told
    assert "main memory may deliver less" in told


def test_that_devices_read_one_after_the_other_are_named() -> None:
    parts = (PeakPart("RTX 3090", 3e9, 936e9), PeakPart("CPU", 1e9, 60e9))
    view = replace(ONE, peak=Peak(201e9, "", parts))
    text = " ".join(notes(view))
    assert "3.00 GB in RTX 3090 at 936 GB/s + 1.00 GB in main memory at 60.0 GB/s" in text
    assert "act like 201 GB/s" in text
    assert "rough" not in text
    assert "rough" in " ".join(notes(replace(view, experts=8)))


def test_that_weights_read_twice_are_told_with_the_reason() -> None:
    work = decode(2, 0.05, passes=200, weight_bytes=208e9)
    view = replace(TWO, present=work, has_pools=True)
    assert parts_text(view).startswith("2.08 GB weights (2.00 times)")
    assert "a unified KV cache" in " ".join(notes(view))
    assert "micro-batches" in " ".join(notes(replace(view, has_pools=False)))


def test_that_a_row_holds_what_its_streams_did() -> None:
    one, two, four = rows(TWO)
    assert one.cells == ("40.9", "67 %", "38.0", "38.0", "1.00 ×")
    assert two.is_present
    assert two.cells == ("35.7", "58 %", "32.2", "64.3", "1.69 ×")
    assert (four.streams, four.is_present) == (4, False)
    without_one = rows(replace(TWO, decoding=TWO.decoding[1:], peak=UNKNOWN))
    assert without_one[0].cells[1] == without_one[0].cells[4] == "–"


def test_that_many_numbers_of_streams_keep_the_ends_and_the_present() -> None:
    works = tuple(decode(streams, 0.03) for streams in range(1, 17))
    shown = [row.streams for row in rows(replace(TWO, decoding=works, present=works[6]))]
    assert len(shown) == 6
    assert {1, 7, 16} <= set(shown)
    assert shown == sorted(shown)


def test_that_what_is_left_follows_from_the_measured_steps() -> None:
    found = estimate_of(TWO)
    assert found is not None
    assert found.measured == (1, 2, 4)
    assert not found.uses_prefill
    assert found.streams == 8
    # 26.5 ms + 4.62 ms for each further stream, by least squares.
    assert found.total_tok_s == pytest.approx(8 / (0.0265 + 7 * 0.00462), rel=0.02)
    assert found.gain == pytest.approx(found.total_tok_s / (2 / 0.0311))
    # 3.1 of 461 billion operations a second: 149 tokens, whatever the line says beyond it.
    assert found.limit_tok_s == pytest.approx(461e9 / 3.1e9, rel=0.02)
    text = left_text(TWO)
    assert text.startswith("Estimate from the measured steps: 8 streams about 136 tok/s in all")
    assert "no number of streams goes beyond 149 tok/s" in text
    assert "From about 3 streams on compute takes longer than reading." in text


def test_that_a_single_number_of_streams_needs_the_best_prefill() -> None:
    assert estimate_of(ONE) is None
    assert "once a longer prompt was read" in left_text(ONE)
    found = estimate_of(replace(ONE, best_prefill=prefill(3.0)))
    assert found is not None
    assert found.uses_prefill
    assert found.streams == 2
    assert found.total_tok_s == pytest.approx(2 / (0.0263 + 0.00673 + 0.035 / 61.2), rel=0.01)
    assert "of one stream and the best prefill" in left_text(
        replace(ONE, best_prefill=prefill(3.0))
    )
    slow = left_text(replace(ONE, best_prefill=prefill(5.8)))
    assert "From about 2 streams on compute takes longer than reading." in slow  # from 1.35 on
    # With more streams more experts are read, and one number of streams does not tell how many.
    assert estimate_of(replace(ONE, best_prefill=prefill(3.0), experts=8)) is None


def test_that_a_point_is_told_with_its_units() -> None:
    assert point_text(TWO, TWO.decoding[1]) == (
        "Decode, 2 streams: 199 Gop/s at 5.59 op/byte, MBU 58 %, 64 tok/s in all"
    )
    assert point_text(TWO, prefill(3.0)) == "Prefill: 461 Gop/s at 1,317 op/byte, 171 tok/s"


@pytest.mark.parametrize(
    ("size", "text"),
    [(1.11e9, "1.11 GB"), (0.07e9, "70.0 MB"), (0.11e9, "0.11 GB"), (900.0, "0.90 kB")],
)
def test_that_sizes_keep_three_digits(size: float, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0.0, "0.00 op/s"), (999.0, "999 op/s"), (118e9, "118 Gop/s"), (1e12, "1.00 Top/s")],
)
def test_that_rates_keep_three_digits(rate: float, text: str) -> None:
    assert rate_text(rate) == text


def test_that_no_line_ends_between_a_number_and_its_unit() -> None:
    text = unbroken("61.2 GB/s ÷ 1.11 GB a step = 55.1 steps/s.")
    assert text.split(" ") == [
        "61.2\u00a0GB/\u2060s",
        "÷\u00a01.11\u00a0GB",
        "a",
        "step",
        "=\u00a055.1\u00a0steps/\u2060s.",
    ]
