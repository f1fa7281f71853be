"""The peak of a board: computed, and refined by the best that it ever achieved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine_bridge.metrics.bandwidth_meter import BandwidthView
from engine_bridge.metrics.meters import Meters
from engine_bridge.protocol import BandwidthMeasured, MemoryMeasured
from tests.unit.test_meters import CPU, CUDA0, ON_CPU, ON_GPU, SECOND, T0, applied, board, span

GB = 10**9


def meters_on_a_board() -> Meters:
    meters = Meters()
    meters.fold(BandwidthMeasured(60e9, 2, "read"), T0)
    meters.fold(MemoryMeasured(T0, 0, 0, (CPU, CUDA0)), T0)
    meters.fold(applied(ON_GPU), T0)
    meters.note_memory((board(T0),))
    return meters


def after(meters: Meters, seconds: float, decode_bytes: int, **of: float) -> BandwidthView:
    """What is shown once a span more was decoded."""
    at_ns = T0 + int(seconds * SECOND)
    decode_s, steps = of.get("decode_s", 0.1), int(of.get("steps", 15))
    meters.fold(span(at_ns, decode_bytes, decode_s, steps=steps), at_ns)
    return meters.view(at_ns).bandwidth


def test_that_less_than_was_computed_leaves_the_peak() -> None:
    view = after(meters_on_a_board(), 1, 80 * GB)
    assert view.peak_bytes_per_s == pytest.approx(936e9)
    assert view.peak_how == "bus × clock"


def test_that_more_than_was_computed_is_the_peak_from_then_on() -> None:
    meters = meters_on_a_board()
    view = after(meters, 1, 95 * GB)
    assert view.peak_bytes_per_s == pytest.approx(950e9)
    assert view.peak_how == "best achieved; computed 936 GB/s = bus × clock"
    assert view.mbu == pytest.approx(1.0)
    later = after(meters, 2, 47 * GB)
    assert later.peak_bytes_per_s == pytest.approx(950e9)
    assert later.mbu == pytest.approx(470 / 950)
    assert later.peak_at(-1.5) == pytest.approx(936e9)


@pytest.mark.parametrize(
    "of",
    [
        {"decode_bytes": 10 * GB, "decode_s": 0.01, "steps": 2},  # a moment
        {"decode_bytes": 95 * GB, "steps": 950},  # 100 MB a step: caches may hold that
    ],
)
def test_that_a_moment_or_a_small_model_is_no_proof(of: dict[str, int]) -> None:
    view = after(meters_on_a_board(), 1, **of)
    assert view.peak_bytes_per_s == pytest.approx(936e9)


def test_that_main_memory_keeps_its_measured_peak() -> None:
    meters = meters_on_a_board()
    meters.fold(applied(ON_CPU), T0)
    assert after(meters, 1, 95 * GB).peak_bytes_per_s == pytest.approx(60e9)


def test_that_a_peak_nobody_knows_has_its_reason_and_is_not_made_of_what_was_achieved() -> None:
    meters = Meters()
    meters.fold(MemoryMeasured(T0, 0, 0, (CPU, CUDA0)), T0)
    meters.fold(applied(ON_GPU), T0)
    meters.note_memory((replace(board(T0), peak_bytes_per_s=None, peak_how="no width in sysfs"),))
    view = after(meters, 1, 95 * GB)
    assert view.peak_bytes_per_s is None
    assert view.peak_how == f"peak of {CUDA0.description} unknown: no width in sysfs"
