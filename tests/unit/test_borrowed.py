"""What the engine borrows for a second is in nobody's figures of its memory."""

from __future__ import annotations

import threading

import pytest

from app.experiments.run_meter import RunMeter
from engine_bridge.hardware.borrowed import NOTHING, Borrowed, without_borrowed
from engine_bridge.hardware.machine import MemoryReader, Sampler
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.memory_meter import split
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import DeviceFacts, MemoryMeasured

GIB = 1 << 30
# Two GiB of its own, a quarter of one of what it has borrowed touched so far.
RAM = MemorySnapshot(1, "system", "System memory", 16 * GIB, 6 * GIB, 9 * GIB // 4, GIB)
BEFORE = Borrowed(GIB, 2 * GIB)


@pytest.mark.parametrize(
    ("owned_gib", "part_gib"),
    [
        (2.0, 0.0),  # nothing touched yet
        (2.25, 0.25),
        (3.0, 1.0),
        (3.5, 1.0),  # half a GiB is the engine's own
        (1.5, 0.0),  # it gave something of its own back
    ],
)
def test_that_only_what_came_since_and_was_to_come_is_borrowed(
    owned_gib: float, part_gib: float
) -> None:
    assert BEFORE.part_of(int(owned_gib * GIB)) == part_gib * GIB
    assert NOTHING.part_of(int(owned_gib * GIB)) == 0


def test_that_a_reading_is_as_it_would_be_without_the_loan() -> None:
    shown = without_borrowed(RAM, BEFORE)
    assert (shown.engine_owned_bytes, shown.used_bytes) == (2 * GIB, 23 * GIB // 4)
    assert shown.engine_borrowed_bytes == GIB // 4
    others = RAM.used_bytes - (RAM.engine_owned_bytes or 0)
    assert split(shown, None)[0].others == others, "no other program has it either"


def test_that_a_board_and_an_unknown_engine_stay_as_they_are() -> None:
    board = MemorySnapshot(1, "gpu", "RTX 3090", 24 * GIB, 6 * GIB, 5 * GIB)
    unknown = MemorySnapshot(1, "system", "System memory", 16 * GIB, 6 * GIB, None)
    for snapshot in (board, unknown):
        assert without_borrowed(snapshot, BEFORE) == snapshot


class _Ram:
    """A reader that knows one figure."""

    def __init__(self) -> None:
        self.engine_pid: int | None = None
        self.activity: tuple[BoardActivity, ...] = ()
        self.problem = ""
        self.reads = threading.Semaphore(0)

    def read(self) -> tuple[MemorySnapshot, ...]:
        self.reads.release()
        return (RAM,)

    def close(self) -> None:
        """Nothing to give back."""


def _sampled(sampler: Sampler, ram: _Ram) -> MemorySnapshot:
    sampler.start()
    try:
        # With the third one begun, the second one is told.
        for _ in range(3):
            assert ram.reads.acquire(timeout=10)
    finally:
        sampler.stop()
    return sampler.latest[0]


def test_that_the_sampler_takes_it_out_until_another_engine_is_watched() -> None:
    ram = _Ram()
    readers: tuple[MemoryReader, ...] = (ram,)
    sampler = Sampler(0.001, lambda: readers)
    sampler.note_borrowed(BEFORE)
    assert _sampled(sampler, ram).engine_owned_bytes == 2 * GIB
    other = Sampler(0.001, lambda: readers)
    other.note_borrowed(BEFORE)
    other.watch(7)
    assert _sampled(other, ram) == RAM


def test_that_a_run_has_the_most_that_the_engine_itself_owned() -> None:
    host = DeviceFacts("CPU", "Xeon", "cpu", "CPU", 10 * GIB, 16 * GIB)
    meter = RunMeter(0)
    meter.fold(MemoryMeasured(1, 2 * GIB, 0, (host,), borrowed=GIB))
    meter.fold(MemoryMeasured(2, 2 * GIB, 0, (host,)))
    assert (meter.owned_bytes, meter.device_bytes) == (2 * GIB, {"CPU": 6 * GIB})
