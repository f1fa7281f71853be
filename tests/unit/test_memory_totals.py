"""Hardware card, memory chart and memory bar: one reading, and sums that follow from each other.

A newcomer found three totals of the same memory, and no word on why.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from engine_bridge.metrics.definitions import DEFINITIONS
from engine_bridge.metrics.memory_meter import MemoryMeter, MemoryView, accounted, split
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.protocol import MemoryMeasured
from widgets.memory_parts import MemoryState, Parts

MIB, GIB = 1 << 20, 1 << 30
SECOND = 10**9


def plan(kv_bytes: int = GIB) -> MemoryPlan:
    """Three GiB of weights, two of them mapped, and a quarter of one to compute."""
    uses = BytesByUse(GIB, 2 * GIB, kv_bytes, compute=GIB // 4, host=1, total=1)
    host = DeviceBytes("CPU", 3 * GIB, kv_bytes, GIB // 4)
    return MemoryPlan(uses, (host,), None, True, (), 0.0, host_caches=8 * GIB)


def reading(owned_gib: float, mapped_gib: float) -> MemorySnapshot:
    """Four GiB are of other programs."""
    owned = int(owned_gib * GIB)
    return MemorySnapshot(
        5 * SECOND, "system", "System memory", 16 * GIB, 4 * GIB + owned, owned,
        int(mapped_gib * GIB),
    )  # fmt: skip


def chart_of(snapshot: MemorySnapshot, caches: int, candidate: MemoryPlan | None) -> MemoryView:
    meter = MemoryMeter(8)
    meter.set_applied(plan())
    meter.add_engine_measurement(MemoryMeasured(SECOND, 0, 0, (), caches))
    meter.add_snapshots((snapshot,))
    meter.set_candidate(candidate)
    return meter.view(Stretch(6.0, 6.0))


def bar_of(snapshot: MemorySnapshot, caches: int, candidate: MemoryPlan | None) -> MemoryState:
    """As the wiring of the tune column feeds it."""
    parts, _ = split(snapshot, accounted(plan(), "system"), caches)
    return MemoryState(
        Parts.of_memory(plan(), "system"),
        None if candidate is None else Parts.of_memory(candidate, "system"),
        round(parts.others),
        snapshot.total_bytes,
        round(parts.caches),
        round(parts.rest),
    )


# All touched and half a GiB nobody explains; half of the cache not written yet; pages taken back.
READINGS: list[Any] = [
    pytest.param(3.0, 2.0, GIB // 4, id="all in memory"),
    pytest.param(1.75, 2.0, 0, id="cache not written yet"),
    pytest.param(2.5, 0.5, GIB // 4, id="mapped pages taken back"),
]


@pytest.mark.parametrize(("owned_gib", "mapped_gib", "caches"), READINGS)
def test_that_the_chart_is_the_hardware_card_and_mapped_weights(
    owned_gib: float, mapped_gib: float, caches: int
) -> None:
    snapshot = reading(owned_gib, mapped_gib)
    view = chart_of(snapshot, caches, None)
    assert view.used == snapshot.used_bytes + mapped_gib * GIB
    assert view.parts is not None
    assert view.parts.caches == caches, "no rest that nobody explains"


@pytest.mark.parametrize(("owned_gib", "mapped_gib", "caches"), READINGS)
def test_that_the_bar_is_the_chart_with_all_that_is_reserved(
    owned_gib: float, mapped_gib: float, caches: int
) -> None:
    snapshot = reading(owned_gib, mapped_gib)
    view, bar = chart_of(snapshot, caches, None), bar_of(snapshot, caches, None)
    total = bar.beside_bytes + bar.now.total
    assert total == view.reserved
    assert view.used is not None
    planned = accounted(plan(), "system")
    assert view.parts is not None
    assert planned is not None
    untouched = sum(
        max(0.0, getattr(planned, use) - getattr(view.parts, use)) for use in planned._fields
    )
    assert total == view.used + untouched


@pytest.mark.parametrize(("owned_gib", "mapped_gib", "caches"), READINGS)
def test_that_chart_and_bar_predict_the_same_total(
    owned_gib: float, mapped_gib: float, caches: int
) -> None:
    snapshot, more = reading(owned_gib, mapped_gib), plan(3 * GIB)
    view, bar = chart_of(snapshot, caches, more), bar_of(snapshot, caches, more)
    assert view.candidate == bar.beside_bytes + bar.then.total
    assert view.reserved is not None
    assert view.candidate == view.reserved + 2 * GIB


def test_that_what_caches_hold_is_explained() -> None:
    snapshot = reading(3.0, 2.0)
    assert chart_of(snapshot, 0, None).unexplained == 3 * GIB // 4
    assert chart_of(snapshot, GIB // 4, None).unexplained == GIB // 2


def test_that_a_bar_of_boards_has_no_part_that_lies_in_main_memory() -> None:
    board = DeviceBytes("CUDA0", 5 * GIB, GIB, GIB // 2)
    host = DeviceBytes("CPU", 2 * GIB, 0, GIB // 4)
    split_plan = msgspec.structs.replace(plan(), devices=(board, host))
    assert Parts.of_memory(split_plan, "gpu").total == 13 * GIB // 2
    assert Parts.of_memory(split_plan, "gpu").caches == 0
    assert Parts.of_memory(split_plan, "system").total == 9 * GIB // 4


def test_that_each_of_the_three_says_what_it_counts() -> None:
    said = DEFINITIONS["memory_totals"]
    for word in ("the row RAM", "This chart", "bar above the settings"):
        assert word in said
    note = bar_of(reading(3.0, 2.0), 0, None).counted_note()
    assert "memory chart" in note
    assert "row RAM" in note
