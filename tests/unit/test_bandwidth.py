"""What a decode step reads."""

from __future__ import annotations

import pytest

from engine_bridge.metrics.bandwidth import (
    KvReads,
    WeightReads,
    achieved_bytes_per_s,
    bytes_per_step,
    decode_ceiling_steps_per_s,
    expected_distinct_experts,
    mbu,
)


def test_that_the_napkin_gives_49_tokens_a_second_on_a_3090() -> None:
    ceiling = decode_ceiling_steps_per_s(936e9, bytes_per_step(19e9, 0.0, [0]))
    assert ceiling == pytest.approx(49.3, abs=0.1)


def test_that_weights_are_read_once_and_the_cache_of_every_stream() -> None:
    assert bytes_per_step(1000.0, 2.0, [10, 30]) == 1000 + 2 * 40


def test_that_a_step_without_streams_reads_nothing() -> None:
    assert bytes_per_step(1000.0, 2.0, []) == 0


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (0, 0.0),
        (1, 8.0),
        (2, 8 + 8 * (1 - 8 / 128)),  # the second token adds what the first missed
        (10_000, 128.0),
    ],
)
def test_that_experts_touched_grow_with_the_batch(tokens: int, expected: float) -> None:
    assert expected_distinct_experts(128, 8, tokens) == pytest.approx(expected)


@pytest.mark.parametrize("routing", [(0, 0, 1), (8, 9, 1), (8, -1, 1), (8, 2, -1)])
def test_that_impossible_routing_is_refused(routing: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="routing"):
        expected_distinct_experts(*routing)


def test_that_a_mixture_reads_the_shared_part_and_the_experts_touched() -> None:
    weights = WeightReads(shared_bytes=100, expert_bytes=1280, experts=128, experts_used=8)
    assert bytes_per_step(weights, 0.0, [5]) == pytest.approx(100 + 80)
    assert bytes_per_step(weights, 0.0, [5], rows=10_000) == pytest.approx(100 + 1280)


def test_that_a_window_bounds_what_its_layers_read() -> None:
    kv = KvReads(full_bytes_per_tok=2, window_bytes_per_tok=10, window_tok=512, state_bytes=7)
    assert kv.at_depth_bytes(100) == 2 * 100 + 10 * 100 + 7
    assert kv.at_depth_bytes(4096) == 2 * 4096 + 10 * 512 + 7


def test_that_no_decode_and_no_peak_give_no_number() -> None:
    assert achieved_bytes_per_s(0, 0.0) is None
    assert mbu(None, 1e9) is None
    assert mbu(1e9, None) is None
    assert mbu(1e9, 0.0) is None
    assert decode_ceiling_steps_per_s(None, 1e9) is None
    assert decode_ceiling_steps_per_s(1e9, 0.0) is None


def test_that_mbu_is_achieved_over_peak() -> None:
    assert achieved_bytes_per_s(8e9, 0.2) == pytest.approx(40e9)
    assert mbu(40e9, 60e9) == pytest.approx(2 / 3)
