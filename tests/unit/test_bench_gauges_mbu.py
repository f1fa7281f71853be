from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from engine_bridge.gguf_file import read_model, read_model_facts, weight_reads
from engine_bridge.gguf_header import read_header
from engine_bridge.protocol import StepsMeasured
from tests.bench import gauges_bytes, gauges_words
from tests.bench.gauges_bytes import StepReads, count_step_reads
from tests.bench.gauges_mbu import Decode, Peak, counted_bytes, whole_spans
from tests.bench.work import ContenderError
from tests.tiny_model import TinyLlama, write_tiny_llama

READS = StepReads(weight_bytes=1_000, row_bytes=3, left_out_bytes=90, kv_bytes_per_tok=10)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shape = TinyLlama(vocab_tok=512)
    return write_tiny_llama(tmp_path_factory.mktemp("gauges") / "tiny.gguf", shape)


# --- Our own count --------------------------------------------------------------------------


def test_that_the_count_leaves_out_the_table_that_is_looked_up(tiny: Path) -> None:
    reads = count_step_reads(tiny)
    assert reads.left_out_bytes == 512 * 128 * 4
    assert reads.row_bytes == 128 * 4
    model = read_model(tiny)
    assert reads.weight_bytes == sum(t.bytes for t in model.tensors) - reads.left_out_bytes
    assert reads.weight_bytes == weight_reads(model.tensors, model.facts).per_step_bytes(1)


def test_that_the_count_of_the_cache_is_keys_and_values_of_every_layer(tiny: Path) -> None:
    assert count_step_reads(tiny).kv_bytes_per_tok == 2 * 2 * (32 + 32) * 2
    assert count_step_reads(tiny).kv_bytes_per_tok == read_model_facts(tiny).bytes_per_token_f16


def test_that_a_mixture_of_experts_is_refused(tmp_path: Path) -> None:
    shape = TinyLlama(vocab_tok=512, experts=4, experts_used=2)
    path = write_tiny_llama(tmp_path / "experts.gguf", shape)
    with pytest.raises(ValueError, match="expert_count"):
        count_step_reads(path)


def test_that_a_table_that_contradicts_its_offsets_is_refused(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = read_header(tiny)
    halved = tuple(replace(tensor, type_name="F16") for tensor in header.tensors)
    monkeypatch.setattr(gauges_bytes, "read_header", lambda _: replace(header, tensors=halved))
    with pytest.raises(ValueError, match="in the file"):
        count_step_reads(tiny)


def test_that_a_step_reads_weights_once_and_rows_and_cache_of_each_stream() -> None:
    assert READS.of_step(streams=4, depths_tok=50) == 1_000 + 4 * 3 + 50 * 10


# --- Spans ----------------------------------------------------------------------------------


def _span(
    streams: int,
    steps: int,
    decode_steps: int | None = None,
    tokens: int | None = None,
    at: int = 0,
) -> StepsMeasured:
    decoding = steps if decode_steps is None else decode_steps
    return StepsMeasured(
        begin_ns=at, end_ns=at + 100, busy_s=0.09, steps=steps, decode_steps=decoding,
        decode_s=0.09, decode_bytes=1, decoded_tok=steps * streams if tokens is None else tokens,
        prefilled_tok=0 if decoding == steps else 16, prefill_s=0.0, longest_step_s=0.03,
        streams=streams, slots=(),
    )  # fmt: skip


def test_that_only_spans_with_all_streams_and_no_prompt_count() -> None:
    spans = [
        _span(2, 3, 2, at=0), _span(2, 4, at=1), _span(2, 4, at=2), _span(2, 4, at=3),
        _span(2, 4, at=4), _span(1, 4, at=5), _span(2, 0, at=6),
    ]  # fmt: skip
    assert whole_spans(spans, 2) == spans[2:4]


def test_that_a_run_too_short_to_say_anything_is_an_error() -> None:
    with pytest.raises(ContenderError, match="too short"):
        whole_spans([_span(1, 4, at=at) for at in range(3)], 1)


def test_that_our_count_follows_the_depth_of_the_slots() -> None:
    # The prompt's step delivers a token, then steps of two and three: depths 17, 18 | 19, 20, 21.
    spans = [_span(1, 1, 0, tokens=1), _span(1, 2, at=1), _span(1, 3, at=2)]
    counted = counted_bytes(spans, spans[1:], 1, READS)
    assert counted == sum(1_000 + 3 + 10 * depth for depth in (17, 18, 19, 20, 21))


def test_that_our_count_adds_up_the_depths_of_all_streams() -> None:
    spans = [_span(2, 2, 0, tokens=2), _span(2, 2, at=1)]
    counted = counted_bytes(spans, spans[1:], 2, READS)
    assert counted == sum(1_000 + 6 + 10 * 2 * depth for depth in (17, 18))


# --- What runs come to ----------------------------------------------------------------------


_PROCESSES = itertools.count()


def _decode(
    gb_per_s: float = 40.0, peak: float = 60.0, threads: int = 2, streams: int = 1, **more: float
) -> Decode:
    """A run of a process of its own."""
    run = Decode(
        threads=threads,
        streams=streams,
        peak=Peak(peak * 1e9, "read by 2 threads", 0.02, is_lower_bound=False),
        bytes_per_s=gb_per_s * 1e9,
        highest_bytes_per_s=gb_per_s * 1.02e9,
        points=30,
        step_bytes=1e9,
        counted_step_bytes=1e9,
        weight_bytes=990_000_000,
        step_s=0.025,
        outside_s=0.0001,
        others=0.0,
        process=next(_PROCESSES),
        beside_bytes_per_s=60e9,
    )
    return replace(run, **more)  # type: ignore[arg-type]


def _verdicts(*runs: Decode) -> list[bool]:
    said = gauges_words.verdicts(gauges_words.cells_of(runs))
    return ["MISSED" not in line for line in said]


def test_that_the_farthest_value_is_told_as_a_share_of_the_median() -> None:
    assert gauges_words.farthest([0.60, 0.70, 0.65]) == pytest.approx(0.05 / 0.65)
    assert gauges_words.farthest([0.65]) == 0


def test_that_a_spread_is_the_range_over_the_median() -> None:
    assert gauges_words.spread([0.60, 0.70, 0.65]) == pytest.approx(0.10 / 0.65)


def test_that_steady_runs_meet_every_target() -> None:
    assert _verdicts(_decode(40.0), _decode(41.0), _decode(40.5)) == [True] * 5


def test_that_runs_that_differ_by_more_than_a_twentieth_miss_the_target() -> None:
    assert _verdicts(_decode(40.0), _decode(44.0), _decode(41.0)) == [False] * 3 + [True] * 2


def test_that_a_peak_that_differs_by_process_misses_only_the_target_of_own_peaks() -> None:
    assert _verdicts(*[_decode(peak=peak) for peak in (60.0, 60.0, 66.0)]) == [
        True,
        True,
        False,
        True,
        True,
    ]


def test_that_a_memory_that_gives_less_for_a_time_misses_only_the_target_of_one_peak() -> None:
    slow = _decode(34.0, peak=51.0, beside_bytes_per_s=51e9)
    assert _verdicts(_decode(), slow) == [False, True, True, True, True]


def test_that_the_median_of_a_process_speaks_for_it() -> None:
    steady = [_decode(process=1) for _ in range(2)]
    (cell,) = gauges_words.cells_of([*steady, _decode(20.0, process=1), _decode(40.0, process=2)])
    assert cell.mbus == cell.beside == cell.shown == pytest.approx([40 / 60] * 2)


def test_that_one_point_above_the_peak_misses_the_target() -> None:
    high = _decode(highest_bytes_per_s=60.1e9)
    assert _verdicts(_decode(), high) == [True, True, True, False, True]


def test_that_two_counts_that_differ_miss_the_target() -> None:
    other = _decode(counted_step_bytes=0.99e9)
    assert _verdicts(_decode(), other) == [True, True, True, True, False]


def test_that_the_machines_peak_is_the_best_of_as_many_threads() -> None:
    slow = _decode(peak=30.0, threads=1, beside_bytes_per_s=1e9)
    runs = [_decode(peak=60.0), _decode(peak=64.0), slow]
    one, two = gauges_words.cells_of(runs)
    assert (one.best_peak, two.best_peak) == (30e9, 64e9)
    assert two.mbus == pytest.approx([40 / 64, 40 / 64])
    assert two.shown == pytest.approx([40 / 60, 40 / 64])


def test_that_a_further_stream_costs_what_its_bytes_do_not_explain() -> None:
    # 3 streams more: 60 ms, of which reading 0.6 GB at 60 GB/s takes 10.
    runs = [_decode(), _decode(streams=4, step_s=0.085, step_bytes=1.6e9)]
    cells = gauges_words.cells_of(runs)
    assert gauges_words.row_compute_s(2, cells) == pytest.approx(0.050 / 3)
    assert gauges_words.row_compute_s(2, cells[:1]) is None


def test_that_the_explanation_says_ceiling_speed_and_the_rest() -> None:
    (cell,) = gauges_words.cells_of([_decode(), _decode()])
    said = gauges_words.explanation(cell, [cell])
    for part in ("60.0 GB/s ÷ 1.000 GB = 60.0 steps/s", "measured 40.0", "16.7 ms", "8.3 ms"):
        assert part in said


def test_that_other_programs_and_lower_bounds_are_remarked() -> None:
    assert gauges_words.remarks([_decode()]) == []
    poor = Peak(50e9, "read by 2 threads", 0.2, is_lower_bound=True)
    said = " ".join(gauges_words.remarks([replace(_decode(others=0.4), peak=poor)]))
    assert "40%" in said
    assert "lower bound" in said


def test_that_the_table_and_the_file_hold_every_cell() -> None:
    runs = [_decode(streams=streams) for streams in (1, 4) for _ in range(2)]
    assert gauges_words.table("a model", runs).count("GB = ") == 2
    content = gauges_words.as_json("a model", runs)
    assert [cell["streams"] for cell in content["cells"]] == [1, 4]
    assert len(content["runs"]) == 4
    assert len(content["targets"]) == 5


def test_that_a_lower_bound_does_not_judge_what_stands_above_it() -> None:
    poor = Peak(30e9, "read by 2 threads", 0.2, is_lower_bound=True)
    above = replace(_decode(), peak=poor)
    (_, _, _, judged, _) = gauges_words.verdicts(gauges_words.cells_of([above, above]))
    assert "NOT JUDGED" in judged
    (_, _, _, judged, _) = gauges_words.verdicts(gauges_words.cells_of([above, _decode()]))
    assert "met (highest point 68.0%)" in judged
    assert "none" in gauges_words.table("a model", [above, above])
