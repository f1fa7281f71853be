"""A run in figures, each computed by hand beside it."""

from __future__ import annotations

import msgspec
import pytest

from app.experiments.experiment import Figures
from app.experiments.run_figures import DEFINITIONS, decode_work, figures_of, is_as_asked
from app.experiments.run_record import RequestRecord, RunRecord
from engine_bridge.protocol import RequestTiming
from engine_bridge.step_work import StepWork
from tests.unit.experiments.made_up import NoLimits

_NO_FIGURES = {"requests", "failed", "new_tok", "detail"}


def timing(**changes: object) -> RequestTiming:
    """A request of 100 prompt tokens, 40 of them reused, with 5 new ones."""
    values: dict[str, object] = {
        "queue_s": 0.1, "prefill_s": 0.4, "ttft_s": 0.5, "tpot_s": 0.02, "itl_p50_s": None,
        "itl_p99_s": None, "prompt_tok": 100, "reused_tok": 40, "new_tok": 5,
    }  # fmt: skip
    return RequestTiming(**(values | changes))  # type: ignore[arg-type]


def request(*step_s: float, **changes: object) -> RequestRecord:
    """A request that ended at its limit."""
    values: dict[str, object] = {
        "script": "s", "turn": 0, "user": 0, "sent_s": 0.0, "reason": "token_limit",
        "timing": timing(), "step_s": step_s, "step_tok": (1,) * len(step_s),
    }  # fmt: skip
    return RequestRecord(**(values | changes))  # type: ignore[arg-type]


def test_that_latencies_are_medians_over_requests() -> None:
    record = RunRecord(
        (
            request(timing=timing(ttft_s=0.2, tpot_s=0.010)),
            request(timing=timing(ttft_s=0.9, tpot_s=0.030)),
            request(timing=timing(ttft_s=0.4, tpot_s=0.020)),
        ),
        duration_s=10.0,
    )
    figures = figures_of(record, NoLimits())
    assert figures.ttft_s == pytest.approx(0.4)
    assert figures.tpot_s == pytest.approx(0.020)
    assert figures.user_tok_s == pytest.approx(50.0)
    # Linear between 0.4 and 0.9 at 0.95 × 2 = 1.9 steps: 0.4 + 0.9 × 0.5.
    assert figures.ttft_p95_s == pytest.approx(0.85)


def test_that_gaps_of_all_streams_are_pooled() -> None:
    # Gaps 10, 10 and 100 ms of one stream, 20 ms of the other: sorted 10, 10, 20, 100.
    record = RunRecord((request(1.0, 1.01, 1.02, 1.12), request(2.0, 2.02)), duration_s=5.0)
    figures = figures_of(record, NoLimits())
    assert figures.itl_p50_s == pytest.approx(0.015)
    # Place 0.99 × 3 = 2.97: 20 + 0.97 × 80 ms. A median of the streams' own figures would differ.
    assert figures.itl_p99_s == pytest.approx(0.0976)


def test_that_no_gap_lies_between_two_answers() -> None:
    figures = figures_of(RunRecord((request(1.0), request(9.0)), duration_s=9.0), NoLimits())
    assert figures.itl_p50_s is None


def test_that_prefill_counts_what_was_computed_over_the_steps_that_read_it() -> None:
    # Two prompts read in the same second: 2 × 60 computed tokens, and not over 2 × 0.4 s.
    work = (
        StepWork(0, steps=4, seconds=1.0, computed_tok=124),
        StepWork(2, steps=9, seconds=3.0, delivered_tok=18),
    )
    record = RunRecord((request(), request()), duration_s=5.0, work=work)
    assert figures_of(record, NoLimits()).prefill_tok_s == pytest.approx(120.0)


def test_that_prefill_of_a_server_without_steps_takes_the_requests_times() -> None:
    figures = figures_of(RunRecord((request(), request()), duration_s=5.0), NoLimits())
    assert figures.prefill_tok_s == pytest.approx(120 / 0.8)


def test_that_throughput_is_over_the_run_and_decode_speed_over_its_steps() -> None:
    work = (
        StepWork(0, steps=2, seconds=2.0, delivered_tok=2),
        StepWork(1, steps=10, seconds=1.0, delivered_tok=10),
        StepWork(2, steps=10, seconds=3.0, delivered_tok=30),
    )
    record = RunRecord((request(), request()), duration_s=4.0, work=work)
    figures = figures_of(record, NoLimits())
    assert figures.total_tok_s == pytest.approx(10 / 4.0)  # of the two answers
    assert figures.decode_tok_s == pytest.approx(40 / 4.0)  # of the steps that only generated
    assert figures.new_tok == 10
    assert figures.duration_s == 4.0


def test_that_mbu_is_bytes_of_decode_steps_over_their_time_and_the_peak() -> None:
    work = (
        StepWork(0, steps=2, seconds=2.0, weight_bytes=9e9),
        StepWork(1, steps=10, seconds=1.0, weight_bytes=10e9, kv_bytes=1e9, draft_bytes=1e9),
        StepWork(2, steps=10, seconds=1.0, weight_bytes=10e9, kv_bytes=2e9),
    )
    record = RunRecord((request(),), duration_s=4.0, work=work, peak_bytes_per_s=40e9)
    # (12 + 12) GB in 2 s = 12 GB/s of 40.
    assert figures_of(record, NoLimits()).mbu == pytest.approx(0.3)
    unknown = msgspec.structs.replace(record, peak_bytes_per_s=0.0)
    assert figures_of(unknown, NoLimits()).mbu is None


def test_that_decode_work_of_several_numbers_of_streams_is_added_up() -> None:
    added = decode_work((StepWork(0, steps=7), StepWork(1, steps=2), StepWork(3, steps=5)))
    assert added.steps == 7


@pytest.mark.parametrize(
    ("ttft_slo_s", "tpot_slo_s", "kept"),
    [(0.5, 0.02, 2), (0.5, None, 3), (None, 0.02, 3), (0.1, 0.01, 0)],
)
def test_that_goodput_counts_requests_that_kept_both_limits(
    ttft_slo_s: float | None, tpot_slo_s: float | None, kept: int
) -> None:
    record = RunRecord(
        (
            request(timing=timing(ttft_s=0.5, tpot_s=0.02)),
            request(timing=timing(ttft_s=0.4, tpot_s=None)),  # a single token
            request(timing=timing(ttft_s=0.6, tpot_s=0.02)),
            request(timing=timing(ttft_s=0.4, tpot_s=0.03)),
            request(timing=timing(ttft_s=0.1, tpot_s=0.01), reason="failed", detail="It failed."),
        ),
        duration_s=8.0,
    )
    figures = figures_of(record, NoLimits(ttft_slo_s, tpot_slo_s))
    assert figures.goodput_req_s == pytest.approx(kept / 8.0)
    assert figures.kept_share == pytest.approx(kept / 5)


def test_that_there_is_no_goodput_without_limits() -> None:
    figures = figures_of(RunRecord((request(),), duration_s=8.0), NoLimits())
    assert (figures.goodput_req_s, figures.kept_share) == (None, None)


def test_that_acceptance_and_reuse_are_over_all_tokens() -> None:
    record = RunRecord(
        (
            request(timing=timing(drafted_tok=10, accepted_tok=9, prompt_tok=10, reused_tok=10)),
            request(timing=timing(drafted_tok=30, accepted_tok=3, prompt_tok=90, reused_tok=0)),
        ),
        duration_s=1.0,
    )
    figures = figures_of(record, NoLimits())
    assert figures.acceptance == pytest.approx(12 / 40)
    assert figures.reused_share == pytest.approx(10 / 100)


def test_that_requests_which_ended_otherwise_make_no_latency_but_their_tokens_count() -> None:
    record = RunRecord(
        (
            request(1.0, 1.1, timing=timing(ttft_s=0.2, tpot_s=0.1, new_tok=2)),
            request(
                1.0, 1.5, timing=timing(ttft_s=9.0, tpot_s=0.5, new_tok=2),
                reason="context_full", detail="The slot was full.",
            ),
            request(timing=None, reason="failed", detail="It was refused."),
        ),
        duration_s=2.0,
    )  # fmt: skip
    figures = figures_of(record, NoLimits())
    assert figures.ttft_s == pytest.approx(0.2)
    assert figures.itl_p99_s == pytest.approx(0.1)
    assert figures.total_tok_s == pytest.approx(2.0)
    assert (figures.requests, figures.failed) == (1, 2)


def test_that_a_run_in_which_nothing_happened_has_no_figures() -> None:
    figures = figures_of(RunRecord((), duration_s=0.0), NoLimits(1.0, 1.0))
    shown = {name: value for name, value in msgspec.structs.asdict(figures).items() if value}
    assert shown == {}
    assert figures.goodput_req_s is None


def test_that_memory_which_was_not_measured_is_none() -> None:
    record = RunRecord((request(),), duration_s=1.0)
    assert figures_of(record, NoLimits()).owned_bytes is None
    measured = msgspec.structs.replace(record, owned_bytes=5 << 20)
    assert figures_of(measured, NoLimits()).owned_bytes == 5 << 20


@pytest.mark.parametrize(
    ("changes", "is_good"),
    [
        ({}, True),
        ({"reason": "end"}, True),
        ({"reason": "cancelled"}, False),
        ({"reason": "pool_full"}, False),
        ({"detail": "The turn after it could not be asked."}, False),
        ({"timing": None}, False),
    ],
)
def test_that_a_request_is_as_asked_if_it_ended_where_it_was_to_end(
    changes: dict[str, object], is_good: bool
) -> None:
    assert is_as_asked(request(**changes)) is is_good


def test_that_every_figure_has_a_definition() -> None:
    assert set(DEFINITIONS) == set(Figures.__struct_fields__) - _NO_FIGURES
