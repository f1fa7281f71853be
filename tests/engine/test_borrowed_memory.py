"""While the peak is read the engine has up to 1 GiB more: said, and in no figure of its own."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine_bridge.child import llama
from engine_bridge.child.engine import Engine
from engine_bridge.child.loader import LoadJob
from engine_bridge.hardware.ram import owned_and_mapped_bytes
from engine_bridge.hardware.read_bandwidth import PeakRead
from engine_bridge.protocol import Applied, DeviceFacts, MemoryMeasured
from tests.engine.harness import InProcess, tiny_config

_MIB = 1 << 20
_BLOCK_BYTES = 160 * _MIB
# What else may come and go in a process of tests meanwhile.
_SLACK_BYTES = 60 * _MIB
_PATIENCE_S = 60.0
_HOST = DeviceFacts("CPU", "CPU", "cpu", "CPU", 4096 * _MIB, 8192 * _MIB)
_BOARD = DeviceFacts("CUDA0", "RTX 3090", "gpu", "CUDA", 100 * _MIB, 8192 * _MIB)


class _Reading:
    """A measurement that takes its memory and gives it back when it is told to."""

    def __init__(self) -> None:
        self.may_begin, self.has_block, self.may_end = (threading.Event() for _ in range(3))

    def measure(self, threads: int, stop: threading.Event) -> PeakRead | None:
        assert self.may_begin.wait(_PATIENCE_S)
        block = bytearray(b"\1") * _BLOCK_BYTES
        self.has_block.set()
        assert self.may_end.wait(_PATIENCE_S)
        return PeakRead(9e9, 5, 0.02, 1.0) if len(block) == _BLOCK_BYTES else None


def test_that_what_the_peak_is_read_from_is_told_and_counts_for_nobody(
    few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, process = _Reading(), psutil.Process()
    with InProcess(measure_bandwidth=reading.measure) as desk:
        try:
            desk.load(tiny_config(few_words_path))
            monkeypatch.setattr(llama.GGML, "devices", lambda: (_HOST, _BOARD))
            own_bytes, _ = owned_and_mapped_bytes(process)
            reading.may_begin.set()
            desk.until(reading.has_block.is_set)
            told_before = len(desk.all_of(MemoryMeasured))
            desk.until(lambda: len(desk.all_of(MemoryMeasured)) > told_before)
            real_bytes, _ = owned_and_mapped_bytes(process)
            told = desk.all_of(MemoryMeasured)[-1]
            assert real_bytes > own_bytes + _BLOCK_BYTES - _SLACK_BYTES
            assert told.borrowed >= _BLOCK_BYTES
            assert abs(told.owned - own_bytes) < _SLACK_BYTES
            host, board = told.devices
            assert host.free > _HOST.free + _BLOCK_BYTES - _SLACK_BYTES
            assert board == _BOARD
        finally:
            reading.may_begin.set()
            reading.may_end.set()
        desk.until(lambda: not desk.all_of(MemoryMeasured)[-1].borrowed)
        told = desk.all_of(MemoryMeasured)[-1]
        assert told.devices == (_HOST, _BOARD)
        assert abs(told.owned - own_bytes) < _SLACK_BYTES


def test_that_the_loan_is_told_before_it_is_taken(few_words_path: Path) -> None:
    reading = _Reading()
    with InProcess(measure_bandwidth=reading.measure) as desk:
        try:
            desk.load(tiny_config(few_words_path))
            desk.until(lambda: any(e.borrowed for e in desk.all_of(MemoryMeasured)))
            assert not reading.has_block.is_set()
        finally:
            reading.may_begin.set()
            reading.may_end.set()


def test_that_the_loan_is_given_back_before_memory_is_asked_for(
    few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    readers_beside: list[int] = []
    apply_context, start = Engine.apply_context, LoadJob.start

    def until_stopped(threads: int, stop: threading.Event) -> PeakRead | None:
        begun.append(threads)
        return None if stop.wait(_PATIENCE_S) else PeakRead(9e9, 5, 0.02, 1.0)

    def note() -> None:
        readers_beside.append(sum(t.name == "bandwidth" for t in threading.enumerate()))

    def applied(engine: Engine, *args: Any) -> None:
        note()
        apply_context(engine, *args)

    def started(job: LoadJob, *args: Any) -> None:
        note()
        start(job, *args)

    config = tiny_config(few_words_path)
    with InProcess(measure_bandwidth=until_stopped) as desk:
        desk.load(config)
        monkeypatch.setattr(Engine, "apply_context", applied)
        monkeypatch.setattr(LoadJob, "start", started)
        desk.until(lambda: len(begun) == 1)
        assert isinstance(desk.apply(config.with_values({"slots": 2})), Applied)
        desk.until(lambda: len(begun) == 2)  # it begins again
        desk.load(config)
        assert readers_beside == [0, 0]
