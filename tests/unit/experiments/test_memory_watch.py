"""The most that processes held while they were watched."""

from __future__ import annotations

import threading

from app.experiments.memory_watch import (
    BOARDS,
    PRIVATE,
    RESIDENT,
    MemoryWatch,
    memory_figures,
)
from engine_bridge.hardware.process_memory import ProcessBytes

PATIENCE_S = 20.0


class Reader:
    """Reads what a test has written down, one reading after another."""

    def __init__(self, readings: dict[int, list[ProcessBytes]]) -> None:
        self._readings = readings
        self.is_closed = False
        self.has_read_all = threading.Event()

    def read(self, pid: int) -> ProcessBytes:
        left = self._readings[pid]
        held = left.pop(0) if len(left) > 1 else left[0]
        if all(len(each) == 1 for each in self._readings.values()):
            self.has_read_all.set()
        return held

    def close(self) -> None:
        self.is_closed = True


def test_that_the_highest_figures_of_each_are_kept_and_the_reader_closed() -> None:
    reader = Reader(
        {
            7: [ProcessBytes(10, 4), ProcessBytes(30, 2), ProcessBytes(20, 3)],
            8: [ProcessBytes(1, 1, 5)],
        }
    )
    with MemoryWatch(lambda: reader, period_s=0.001) as watch:
        watch.follow("server", 7)
        watch.follow("engine", 8)
        assert reader.has_read_all.wait(PATIENCE_S)
    assert watch.peaks("server") == ProcessBytes(30, 4)
    assert watch.peaks("engine") == ProcessBytes(1, 1, 5)
    assert watch.peaks("nobody") == ProcessBytes()
    assert reader.is_closed


def test_that_figures_that_nobody_told_are_left_out() -> None:
    assert memory_figures(ProcessBytes(1 << 20, 1 << 10, None)) == {
        RESIDENT: float(1 << 20),
        PRIVATE: float(1 << 10),
    }
    assert memory_figures(ProcessBytes(None, None, 3)) == {BOARDS: 3.0}
