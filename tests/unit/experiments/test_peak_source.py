"""What MBU is a share of."""

from __future__ import annotations

import msgspec
import pytest

from app.experiments.peak_source import peak_of, peak_sentence
from engine_bridge.hardware.machine import MemoryReader
from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import Applied, DeviceFacts, Hello
from tests.unit.experiments.fake_port import FakePort, config_with
from tests.unit.fake_client import applied

_GB = 10**9


class _Board:
    """A board's reader."""

    def __init__(self, peak_bytes_per_s: float | None, how: str) -> None:
        self.engine_pid: int | None = None
        self.activity: tuple[BoardActivity, ...] = ()
        self.problem = ""
        self.is_closed = False
        self._snapshot = MemorySnapshot(
            1, "gpu", "NVIDIA H200", 140 * _GB, 0, peak_bytes_per_s=peak_bytes_per_s, peak_how=how
        )

    def read(self) -> tuple[MemorySnapshot, ...]:
        return (self._snapshot,)

    def close(self) -> None:
        self.is_closed = True


class _Port(FakePort):
    """A port to an engine with a board."""

    @property
    def hello(self) -> Hello:
        board = DeviceFacts("CUDA0", "NVIDIA H200", "gpu", "CUDA", _GB, 2 * _GB)
        return msgspec.structs.replace(super().hello, devices=(board,))


def running_on(*devices: DeviceBytes) -> Applied:
    """A configuration whose memory lies on these devices."""
    plan = MemoryPlan(BytesByUse(), devices, None, fits=True, problems=(), seconds=0.0)
    return msgspec.structs.replace(applied(config_with()), memory=plan)


def device(name: str, weights: int) -> DeviceBytes:
    """Weights on a device."""
    return DeviceBytes(name, weights=weights, kv=0, compute=0)


def no_boards() -> tuple[MemoryReader, ...]:
    """To be asked only where a model lies on a board."""
    raise AssertionError("nothing lies on a board")


def test_that_main_memory_is_what_the_engine_measured() -> None:
    port = FakePort()
    peak = peak_of(port, running_on(device("CPU", 5 * _GB)), no_boards)
    assert peak.bytes_per_s == port.peak_bytes_per_s
    assert peak_sentence(peak) == (
        "MBU is the share of a peak of 200.0 GB/s: main memory, read by 2 threads."
    )


def test_that_a_peak_that_was_not_measured_is_not_made_up() -> None:
    port = FakePort()
    port.peak_bytes_per_s = 0.0
    peak = peak_of(port, running_on(device("CPU", 5 * _GB)), no_boards)
    assert peak.bytes_per_s is None
    assert peak_sentence(peak) == "MBU is not known: the peak bandwidth was not measured."


def test_that_a_model_on_a_board_is_held_against_the_board() -> None:
    board = _Board(4.9e12, "bus × clock")
    peak = peak_of(_Port(), running_on(device("CUDA0", 5 * _GB)), lambda: (board,))
    assert peak.bytes_per_s == 4.9e12
    assert peak_sentence(peak) == "MBU is the share of a peak of 4,900.0 GB/s: bus × clock."
    assert board.is_closed


def test_that_of_a_model_on_both_both_count_by_what_is_read() -> None:
    board = _Board(2e12, "bus × clock")
    on_both = running_on(device("CUDA0", 8 * _GB), device("CPU", 2 * _GB))
    # 8 GB at 2 TB/s are 4 ms, 2 GB at 200 GB/s are 10 ms: 10 GB in 14 ms.
    assert peak_of(_Port(), on_both, lambda: (board,)).bytes_per_s == pytest.approx(10e9 / 0.014)


def test_that_a_board_that_tells_no_peak_leaves_mbu_unknown() -> None:
    board = _Board(None, "the driver does not tell")
    peak = peak_of(_Port(), running_on(device("CUDA0", 5 * _GB)), lambda: (board,))
    assert peak.bytes_per_s is None
    assert "the driver does not tell" in peak_sentence(peak)


def test_that_a_peak_measured_beside_other_programs_is_a_lower_bound() -> None:
    port = FakePort()
    port.is_peak_lower_bound = True
    sentence = peak_sentence(peak_of(port, running_on(device("CPU", 5 * _GB)), no_boards))
    assert "the memory can give more, and MBU is lower than shown" in sentence
