"""What the engine's loop counts of its steps: bytes, micro-batches, operations, drafts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine_bridge.child.measure import StepMeter
from engine_bridge.child.step_shape import Passes, Shape
from engine_bridge.metrics.bandwidth import KvReads, WeightReads
from engine_bridge.metrics.roofline import Attention
from engine_bridge.step_work import StepWork, merged

MS = 1_000_000
DENSE = WeightReads(1000, output_bytes=300, body_parameters=500, output_parameters=150)
MOE = WeightReads(1000, 800, 8, 2, output_bytes=300, body_parameters=600, output_parameters=150)


def meter(weights: WeightReads = DENSE, kv: KvReads | None = None) -> StepMeter:
    return StepMeter(weights, kv or KvReads(10), 0)


def work_of(counted: StepMeter) -> dict[int, StepWork]:
    return {work.streams: work for work in counted.report(0, ()).work}


def test_that_decoding_is_told_apart_by_its_streams() -> None:
    counted = meter()
    counted.decoded(20 * MS, Shape([100], [1], 1), 1)
    counted.decoded(30 * MS, Shape([100, 50], [1, 1], 2), 2)
    counted.decoded(34 * MS, Shape([101, 51], [1, 1], 2), 2)
    found = work_of(counted)
    assert set(found) == {1, 2}
    assert found[1] == StepWork(1, 1, 0.02, 1, 1, 1, 1000, 1000, 0, 2 * (500 + 150))
    two = found[2]
    assert (two.steps, two.passes, two.computed_tok, two.delivered_tok) == (2, 2, 4, 4)
    assert two.seconds == pytest.approx(0.064)
    assert two.weight_bytes == 2000
    assert two.kv_bytes == 10 * (150 + 152)
    assert not work_of(counted), "a report begins anew"


@pytest.mark.parametrize("kv", [KvReads(3, 0, 0, 7), KvReads(3, 5, 64, 7)], ids=["full", "window"])
def test_that_steps_in_a_row_count_as_if_counted_one_by_one(kv: KvReads) -> None:
    steps_ns, shape = [20 * MS, 35 * MS, 21 * MS], Shape([62, 10], [1, 1], 2, 2)
    one_by_one, at_once = meter(MOE, kv), meter(MOE, kv)
    for number, step_ns in enumerate(steps_ns):
        one_by_one.decoded(step_ns, shape.later(number), 2)
    at_once.decoded_each(steps_ns, shape, 2)
    at_once.decoded_each([], shape, 2)
    assert at_once.report(1, ()) == one_by_one.report(1, ())


def test_that_work_and_the_old_sums_say_the_same() -> None:
    counted = meter(MOE, KvReads(3, 5, 64, 7))
    counted.draft = (WeightReads(200, output_bytes=50), KvReads(1))
    counted.drafted(4 * MS, Shape([90, 10], (2,), 2), 0)
    counted.decoded(20 * MS, Shape([90, 10], [4, 1], 5, 2), 3)
    event = counted.report(0, ())
    (work,) = event.work
    assert event.decode_bytes == pytest.approx(work.bytes, abs=1)
    assert event.decode_s == pytest.approx(work.seconds)
    assert event.decoded_tok == work.delivered_tok


def test_that_every_micro_batch_reads_the_weights() -> None:
    counted = meter()
    counted.decoded(20 * MS, Shape([10, 10], [4, 1], 5, 2), 3)
    assert work_of(counted)[2].weight_bytes == 2 * 1000
    # One of them has no wanted logits, and with that no output.
    counted.decoded(20 * MS, Shape([10], [600], 1, 2), 0)
    assert work_of(counted)[1].weight_bytes == 1000 + 700


def test_that_experts_are_counted_by_the_tokens_of_a_micro_batch() -> None:
    counted = meter(MOE)
    counted.decoded(20 * MS, Shape([0], [1], 1), 1)
    assert work_of(counted)[1].weight_bytes == pytest.approx(1000 + 800 * 2 / 8)
    # Three drafts besides: four tokens in one go touch more experts.
    counted.decoded(20 * MS, Shape([0], [4], 4), 2)
    distinct = 8 * (1 - (1 - 2 / 8) ** 4)
    assert work_of(counted)[1].weight_bytes == pytest.approx(1000 + 800 * distinct / 8)
    # Computed again behind a state put back: tokens without logits touch experts too.
    counted.decoded(20 * MS, Shape([0], [4], 1), 1)
    assert work_of(counted)[1].weight_bytes == pytest.approx(1000 + 800 * distinct / 8)


def test_that_the_cache_is_read_at_each_depth_and_a_window_bounds_it() -> None:
    counted = meter(kv=KvReads(2, 10, 64, 7))
    counted.decoded(20 * MS, Shape([100, 30], [1, 1], 2), 2)
    expected = (2 * 100 + 10 * 64 + 7) + (2 * 30 + 10 * 30 + 7)
    assert work_of(counted)[2].kv_bytes == expected


def test_that_operations_follow_tokens_logits_and_looks() -> None:
    counted = meter(kv=KvReads(2, 10, 64))
    counted.attention = Attention(full=4, window=6, window_tok=64)
    counted.decoded(20 * MS, Shape([100, 10], [3, 1], 4), 2)
    looks = 101 + 102 + 103 + 11
    window_looks = 64 * 3 + 11
    expected = 2 * (500 * 4 + 150 * 4) + 4 * looks + 6 * window_looks
    assert work_of(counted)[2].operations == pytest.approx(expected)


def test_that_drafts_belong_to_the_step_they_are_for() -> None:
    counted = meter()
    counted.draft = (
        WeightReads(200, output_bytes=50, body_parameters=100, output_parameters=25), KvReads(1),
    )  # fmt: skip
    counted.drafted(3 * MS, Shape([100], (1,), 1), 0)
    counted.drafted(2 * MS, Shape([100], (4,), 0), 0)  # catching up: no logits, no output
    counted.decoded(20 * MS, Shape([100], [3], 3), 2)
    counted.decoded(20 * MS, Shape([100, 10], [1, 1], 2), 2)
    found = work_of(counted)
    assert found[1].draft_bytes == (200 + 100) + (150 + 100)
    assert found[1].seconds == pytest.approx(0.025)
    assert found[1].operations == 2 * (500 * 3 + 150 * 3) + 2 * (100 * 5 + 25)
    assert found[2].draft_bytes == 0
    # For whoever writes beside a prompt: that step is none of decoding alone.
    counted.drafted(3 * MS, Shape([100], (1,), 1), 0)
    counted.prefilled((0, 9 * MS), Shape([100, 0], [1, 64], 1), 64, 1)
    counted.decoded(20 * MS, Shape([100], [1], 1), 1)
    assert work_of(counted)[1].draft_bytes == 0


def test_that_prompts_are_counted_once_a_gpu_is_done_with_them() -> None:
    counted = meter()
    counted.prefilled((0, 1 * MS), Shape([0], [512], 0), 512, 0, is_waited=False)
    assert 0 not in work_of(counted)
    counted.prefilled((2 * MS, 50 * MS), Shape([512], [100], 1), 100, 1)
    work = work_of(counted)[0]
    assert work.is_prefill
    assert work.seconds == pytest.approx(0.05), "from the first step's begin to the last one's end"
    assert work.computed_tok == 612
    assert work.weight_bytes == 700 + 1000
    assert work.operations == 2 * (500 * 612 + 150)
    assert not work_of(counted)


def context(**values: object) -> Any:
    made: dict[str, object] = {
        "ctx_tok": 4096, "ctx_seq_tok": 1024, "ubatch_tok": 512, "rollback_tok": 0,
        "model": SimpleNamespace(is_recurrent=False, is_hybrid=False),
    }  # fmt: skip
    return SimpleNamespace(**(made | values))


@pytest.mark.parametrize(
    ("parts", "passes"),
    [
        ([(3, 1)], 1),
        ([(3, 513)], 2),
        ([(0, 1), (1, 1), (2, 1)], 1),
        ([(0, 1), (2, 1)], 2),  # an idle slot between them
        ([(1, 1), (0, 1)], 2),  # not in the order of their numbers
        ([(0, 4), (1, 1)], 2),  # drafts of different lengths
    ],
)
def test_that_slots_with_caches_of_their_own_are_cut(
    parts: list[tuple[int, int]], passes: int
) -> None:
    assert Passes(context()).of(parts) == passes


def test_that_a_shared_cache_takes_any_batch_at_once() -> None:
    shared = Passes(context(ctx_seq_tok=4096))
    assert shared.of([(2, 1), (0, 4)]) == 1
    assert shared.of([(2, 500), (0, 13)]) == 2


def test_that_states_are_cut_by_equal_lengths_alone() -> None:
    model = SimpleNamespace(is_recurrent=True, is_hybrid=False)
    cut = Passes(context(model=model))
    assert cut.of([(2, 1), (0, 1)]) == 1
    assert cut.of([(2, 3), (0, 1)]) == 2


def test_that_figures_of_work_follow_from_its_sums() -> None:
    work = StepWork(2, 10, 0.4, 10, 30, 25, 9e9, 1e9, 2e9, 48e9)
    assert work.bytes == 12e9
    assert work.step_bytes == pytest.approx(1.2e9)
    assert work.bytes_per_s == pytest.approx(30e9)
    assert work.operations_per_byte == pytest.approx(4)
    assert work.operations_per_s == pytest.approx(120e9)
    assert work.steps_per_s == pytest.approx(25)
    assert work.total_tok_s == pytest.approx(62.5)
    assert work.stream_tok_s == pytest.approx(31.25)
    nothing = StepWork(0)
    assert (nothing.bytes_per_s, nothing.operations_per_byte, nothing.stream_tok_s) == (0, 0, 0)


def test_that_merging_adds_up_by_kind() -> None:
    one, two = StepWork(1, 2, 0.2, 2, 2, 2, 10, 1), StepWork(2, 1, 0.1, 1, 2, 2, 5, 3)
    assert merged([two, one, one]) == (StepWork(1, 4, 0.4, 4, 4, 4, 20, 2), two)
