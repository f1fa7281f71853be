"""The figures of a stretch of time, each against a value computed by hand."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.step_log import StepLog
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.metrics.stretch_figures import (
    Limits,
    Steps,
    StretchFigures,
    stretch_figures,
    tpots_s,
)
from engine_bridge.protocol import (
    RequestFinished,
    RequestStarted,
    RequestTiming,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.unit import fake_client

SECOND = 1_000_000_000
MS = 1_000_000
T0 = 1000 * SECOND
T0_S = 1000.0


def request(
    meters: Meters,
    who: int | tuple[int, int],
    at: int,
    ttft_ms: int,
    steps: list[tuple[int, int]],
) -> int:
    """A request, its number and its slot if not 0, sent ``at``.

    Each of its steps comes so many milliseconds after the one before, with so many tokens.

    Returns:
        When the last step ended.
    """
    request_id, slot = who if isinstance(who, tuple) else (who, 0)
    meters.note_sent(request_id, at)
    meters.fold(RequestStarted(request_id, slot, 100, 0, "", at), at)
    now = at + ttft_ms * MS
    meters.fold(TokensDelivered(request_id, "x", (now,), (1,), now), now)
    for gap_ms, tokens in steps:
        now += gap_ms * MS
        meters.fold(TokensDelivered(request_id, "x", (now,), (tokens,), now), now)
    return now


def finish(meters: Meters, request_id: int, at: int, ttft_s: float, tpot_s: float | None) -> None:
    timing = RequestTiming(0.0, ttft_s, ttft_s, tpot_s, 0.02, 0.03, 100, 0, 10)
    meters.fold(RequestFinished(request_id, "end", "", timing, 110), at)


def figures(meters: Meters, now: int, length_s: float = 120.0) -> StretchFigures:
    return meters.figures(now, Stretch(now / SECOND, length_s))


def test_that_before_the_first_request_there_is_nothing_to_say() -> None:
    assert figures(Meters(), T0) == StretchFigures()
    meters = Meters()
    meters.note_sent(1, T0)
    assert figures(meters, T0) == StretchFigures()  # no time has passed yet


def test_that_ttft_is_that_of_the_requests_that_began_to_answer_in_the_stretch() -> None:
    meters = Meters()
    for number, ttft_ms in enumerate((100, 200, 300, 400, 1000)):
        at = T0 + number * 10 * SECOND
        finish(meters, number, request(meters, number, at, ttft_ms, []), ttft_ms / 1000, None)
    now = T0 + 50 * SECOND
    shown = figures(meters, now)
    assert shown.requests == 5
    assert shown.ttft_p50_s == pytest.approx(0.3)
    # Linear between neighbours: place 0.95 × 4 = 3.8, so 0.4 + 0.8 × 0.6.
    assert shown.ttft_p95_s == pytest.approx(0.88)
    assert shown.length_s == pytest.approx(50.0)
    late = figures(meters, now, length_s=25.0)  # those sent at 30 and 40 s
    assert (late.requests, late.length_s) == (2, 25.0)
    assert late.ttft_p50_s == pytest.approx(0.7)


def test_that_total_speed_is_tokens_by_the_length_pauses_included() -> None:
    meters = Meters()
    end = request(meters, 1, T0, 500, [(100, 1)] * 10)  # 11 tokens in 1.5 s
    now = T0 + 10 * SECOND
    shown = figures(meters, now)
    assert shown.tokens == 11
    assert shown.throughput_tok_s == pytest.approx(11 / 10)
    assert shown.busy_tok_s == pytest.approx(10.0)  # 10 tokens in the second after the first one
    assert shown.stream_tok_s == pytest.approx(10.0)
    assert figures(meters, end).throughput_tok_s == pytest.approx(11 / 1.5)


def test_that_streams_at_once_add_up_and_count_their_time_once() -> None:
    meters = Meters()
    for slot in range(4):
        request(meters, (slot, slot), T0, 100, [(50, 1)] * 20)
    shown = figures(meters, T0 + 1100 * MS)
    assert shown.tokens == 84
    assert shown.throughput_tok_s == pytest.approx(84 / 1.1)
    assert shown.busy_tok_s == pytest.approx(80.0)
    assert shown.stream_tok_s == pytest.approx(20.0)
    assert shown.itl_p99_s == pytest.approx(0.05)


def test_that_gaps_are_those_of_the_stretch() -> None:
    meters = Meters()
    request(meters, 1, T0, 100, [(20, 1)] * 97 + [(40, 1), (60, 1), (200, 1)])
    shown = figures(meters, T0 + 10 * SECOND)
    gaps = [0.02] * 97 + [0.04, 0.06, 0.2]
    assert shown.itl_p50_s == pytest.approx(0.02)
    # Place 0.95 × 99 = 94.05 lies among the 0.02; 0.99 × 99 = 98.01 between 0.06 and 0.2.
    assert shown.itl_p95_s == pytest.approx(0.02)
    assert shown.itl_p99_s == pytest.approx(0.06 + 0.01 * 0.14)
    assert shown.itl_p99_s == pytest.approx(np.percentile(gaps, 99))
    end_s = T0_S + 0.1 + sum(gaps)
    tail = meters.figures(T0 + 10 * SECOND, Stretch(end_s + 0.001, 0.28))
    assert tail.itl_p50_s == pytest.approx(0.06)  # only the last three


def test_that_drafts_make_more_tokens_of_the_same_gaps() -> None:
    meters = Meters()
    request(meters, 1, T0, 100, [(40, 4)] * 10)
    shown = figures(meters, T0 + 500 * MS)
    assert shown.tpot_p50_s == pytest.approx(0.01)
    assert shown.itl_p50_s == pytest.approx(0.04)
    assert shown.tokens == 41


def test_that_of_an_answer_the_part_in_the_stretch_counts() -> None:
    meters = Meters()
    # One second at 20 ms a token, then one second at 100 ms.
    end = request(meters, 1, T0, 100, [(20, 1)] * 50 + [(100, 1)] * 10)
    assert figures(meters, end).tpot_p50_s == pytest.approx(2.0 / 60)
    assert figures(meters, end, length_s=0.95).tpot_p50_s == pytest.approx(0.1)
    early = meters.figures(end, Stretch(T0_S + 1.105, 120.0))
    assert early.tpot_p50_s == pytest.approx(0.02)
    assert early.tokens == 51


def test_that_every_answer_counts_once_however_long_it_is() -> None:
    meters = Meters()
    end = request(meters, 1, T0, 100, [(10, 1)] * 500)
    end = request(meters, 2, end, 100, [(30, 1)] * 5)
    end = request(meters, 3, end, 100, [(50, 1)] * 5)
    assert figures(meters, end).tpot_p50_s == pytest.approx(0.03)


def test_that_the_pause_of_a_change_is_no_gap_and_no_time_of_decoding() -> None:
    meters = Meters()
    end = request(meters, 1, T0, 100, [(20, 1)] * 10)
    done = end + 5 * SECOND
    change = msgspec.structs.replace(
        fake_client.applied(EngineConfig()), cost="new context", seconds=4.9
    )
    meters.fold(change, done)
    now = done
    for _ in range(10):
        now += 20 * MS
        meters.fold(TokensDelivered(1, "x", (now,), (1,), now), now)
    shown = figures(meters, now)
    assert shown.itl_p99_s == pytest.approx(0.02)
    assert shown.tpot_p50_s == pytest.approx(0.02)
    assert shown.busy_tok_s == pytest.approx(50.0)
    assert shown.tokens == 21


def test_that_goodput_needs_both_limits_and_says_how_many_kept_them() -> None:
    meters = Meters()
    for number, (ttft_s, tpot_s) in enumerate(((0.2, 0.02), (0.9, 0.02), (0.2, 0.09))):
        at = T0 + number * SECOND
        finish(meters, number, request(meters, number, at, 100, [(20, 1)]), ttft_s, tpot_s)
    now = T0 + 10 * SECOND
    assert figures(meters, now).good is None
    meters.set_limits(0.5, None)
    shown = figures(meters, now)
    assert (shown.good, shown.goodput_req_s) == (None, None)
    assert shown.limits == Limits(0.5, None)
    meters.set_limits(0.5, 0.05)
    shown = figures(meters, now)
    assert (shown.good, shown.ended) == (1, 3)
    assert shown.goodput_req_s == pytest.approx(0.1)
    meters.set_limits(1.0, 0.1)
    assert figures(meters, now).good == 3


def test_that_a_stretch_without_anything_has_no_figures_but_its_length() -> None:
    meters = Meters()
    finish(meters, 1, request(meters, 1, T0, 100, [(20, 1)] * 5), 0.1, 0.02)
    meters.set_limits(1.0, 0.1)
    shown = figures(meters, T0 + 600 * SECOND)
    assert shown.length_s == pytest.approx(120.0)
    assert (shown.requests, shown.tokens, shown.ended, shown.good) == (0, 0, 0, 0)
    assert (shown.ttft_p50_s, shown.tpot_p50_s, shown.itl_p99_s, shown.busy_tok_s) == (None,) * 4
    assert shown.throughput_tok_s == 0.0
    assert shown.goodput_req_s == 0.0


def test_that_a_stretch_held_in_the_past_keeps_its_figures() -> None:
    meters = Meters()
    end = request(meters, 1, T0, 100, [(20, 1)] * 50)
    held = Stretch(end / SECOND, 60.0)
    before = meters.figures(end, held)
    request(meters, 2, end + SECOND, 900, [(90, 1)] * 50)
    assert meters.figures(end + 60 * SECOND, held) == before


def test_that_what_lies_ahead_is_no_part_of_the_length() -> None:
    meters = Meters()
    end = request(meters, 1, T0, 100, [(20, 1)] * 50)
    # The right edge is put to a whole pixel, up to half a minute ahead over an hour.
    ahead = meters.figures(end, Stretch(end / SECOND + 20.0, 3600.0))
    assert ahead.length_s == pytest.approx(1.1)


def test_that_steps_that_are_not_kept_any_more_shorten_the_figures_of_steps() -> None:
    meters = Meters()
    meters.steps = StepLog(rows=40)
    end = request(meters, 1, T0, 100, [(20, 1)] * 99)
    shown = figures(meters, end + SECOND)
    assert shown.length_s == pytest.approx(3.08)
    assert shown.steps_length_s == pytest.approx(1.8)  # 40 steps of 20 ms and a second of silence
    assert shown.throughput_tok_s == pytest.approx(shown.tokens / 1.8)
    assert shown.tokens in (40, 41)
    assert shown.tpot_p50_s == pytest.approx(0.02)
    assert shown.requests == 1


def test_that_an_engine_that_ends_joins_no_answers() -> None:
    meters = Meters()
    end = request(meters, 1, T0, 100, [(20, 1)] * 5)
    meters.note_engine_gone(end)
    end = request(meters, 1, end + 30 * SECOND, 100, [(40, 1)] * 5)
    shown = figures(meters, end)
    assert shown.tpot_p50_s == pytest.approx(0.03)  # between those of two answers
    assert shown.itl_p99_s is not None
    assert shown.itl_p99_s < 0.05


def test_that_figures_of_no_time_are_none() -> None:
    log = StepLog()
    steps = Steps(log.window(0.0, 1.0), 0.0, 0.0)
    limits = Limits(1.0, 0.1)
    assert stretch_figures(0.0, np.zeros(0), (), steps, limits) == StretchFigures(limits=limits)
    assert tpots_s(steps.rows).size == 0
