"""The peak of the memory that decode reads, where it lies on one device or several."""

from __future__ import annotations

import msgspec
import pytest

from engine_bridge.memory_plan import DeviceBytes, MemoryPlan
from engine_bridge.metrics.bandwidth import effective_peak_bytes_per_s
from engine_bridge.metrics.bandwidth_meter import BandwidthMeter
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import BandwidthMeasured, DeviceFacts, StepsMeasured
from engine_bridge.step_work import StepWork
from tests.widgets.synthetic import plan

GIB = 1 << 30
BOARD = "NVIDIA GeForce RTX 3090"


def placed(*devices: DeviceBytes, weights_read: int = 0) -> MemoryPlan:
    return msgspec.structs.replace(plan(0), devices=devices, weights_read=weights_read)


@pytest.fixture
def meter() -> BandwidthMeter:
    made = BandwidthMeter(64)
    made.set_host_peak(BandwidthMeasured(60e9, 2, "read by 2 threads"), 0.0)
    made.set_devices([DeviceFacts("CUDA0", BOARD, "gpu", "CUDA", 0, 24 * GIB)], 0.0)
    snapshot = MemorySnapshot(0, "gpu", BOARD, 24 * GIB, 0, None, 0, None, 936e9, "bus × clock")
    made.set_board_peaks([snapshot], 0.0)
    return made


def test_that_a_table_left_in_main_memory_does_not_slow_a_board(meter: BandwidthMeter) -> None:
    cpu, board = DeviceBytes("CPU", GIB, 0, 0), DeviceBytes("CUDA0", 6 * GIB, GIB, 0)
    meter.set_applied(placed(cpu, board, weights_read=6 * GIB), 0.0)
    peak = meter.peak()
    assert peak.bytes_per_s == pytest.approx(936e9)
    assert [part.name for part in peak.parts] == [BOARD]
    assert not peak.is_measured
    assert not peak.is_on_processor


def test_that_layers_left_in_main_memory_count_without_what_is_only_looked_up(
    meter: BandwidthMeter,
) -> None:
    cpu, board = DeviceBytes("CPU", 3 * GIB, 0, 0), DeviceBytes("CUDA0", 4 * GIB, 0, 0)
    meter.set_applied(placed(cpu, board, weights_read=6 * GIB), 0.0)
    peak = meter.peak()
    assert [part.read_bytes for part in peak.parts] == [2 * GIB, 4 * GIB]
    expected = effective_peak_bytes_per_s([(2, 60e9), (4, 936e9)])
    assert peak.bytes_per_s == pytest.approx(expected)
    assert peak.is_measured
    assert peak.how == "read by 2 threads + bus × clock"


def test_that_the_cache_counts_by_what_is_read_of_it(meter: BandwidthMeter) -> None:
    cpu, board = DeviceBytes("CPU", 2 * GIB, 6 * GIB, 0), DeviceBytes("CUDA0", 4 * GIB, 2 * GIB, 0)
    meter.set_applied(placed(cpu, board), 0.0)
    assert [part.read_bytes for part in meter.peak().parts] == [2 * GIB, 4 * GIB]
    work = StepWork(1, 10, 0.1, 10, 10, 10, 6.0 * GIB * 10, 0.4 * GIB * 10)
    meter.add_span(StepsMeasured(0, 1, 0.1, 10, 10, 0.1, 64 * GIB, 10, 0, 0.0, 0.0, 1, (), (work,)))
    assert [part.read_bytes for part in meter.peak().parts] == [
        pytest.approx(2.3 * GIB),
        pytest.approx(4.1 * GIB),
    ]


def test_that_all_in_main_memory_has_its_peak(meter: BandwidthMeter) -> None:
    meter.set_applied(plan(GIB), 0.0)
    peak = meter.peak()
    assert peak.bytes_per_s == 60e9
    assert peak.is_on_processor
    assert peak.is_measured


def test_that_an_unmeasured_main_memory_is_no_unknown_board() -> None:
    meter = BandwidthMeter(64)
    meter.set_applied(plan(GIB), 0.0)
    peak = meter.peak()
    assert peak.bytes_per_s is None
    assert peak.how == ""


def test_that_a_worker_elsewhere_is_named(meter: BandwidthMeter) -> None:
    meter.set_applied(placed(DeviceBytes("RPC0", GIB, 0, 0)), 0.0)
    peak = meter.peak()
    assert peak.bytes_per_s is None
    assert peak.how == "peak of RPC0 unknown"


def test_that_a_peak_read_from_caches_is_told_until_memory_itself_was_read(
    meter: BandwidthMeter,
) -> None:
    of_cache = BandwidthMeasured(90e9, 2, "read", is_lower_bound=True, is_of_cache=True)
    meter.set_host_peak(of_cache, 0.0)
    assert meter.peak().is_of_cache
    memory = BandwidthMeasured(60e9, 2, "read", is_lower_bound=True)
    assert not meter.knows_better(memory)
    meter.set_host_peak(memory, 1.0)
    assert not meter.peak().is_of_cache
    assert meter.knows_better(BandwidthMeasured(50e9, 2, "read", is_lower_bound=True))
