"""Events in, views out: every figure against hand-computed values."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import pytest

from engine_bridge import protocol
from engine_bridge.memory_plan import BytesByUse, DeviceBytes, EffectiveConfig, MemoryPlan
from engine_bridge.metrics.change_words import change_text
from engine_bridge.metrics.memory_meter import MemoryParts, split
from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.request_meter import request_lines
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.protocol import (
    Applied,
    BandwidthMeasured,
    DeviceFacts,
    Hello,
    MemoryMeasured,
    PlanReady,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    StepsMeasured,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.unit import fake_client

SECOND = 1_000_000_000
MS = 1_000_000
T0 = 1000 * SECOND  # not 0: a clock that starts anywhere
GIB = 1 << 30

EFFECTIVE = EffectiveConfig(4096, 4, False, 16384, "on", 0, 2048, 512, 2, 2, 4)
ON_CPU = MemoryPlan(
    BytesByUse(
        weights=GIB, weights_mapped=GIB, kv=3 * GIB, compute=GIB, host=6 * GIB, total=6 * GIB
    ),
    (DeviceBytes("CPU", weights=2 * GIB, kv=3 * GIB, compute=GIB),),
    EFFECTIVE,
    True,
    (),
    0.01,
)
ON_GPU = MemoryPlan(
    BytesByUse(weights=6 * GIB, kv=GIB, compute=GIB, total=8 * GIB),
    (
        DeviceBytes("CPU", weights=0, kv=0, compute=0),
        DeviceBytes("CUDA0", weights=6 * GIB, kv=GIB, compute=GIB),
    ),
    EFFECTIVE,
    True,
    (),
    0.01,
)
CUDA0 = DeviceFacts("CUDA0", "NVIDIA GeForce RTX 3090", "gpu", "CUDA", 16 * GIB, 24 * GIB)
CPU = DeviceFacts("CPU", "a processor", "cpu", "CPU", 20 * GIB, 32 * GIB)


def applied(plan: MemoryPlan = ON_CPU, **settings: object) -> Applied:
    config = EngineConfig().with_values(settings)
    return Applied(1, config, EFFECTIVE, "new context", 0.25, plan)


def span(
    end_ns: int, decode_bytes: int = 0, decode_s: float = 0.0, decoded_tok: int = 0, steps: int = 1
) -> StepsMeasured:
    begin_ns = end_ns - SECOND // 10
    return StepsMeasured(
        begin_ns, end_ns, decode_s, steps, steps, decode_s, decode_bytes, decoded_tok, 0, 0.0, 0.0,
        1, (),
    )  # fmt: skip


def system(at_ns: int, used: int = 10 * GIB, owned: int | None = 4 * GIB) -> MemorySnapshot:
    return MemorySnapshot(at_ns, "system", "System memory", 32 * GIB, used, owned, 5 * GIB)


def board(at_ns: int, owned: int | None = 8 * GIB) -> MemorySnapshot:
    return MemorySnapshot(
        at_ns, "gpu", CUDA0.description, 24 * GIB, 9 * GIB, owned, 0, None, 936e9, "bus × clock"
    )


def timing(ttft_s: float | None = 0.3, tpot_s: float | None = 0.02) -> RequestTiming:
    return RequestTiming(0.1, 0.2, ttft_s, tpot_s, 0.02, 0.03, 100, 40, 10)


def stream(meters: Meters, who: tuple[int, int], step_ms: int, steps: int, at: int) -> int:
    """Fold a request (its number, its slot) with a token a step; returns when the last came."""
    request_id, slot = who
    meters.fold(RequestStarted(request_id, slot, 100, 40, "", at), at)
    for number in range(1, steps + 1):
        now = at + number * step_ms * MS
        meters.fold(TokensDelivered(request_id, "x", (now,), (1,), now), now)
    return at + steps * step_ms * MS


def test_that_achieved_bandwidth_is_decode_bytes_over_decode_time() -> None:
    meters = Meters()
    meters.fold(BandwidthMeasured(60e9, 2, "read, 2 threads"), T0)
    meters.fold(span(T0, decode_bytes=4 * 10**9, decode_s=0.1, steps=4), T0)
    view = meters.view(T0 + SECOND).bandwidth
    assert view.last_bytes_per_s == pytest.approx(40e9)
    assert view.last_age_s == pytest.approx(1.0)
    assert view.mbu == pytest.approx(2 / 3)
    assert view.step_bytes == pytest.approx(1e9)
    assert view.ceiling_steps_per_s == pytest.approx(60)
    assert view.peak_how == "read, 2 threads"
    assert view.times_s.tolist() == [-1.0]


def test_that_a_prefill_span_is_a_gap_and_no_zero() -> None:
    meters = Meters()
    meters.fold(span(T0, 10**9, 0.1), T0)
    meters.fold(span(T0 + SECOND // 10), T0)
    view = meters.view(T0 + SECOND).bandwidth
    assert view.bytes_per_s[0] == pytest.approx(10e9)
    assert np.isnan(view.bytes_per_s[1])
    assert view.last_bytes_per_s == pytest.approx(10e9)


def test_that_silence_between_spans_is_a_gap() -> None:
    meters = Meters()
    meters.fold(span(T0, 10**9, 0.1), T0)
    meters.fold(span(T0 + 5 * SECOND, 10**9, 0.1), T0)
    assert np.isnan(meters.view(T0 + 6 * SECOND).bandwidth.bytes_per_s).tolist() == [
        False,
        True,
        False,
    ]


def test_that_a_board_is_held_against_its_own_peak() -> None:
    meters = Meters()
    meters.fold(BandwidthMeasured(60e9, 2, "read"), T0)
    meters.fold(MemoryMeasured(T0, 0, 0, (CPU, CUDA0)), T0)
    meters.note_memory((system(T0), board(T0)))
    meters.fold(applied(ON_GPU), T0)
    view = meters.view(T0).bandwidth
    assert view.peak_bytes_per_s == pytest.approx(936e9)
    assert view.peak_how == "bus × clock"


def test_that_a_board_without_a_known_peak_has_no_mbu() -> None:
    meters = Meters()
    meters.fold(BandwidthMeasured(60e9, 2, "read"), T0)
    meters.fold(MemoryMeasured(T0, 0, 0, (CPU, CUDA0)), T0)
    meters.fold(applied(ON_GPU), T0)
    meters.fold(span(T0, 10**9, 0.1), T0)
    view = meters.view(T0).bandwidth
    assert view.peak_bytes_per_s is None
    assert view.mbu is None
    assert "RTX 3090" in view.peak_how


def test_that_a_split_model_has_the_peak_of_its_slowest_way() -> None:
    meters = Meters()
    meters.fold(BandwidthMeasured(50e9, 2, "read"), T0)
    meters.fold(MemoryMeasured(T0, 0, 0, (CPU, CUDA0)), T0)
    meters.note_memory((system(T0), board(T0)))
    half = msgspec.structs.replace(
        ON_GPU,
        devices=(DeviceBytes("CPU", 5 * GIB, 0, 0), DeviceBytes("CUDA0", 5 * GIB, 0, 0)),
    )
    meters.fold(applied(half), T0)
    assert meters.view(T0).bandwidth.peak_bytes_per_s == pytest.approx(2 / (1 / 50e9 + 1 / 936e9))


def test_that_the_line_of_the_peak_begins_where_it_was_known_and_keeps_its_past() -> None:
    """Newcomer 11: the line was redrawn over the whole past."""
    meters = Meters()
    meters.fold(span(T0 - 20 * SECOND, 10**9, 0.1), T0 - 20 * SECOND)
    meters.fold(BandwidthMeasured(20e9, 2, "read", is_lower_bound=True), T0)
    meters.fold(BandwidthMeasured(60e9, 2, "read", runs=10), T0 + 40 * SECOND)
    view = meters.view(T0 + 60 * SECOND).bandwidth
    assert view.peak_times_s.tolist() == [-60.0, -20.0, -20.0, 0.0]
    assert view.peaks.tolist() == [20e9, 20e9, 60e9, 60e9]
    assert [view.peak_at(t) for t in (-70.0, -59.0, -19.0)] == [None, 20e9, 60e9]
    early = meters.view(T0 + 60 * SECOND, Stretch(T0 / 1e9 + 30, 10)).bandwidth
    assert early.peak_times_s.tolist() == [-10.0, 0.0]
    assert early.peaks.tolist() == [20e9, 20e9]
    assert view.peak_age_s == pytest.approx(20)
    assert not view.is_lower_bound


def test_that_a_peak_never_changes_in_silence() -> None:
    meters = Meters()
    meters.fold(BandwidthMeasured(20e9, 2, "read"), T0)
    assert not meters.view(T0).markers
    meters.fold(BandwidthMeasured(60e9, 2, "read", runs=10), T0 + SECOND)
    (marker,) = meters.view(T0 + SECOND).markers
    assert marker.text == "Peak measured again: 20.0 → 60.0 GB/s (best of 10)"


def test_that_a_lower_bound_below_what_was_read_before_says_nothing() -> None:
    meters = Meters()
    meters.fold(BandwidthMeasured(60e9, 2, "read"), T0)
    meters.fold(BandwidthMeasured(20e9, 2, "read", is_lower_bound=True), T0 + SECOND)
    view = meters.view(T0 + 2 * SECOND)
    assert view.bandwidth.peak_bytes_per_s == 60e9
    assert not view.bandwidth.is_lower_bound
    assert not view.markers
    meters.fold(BandwidthMeasured(20e9, 1, "read", is_lower_bound=True), T0 + 3 * SECOND)
    assert meters.view(T0 + 4 * SECOND).bandwidth.peak_bytes_per_s == 20e9


def test_that_the_peak_ends_with_a_board_whose_peak_nobody_knows() -> None:
    meters = Meters()
    meters.fold(BandwidthMeasured(60e9, 2, "read"), T0)
    meters.fold(MemoryMeasured(T0, 0, 0, (CPU, CUDA0)), T0)
    meters.fold(applied(ON_GPU), T0 + SECOND)
    view = meters.view(T0 + 2 * SECOND).bandwidth
    assert view.peak_at(-1.5) == 60e9
    assert view.peak_at(-0.5) is None
    assert view.peak_age_s is None


def test_that_one_stream_is_all_there_is() -> None:
    """Newcomer 10: 2.7 tok/s per user beside 1.6 in total, of one stream."""
    for step_ms in (7, 380, 900):
        for steps in (1, 2, 5, 40):
            meters = Meters()
            end = stream(meters, (1, 0), step_ms, steps, T0)
            view = meters.view(end + 190 * MS).tpot
            assert view.throughput_tok_s == (
                None if steps == 1 else pytest.approx(view.stream_tok_s)
            )


def test_that_one_stream_with_drafts_is_all_there_is() -> None:
    meters = Meters()
    meters.fold(RequestStarted(1, 0, 100, 40, "", T0), T0)
    for number, brought in enumerate((4, 1, 3, 2)):
        now = T0 + (number + 1) * 100 * MS
        meters.fold(TokensDelivered(1, "x", (now,), (brought,), now), now)
    view = meters.view(now).tpot
    assert view.stream_tok_s == pytest.approx(20)
    assert view.throughput_tok_s == pytest.approx(20)
    assert view.span_s == pytest.approx(0.3)


def test_that_throughput_counts_every_stream_over_the_same_span() -> None:
    meters = Meters()
    for slot in range(8):
        meters.fold(RequestStarted(slot, slot, 100, 40, "", T0), T0)
    for number in range(1, 41):
        end = T0 + number * 100 * MS
        for slot in range(8):
            meters.fold(TokensDelivered(slot, "x", (end,), (1,), end), end)
    view = meters.view(end).tpot
    assert view.throughput_tok_s == pytest.approx(80)
    assert view.stream_tok_s == pytest.approx(10)


def test_that_nothing_flows_in_total_once_no_stream_delivers() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 100, 40, T0)
    assert meters.view(end + 3 * SECOND).tpot.throughput_tok_s is None


def test_that_the_pause_of_a_change_is_no_gap_and_no_part_of_tpot() -> None:
    """Newcomer 13: p99 ITL 39,961 ms after an Apply in the middle of an answer."""
    meters = Meters()
    end = stream(meters, (1, 0), 20, 20, T0)
    done = end + 2 * SECOND
    change = msgspec.structs.replace(applied(slots=2), seconds=1.9)
    meters.fold(change, done)
    late = end + 10 * MS  # a step from before whose tokens arrive after the change
    meters.fold(TokensDelivered(1, "x", (late,), (1,), late), done)
    for number in range(10):  # the text was computed again for 30 s
        now = done + 30 * SECOND + number * 20 * MS
        meters.fold(TokensDelivered(1, "x", (now,), (1,), now), now)
        view = meters.view(now).tpot
        assert view.itl_p99_s is None or view.itl_p99_s == pytest.approx(0.02, abs=0.011)
    assert view.tpot_s == pytest.approx(0.02)
    line = view.streams[0]
    is_gap = np.isnan(line.tpot_s)
    pause = line.times_s[is_gap][-1] + now / 1e9
    assert end / 1e9 < pause < done / 1e9 + 30


def test_that_a_live_change_does_not_break_the_line() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 20, 20, T0)
    change = msgspec.structs.replace(applied(temperature=0.2), cost="live")
    meters.fold(change, end)
    now = end + 20 * MS
    meters.fold(TokensDelivered(1, "x", (now,), (1,), now), now)
    assert meters.view(now).tpot.tpot_s == pytest.approx(0.02)


def test_that_ttft_splits_into_queue_and_prefill_and_is_followed_by_pipe_and_paint() -> None:
    meters = Meters()
    meters.note_sent(1, T0)
    meters.fold(RequestStarted(1, 0, 541, 498, "", T0 + 100 * MS), T0)
    first = T0 + 400 * MS
    meters.fold(TokensDelivered(1, "x", (first, first + 20 * MS), (1, 1), first), first)
    meters.note_first_paint(1, first + 2 * MS, first + 15 * MS)
    view = meters.view(T0 + SECOND).ttft
    assert view.times_s == pytest.approx([-0.6])
    assert view.ttft_s == pytest.approx([0.4])
    assert view.last is not None
    assert view.last.queue_s == pytest.approx(0.1)
    assert view.last.prefill_s == pytest.approx(0.3)
    assert view.last.pipe_s == pytest.approx(0.002)
    assert view.last.paint_s == pytest.approx(0.013)
    assert "prompt 541 tokens, 498 reused" in request_lines(view.records[0])


def test_that_the_engines_own_timing_counts_once_a_request_ended() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 20, 5, T0)  # never seen being sent
    assert meters.view(end).ttft.times_s.size == 0
    meters.fold(RequestFinished(1, "end", "", timing(), 110), end)
    view = meters.view(end).ttft
    assert view.ttft_s == pytest.approx([0.3])
    assert view.times_s == pytest.approx([-0.08])


def test_that_a_request_without_a_token_is_no_dot() -> None:
    meters = Meters()
    meters.note_sent(1, T0)
    meters.fold(RequestStarted(1, 0, 10, 0, "", T0), T0)
    meters.fold(RequestFinished(1, "cancelled", "", timing(None, None), 0), T0)
    assert meters.view(T0).ttft.times_s.size == 0


def test_that_goodput_needs_limits_and_counts_requests_that_kept_them() -> None:
    meters = Meters()
    for request_id, ttft_s in ((1, 0.3), (2, 0.9), (3, 0.3)):
        meters.note_sent(request_id, T0)
        stream(meters, (request_id, 0), 20, 5, T0)
        meters.fold(RequestFinished(request_id, "end", "", timing(ttft_s), 9), T0 + SECOND)
    now = T0 + 10 * SECOND
    assert meters.view(now).ttft.goodput_req_s is None
    meters.set_limits(ttft_s=0.8, tpot_s=0.05)
    view = meters.view(now)
    assert view.ttft.goodput_req_s == pytest.approx(0.2)
    assert view.ttft.limit_s == 0.8
    assert view.tpot.limit_s == 0.05


def test_that_tpot_and_itl_follow_the_steps_of_each_stream() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 20, 40, T0)
    stream(meters, (2, 1), 40, 20, T0)
    view = meters.view(end).tpot
    assert [lines.slot for lines in view.streams] == [0, 1]
    assert view.streams[0].tpot_s[-1] == pytest.approx(0.02)
    assert view.streams[1].tpot_s[-1] == pytest.approx(0.04)
    assert view.streams[1].itl_p99_s[-1] == pytest.approx(0.04)
    assert view.tpot_s == pytest.approx(0.03)
    assert view.stream_tok_s == pytest.approx(1 / 0.03)


def test_that_drafts_make_tpot_shorter_than_the_gap_between_steps() -> None:
    meters = Meters()
    meters.fold(RequestStarted(1, 0, 10, 0, "", T0), T0)
    steps = tuple(T0 + number * 30 * MS for number in range(1, 21))
    meters.fold(TokensDelivered(1, "x", steps, (3,) * 20, steps[-1]), steps[-1])
    view = meters.view(steps[-1]).tpot
    assert view.tpot_s == pytest.approx(0.01)
    assert view.itl_p99_s == pytest.approx(0.03)


def test_that_no_line_and_no_gap_reaches_from_one_request_to_the_next() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 20, 10, T0)
    meters.fold(RequestFinished(1, "end", "", timing(), 110), end)
    end = stream(meters, (2, 0), 20, 10, end + 30 * SECOND)
    meters.fold(RequestFinished(2, "end", "", timing(), 110), end)
    (lines,) = meters.view(end).tpot.streams
    assert np.isnan(lines.tpot_s).any()
    assert np.nanmax(lines.itl_p99_s) == pytest.approx(0.02)


def test_that_p99_begins_anew_with_each_answer() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 900, 10, T0)
    meters.fold(RequestFinished(1, "end", "", timing(), 110), end)
    end = stream(meters, (2, 0), 20, 100, end + SECOND)
    assert meters.view(end).tpot.itl_p99_s == pytest.approx(0.02)


def test_that_p99_begins_anew_with_other_settings() -> None:
    meters = Meters()
    meters.fold(applied(), T0)
    end = stream(meters, (1, 0), 900, 10, T0)
    meters.fold(applied(), end)  # nothing changed
    assert meters.view(end).tpot.itl_p99_s == pytest.approx(0.9)
    meters.fold(applied(temperature=0.2), end)
    assert meters.view(end).tpot.itl_p99_s is None
    for number in range(1, 20):
        now = end + number * 20 * MS
        meters.fold(TokensDelivered(1, "x", (now,), (1,), now), now)
    assert meters.view(now).tpot.itl_p99_s == pytest.approx(0.02)
    assert meters.view(now).tpot.tpot_s is not None


def test_that_p99_ends_with_the_engine() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 900, 10, T0)
    meters.note_engine_gone(end)
    assert meters.view(end).tpot.itl_p99_s is None


@pytest.mark.parametrize("step_ms", [20, 250, 480])
def test_that_both_speeds_agree_while_two_streams_flow(step_ms: int) -> None:
    """With few tokens a second a short window would count a step more or less."""
    meters = Meters()
    end = T0
    for step in range(1, 60):
        end = T0 + step * step_ms * MS
        for slot in (0, 1):
            if step == 1:
                meters.fold(RequestStarted(slot, slot, 100, 40, "", T0), T0)
            meters.fold(TokensDelivered(slot, "x", (end,), (1,), end), end)
        begin = end - step_ms * MS
        meters.fold(StepsMeasured(begin, end, 0.1, 1, 1, 0.1, 10**8, 2, 0, 0.0, 0.0, 2, ()), end)
    view = meters.view(end + 190 * MS).tpot
    assert view.active == 2
    assert view.stream_tok_s is not None
    assert view.throughput_tok_s == pytest.approx(2 * view.stream_tok_s, rel=0.05)


def test_that_an_idle_stream_keeps_its_last_figure_and_is_not_active() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 20, 20, T0)
    view = meters.view(end + 10 * SECOND).tpot
    assert view.tpot_s is None
    assert view.last_tpot_s == pytest.approx(0.02)


def test_that_a_stream_older_than_the_window_is_gone() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 20, 20, T0)
    assert meters.view(end + 200 * SECOND).tpot.streams == ()


def test_that_rows_come_at_most_ten_times_a_second() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 1, 2000, T0)
    (lines,) = meters.view(end, Stretch(end / 1e9, 120.0)).tpot.streams
    assert 15 < lines.times_s.size <= 21


def test_that_tokens_of_an_unknown_request_are_let_pass() -> None:
    meters = Meters()
    meters.fold(TokensDelivered(9, "x", (T0,), (1,), T0), T0)
    assert meters.view(T0).ttft.times_s.size == 0


def test_that_the_stack_is_what_was_measured() -> None:
    meters = Meters()
    meters.fold(applied(), T0)
    meters.note_memory((system(T0),))
    view = meters.view(T0).memory
    # Owned 4 GiB: weights 1 (the other one is mapped), KV 3, compute reserved and not touched yet.
    assert view.parts == MemoryParts(6 * GIB, GIB, GIB, 3 * GIB, 0, 0, 0)
    assert view.used == 11 * GIB
    assert view.planned == 12 * GIB
    assert view.unexplained == -GIB
    assert view.stack[:, -1].sum() == 11 * GIB
    assert view.capacity == 32 * GIB


def test_that_what_no_plan_explains_is_shown_apart() -> None:
    parts, unexplained = split(
        system(T0, owned=7 * GIB), MemoryParts(0, GIB, GIB, 3 * GIB, GIB, 0, 0)
    )
    assert parts.rest == 2 * GIB
    assert unexplained == 2 * GIB


def test_that_without_a_model_the_engine_is_unexplained_by_nothing() -> None:
    parts, unexplained = split(system(T0), None)
    assert parts.mapped == 0
    assert parts.rest == 4 * GIB
    assert unexplained is None


def test_that_an_unknown_engine_part_is_taken_from_the_plan() -> None:
    parts, unexplained = split(board(T0, owned=None), MemoryParts(0, 0, 6 * GIB, GIB, GIB, 0, 0))
    assert parts == MemoryParts(GIB, 0, 6 * GIB, GIB, GIB, 0, 0)
    assert unexplained is None


def test_that_the_board_is_shown_once_the_model_lies_on_it() -> None:
    meters = Meters()
    meters.note_memory((system(T0), board(T0)))
    assert meters.view(T0).memory.name == "System memory"
    meters.fold(applied(ON_GPU), T0)
    meters.note_memory((system(T0 + 1), board(T0 + 1)))
    view = meters.view(T0 + 1).memory
    assert view.name == CUDA0.description
    assert view.used == 9 * GIB
    assert view.unexplained == 0
    assert np.isnan(view.stack).all(axis=0).tolist() == [False, True, False]


def test_that_a_board_only_the_engine_sees_is_shown_all_the_same() -> None:
    meters = Meters()
    meters.fold(applied(ON_GPU), T0)
    meters.fold(MemoryMeasured(T0, GIB, 0, (CPU, CUDA0)), T0)
    meters.note_memory((system(T0 + 1),))
    view = meters.view(T0 + 1).memory
    assert view.name == CUDA0.description
    assert view.used == 8 * GIB
    assert view.unexplained is None


def test_that_the_engines_own_reading_serves_where_no_sampler_runs() -> None:
    meters = Meters()
    meters.fold(MemoryMeasured(T0, 2 * GIB, GIB, (CPU,)), T0)
    view = meters.view(T0).memory
    assert view.capacity == 32 * GIB
    assert view.parts is not None
    assert view.parts.rest == 2 * GIB
    meters.note_memory((system(T0 + SECOND),))
    meters.fold(MemoryMeasured(T0 + 2 * SECOND, 2 * GIB, GIB, (CPU,)), T0)
    assert meters.view(T0 + 3 * SECOND).memory.times_s.size == 2


def test_that_the_same_reading_counts_once() -> None:
    meters = Meters()
    meters.note_memory((system(T0),))
    revision = meters.revision
    meters.note_memory((system(T0),))
    assert meters.revision == revision
    assert meters.view(T0).memory.times_s.size == 1


def test_that_a_candidate_is_predicted_until_it_is_applied() -> None:
    meters = Meters()
    meters.fold(applied(), T0)
    meters.note_memory((system(T0),))
    larger = msgspec.structs.replace(ON_CPU, devices=(DeviceBytes("CPU", 2 * GIB, 9 * GIB, GIB),))
    meters.fold(PlanReady(1, larger), T0)
    assert meters.view(T0).memory.candidate == 18 * GIB
    meters.fold(applied(larger), T0)
    assert meters.view(T0).memory.candidate is None
    meters.note_plan(ON_CPU)
    assert meters.view(T0).memory.candidate == 12 * GIB


def test_that_memory_no_plan_explains_stays_in_a_prediction() -> None:
    meters = Meters()
    smaller = msgspec.structs.replace(ON_CPU, devices=(DeviceBytes("CPU", GIB, GIB, 0),))
    meters.fold(applied(smaller), T0)
    meters.note_memory((system(T0),))
    used = meters.view(T0).memory.used
    larger = msgspec.structs.replace(ON_CPU, devices=(DeviceBytes("CPU", GIB, 2 * GIB, 0),))
    meters.note_plan(larger)
    assert used is not None
    assert meters.view(T0).memory.candidate == used + GIB


def test_that_a_change_leaves_a_marker_that_says_what_changed() -> None:
    meters = Meters()
    meters.fold(applied(), T0)
    meters.fold(applied(slots=2, ctx_per_slot_tok=8192), T0 + SECOND)
    meters.fold(applied(slots=2, ctx_per_slot_tok=8192), T0 + 2 * SECOND)
    loaded, changed = meters.view(T0 + 3 * SECOND).markers
    assert loaded.text.startswith("Loaded")
    assert changed.at_s == pytest.approx(-2)
    assert changed.text.splitlines() == [
        "Context per slot: 4,096 → 8,192",
        "Parallel slots: 4 → 2",
        "new context, 0.25 s",
    ]
    assert meters.view(T0 + 500 * SECOND).markers == ()


def test_that_a_new_engine_process_ends_every_line() -> None:
    meters = Meters()
    meters.fold(applied(), T0)
    end = stream(meters, (1, 0), 20, 20, T0)
    meters.fold(span(end, 10**9, 0.1), end)
    meters.fold(Hello(1, 1, end, "", "", (CPU,), False), end)
    end = stream(meters, (1, 0), 20, 20, end + SECOND)  # the same number again, another request
    (lines,) = meters.view(end).tpot.streams
    assert np.isnan(lines.tpot_s).any()
    assert np.isnan(meters.view(end).bandwidth.bytes_per_s[-1])


def test_that_dots_of_a_dead_engine_stay() -> None:
    meters = Meters()
    end = stream(meters, (1, 0), 20, 5, T0)
    meters.fold(RequestFinished(1, "end", "", timing(), 110), end)
    meters.note_engine_gone(end)
    meters.note_engine_gone(end)
    assert meters.view(end).ttft.ttft_s == pytest.approx([0.3])


def test_that_events_without_figures_are_let_pass() -> None:
    meters = Meters()
    meters.fold(protocol.Logged("info", "hello"), T0)
    assert meters.revision == 0


def test_that_an_empty_desk_has_empty_views() -> None:
    view = Meters().view(T0)
    assert view.memory.name == ""
    assert view.tpot.tpot_s is None
    assert all(
        array.size == 0
        for part in (view.memory, view.bandwidth, view.ttft)
        for array in (getattr(part, f.name) for f in dataclasses.fields(part))
        if isinstance(array, np.ndarray)
    )


def long_desk() -> Meters:
    """Two answers and two changes, half an hour apart."""
    meters = Meters()
    for at in (T0, T0 + 1800 * SECOND):
        meters.fold(applied(slots=1 + at // (2000 * SECOND)), at)
        meters.note_memory((system(at),))
        meters.note_sent(at, at)
        end = stream(meters, (at, 0), 20, 100, at)
        meters.fold(span(end, 10**9, 0.1), end)
        meters.fold(RequestFinished(at, "end", "", timing(), 110), end)
    return meters


def test_that_any_stretch_of_the_last_hour_can_be_seen() -> None:
    meters = long_desk()
    now = T0 + 3000 * SECOND
    past = meters.view(now, Stretch(T0 / 1e9 + 60.0, 120.0))
    assert past.bandwidth.times_s[past.bandwidth.times_s <= 0].size == 1
    assert past.ttft.ttft_s.size == 1
    assert len(past.tpot.streams) == 1
    assert len(past.markers) == 1
    assert past.markers[0].at_s == pytest.approx(-60)
    both = meters.view(now, Stretch(now / 1e9, 3600.0))
    assert both.ttft.ttft_s.size == 2
    assert len(both.markers) == 2
    assert meters.view(now).ttft.ttft_s.size == 0


def test_that_present_figures_do_not_depend_on_the_stretch() -> None:
    meters = long_desk()
    now = T0 + 1802 * SECOND
    past = meters.view(now, Stretch(T0 / 1e9 + 60.0, 120.0))
    present = meters.view(now)
    assert past.tpot.active == present.tpot.active == 1
    assert past.tpot.tpot_s == present.tpot.tpot_s
    assert past.bandwidth.last_bytes_per_s == present.bandwidth.last_bytes_per_s
    assert past.memory.used == present.memory.used
    assert past.ttft.last is present.ttft.last


def test_that_the_highest_moment_of_memory_survives_thinning() -> None:
    meters = Meters()
    for second in range(3000):
        used = 20 * GIB if second == 1234 else 10 * GIB
        meters.note_memory((system(T0 + second * SECOND, used=used),))
    view = meters.view(T0, Stretch(T0 / 1e9 + 3000, 3600.0, 20.0)).memory
    assert view.times_s.size < 700
    assert np.nanmax(view.stack.sum(axis=0)) == 25 * GIB - 5 * GIB + view.stack[1].max()
    # A column is one moment: its parts add up to what was used then.
    assert set(np.unique(view.stack[0])) <= {6.0 * GIB, 16.0 * GIB}


def test_that_changes_are_found_one_after_the_other() -> None:
    meters = long_desk()
    first = meters.marker_near(0.0, 1)
    assert first is not None
    assert first.at_s == pytest.approx(T0 / 1e9)
    second = meters.marker_near(first.at_s, 1)
    assert second is not None
    assert meters.marker_near(second.at_s, 1) is None
    assert meters.marker_near(second.at_s, -1) == first


def test_that_what_a_person_changes_is_told_from_news() -> None:
    meters = Meters()
    meters.note_memory((system(T0),))
    assert (meters.revision, meters.changes) == (1, 0)
    meters.note_plan(ON_CPU)
    meters.fold(applied(), T0)
    assert meters.changes == 2
    assert meters.first_s == pytest.approx(T0 / 1e9)


def test_that_an_hour_of_eight_streams_fits_into_a_few_megabytes() -> None:
    meters = Meters()
    for slot in range(8):
        stream(meters, (slot, slot), 20, 3, T0)
    before = meters.state_bytes
    assert before < 8_000_000  # of them 2.9 million are the steps of all streams
    for second in range(300):
        meters.note_memory((system(T0 + second * SECOND),))
        meters.fold(span(T0 + second * SECOND, 10**9, 0.1), T0)
    assert meters.state_bytes == before


def test_that_requests_and_changes_are_forgotten_in_the_end() -> None:
    meters = Meters()
    for number in range(9000):
        at = T0 + number * 10 * MS
        meters.note_sent(number, at)
        stream(meters, (number, 0), 1, 1, at)
        meters.fold(RequestFinished(number, "end", "", timing(), 110), at)
    for number in range(300):
        meters.fold(applied(max_new_tok=number + 1), at)
    view = meters.view(at, Stretch(at / 1e9 + 1, 3600.0))
    assert view.ttft.times_s.size == 7200
    assert len(view.markers) == 256


def test_that_a_marker_names_a_draft_model_and_not_whose_home_it_lies_in() -> None:
    # Charts are saved as pictures and shown to others.
    before = EngineConfig()
    after = before.with_values({"draft_model_path": "/drives/clara/tiny.gguf"})
    text = change_text(_applied_with(before), _applied_with(after))
    assert "none → tiny.gguf" in text
    assert "clara" not in text


def _applied_with(config: EngineConfig) -> protocol.Applied:
    return fake_client.applied(config)


def _system(used: int, owned: int, at_s: int = 0) -> MemorySnapshot:
    at_ns = T0 + at_s * SECOND
    return MemorySnapshot(at_ns, "system", "System memory", 32 * GIB, used, owned)


def test_that_a_load_under_way_is_not_counted_twice_in_the_prediction() -> None:
    meters = Meters()
    meters.fold(applied(), T0)
    meters.note_memory((_system(9 * GIB, 5 * GIB),))
    larger = msgspec.structs.replace(
        ON_CPU, devices=(DeviceBytes("CPU", weights=2 * GIB, kv=8 * GIB, compute=GIB),)
    )
    meters.note_plan(larger)
    before = meters.view(T0).memory.candidate
    meters.note_work(True)
    for second in range(1, 5):
        meters.note_memory((_system((9 + second) * GIB, (5 + second) * GIB, second),))
        assert meters.view(T0 + second * SECOND).memory.candidate == before
    meters.note_memory((_system(14 * GIB, 9 * GIB, 5),))  # another program took one more
    assert meters.view(T0 + 5 * SECOND).memory.candidate == (before or 0) + GIB
    meters.note_work(False)


def test_that_an_engine_that_sees_another_memory_is_no_drop_of_the_stack() -> None:
    meters = Meters()
    meters.note_memory((_system(9 * GIB, 5 * GIB),))
    for second, free, total in ((10, 32, 32), (11, 3, 4)):  # all of it free; a container's part
        at_ns = T0 + second * SECOND
        host = DeviceFacts("CPU", "a processor", "cpu", "CPU", free * GIB, total * GIB)
        meters.fold(MemoryMeasured(at_ns, GIB, 0, (host,)), at_ns)
    view = meters.view(T0 + 12 * SECOND).memory
    assert view.capacity == 32 * GIB
    assert view.stack.sum(axis=0).tolist() == [9 * GIB]
