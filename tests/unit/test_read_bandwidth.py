"""The peak that MBU is measured against."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from engine_bridge.hardware import read_bandwidth
from engine_bridge.hardware.read_bandwidth import (
    PIECE_BYTES,
    Run,
    best_of,
    best_rate,
    buffer_bytes,
    last_level_cache_bytes,
    measure_peak_read,
)


def _cache(cpu: Path, index: int, level: int, size: str, shared: str) -> None:
    folder = cpu / "cache" / f"index{index}"
    folder.mkdir(parents=True)
    (folder / "level").write_text(f"{level}\n")
    (folder / "size").write_text(f"{size}\n")
    (folder / "shared_cpu_list").write_text(f"{shared}\n")


def test_that_shared_last_level_caches_count_once_each(tmp_path: Path) -> None:
    for cpu, shared in enumerate(("0-1", "0-1", "2-3", "2-3")):
        _cache(tmp_path / f"cpu{cpu}", 0, 1, "32K", str(cpu))
        _cache(tmp_path / f"cpu{cpu}", 3, 3, "32M", shared)
    assert last_level_cache_bytes(tmp_path) == 2 * (32 << 20)


def test_that_a_hidden_cache_table_is_no_error(tmp_path: Path) -> None:
    assert last_level_cache_bytes(tmp_path) == 0


def test_that_the_best_window_counts_and_not_the_disturbed_ones() -> None:
    calm = np.arange(0.0, 1.0, 0.01)
    disturbed = np.arange(1.0, 3.0, 0.05)
    rate = best_rate(np.concatenate([disturbed, calm]), piece_bytes=1000, window_s=0.5)
    assert rate == pytest.approx(100_000, rel=0.03)


def test_that_one_piece_is_no_rate() -> None:
    assert best_rate(np.array([1.0]), 1000, 0.1) == 0.0
    assert best_rate(np.array([1.0, 1.0]), 1000, 0.1) == 0.0


@pytest.mark.parametrize(
    ("threads", "runs", "seconds"), [(0, 1, 0.1), (1, 1, 0.0), (1, 0, 0.1), (1, 1, float("nan"))]
)
def test_that_an_impossible_measurement_is_refused(threads: int, runs: int, seconds: float) -> None:
    with pytest.raises(ValueError, match="measure"):
        measure_peak_read(threads, threading.Event(), runs, seconds)


def test_that_reading_is_measured_at_a_plausible_speed() -> None:
    # From a slow laptop's single channel to a server with a dozen: outside is a wrong unit or a
    # cache that was measured instead of the memory.
    read = measure_peak_read(2, threading.Event(), runs=2, seconds=0.1)
    assert read is not None
    assert 1e9 < read.bytes_per_s < 3e12
    assert read.runs == 2
    assert 0 <= read.spread <= 1
    assert 0 < read.core_share <= 1


def test_that_a_measurement_that_is_in_the_way_ends_without_a_figure() -> None:
    stop = threading.Event()
    stop.set()
    assert measure_peak_read(2, stop, runs=5, seconds=60.0) is None


def test_that_a_measurement_cut_short_gives_its_memory_back_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And not when Python happens to look for circles: a busy engine would grow block by block."""
    made: list[weakref.ref[Any]] = []
    ones = np.ones

    def remembered(*shape: Any, **kind: Any) -> Any:
        block = ones(*shape, **kind)
        made.append(weakref.ref(block))
        return block

    monkeypatch.setattr(np, "ones", remembered)
    stop = threading.Event()
    stop.set()
    gc.disable()
    try:
        assert measure_peak_read(2, stop, runs=5, seconds=60.0) is None
        assert made
        assert [block() for block in made] == [None] * len(made)
    finally:
        gc.enable()


MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("threads", "cache_bytes", "available_bytes", "expected"),
    [
        (2, 0, 64 * GIB, 256 * MIB),
        (2, 64 * MIB, 64 * GIB, 512 * MIB),
        (2, 480 * MIB, 64 * GIB, GIB),  # a virtual machine that sees the host's caches
        (2, 480 * MIB, 4 * GIB, 512 * MIB),
        (192, 480 * MIB, 64 * GIB, 192 * 8 * MIB),  # each thread beyond its own L2
        (192, 480 * MIB, 4 * GIB, 0),
    ],
)
def test_that_what_is_read_over_stays_small_beside_the_machine(
    threads: int, cache_bytes: int, available_bytes: int, expected: int
) -> None:
    assert buffer_bytes(threads, cache_bytes, available_bytes) == expected


def _machine(monkeypatch: pytest.MonkeyPatch, cache_bytes: int, available_bytes: int) -> None:
    class Memory:
        available = available_bytes

    monkeypatch.setattr(read_bandwidth, "last_level_cache_bytes", lambda: cache_bytes)
    monkeypatch.setattr(psutil, "virtual_memory", Memory)


@pytest.mark.parametrize(("cache_bytes", "is_of_cache"), [(16 * MIB, False), (17 * MIB, True)])
def test_that_a_figure_that_may_be_of_the_caches_says_so(
    monkeypatch: pytest.MonkeyPatch, cache_bytes: int, is_of_cache: bool
) -> None:
    _machine(monkeypatch, cache_bytes, available_bytes=8 * 32 * MIB)
    read = measure_peak_read(1, threading.Event(), runs=2, seconds=0.1)
    assert read is not None
    assert read.is_of_cache is is_of_cache


def test_that_no_memory_is_kept_after_a_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, 0, available_bytes=64 * GIB)
    process = psutil.Process()
    measure_peak_read(1, threading.Event(), runs=1, seconds=0.001)  # what numpy keeps for itself
    before = process.memory_info().rss
    assert measure_peak_read(2, threading.Event(), runs=1, seconds=0.01) is not None
    assert process.memory_info().rss - before < 64 * MIB


def _run(pieces: int, core_share: float) -> Run:
    return Run(np.linspace(0.0, 1.0, pieces + 1), core_share)


def test_that_the_best_run_counts_and_the_spread_is_told() -> None:
    read = best_of([_run(50, 0.6), _run(100, 0.99), _run(80, 0.95)], window_s=0.5)
    assert read is not None
    assert read.bytes_per_s == pytest.approx(100 * PIECE_BYTES, rel=0.03)
    assert read.runs == 3
    assert read.spread == pytest.approx(0.5, abs=0.02)
    assert not read.is_lower_bound


def test_that_a_best_run_without_all_its_cores_is_a_lower_bound() -> None:
    read = best_of([_run(50, 0.99), _run(60, 0.55)], window_s=0.5)
    assert read is not None
    assert read.is_lower_bound


def test_that_no_run_is_no_figure() -> None:
    assert best_of([], 0.1) is None
