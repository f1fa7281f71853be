"""The peak that MBU is measured against."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine_bridge.hardware.read_bandwidth import (
    best_rate,
    last_level_cache_bytes,
    measure_read_bandwidth,
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


@pytest.mark.parametrize(("threads", "seconds"), [(0, 0.1), (1, 0.0), (1, float("nan"))])
def test_that_an_impossible_measurement_is_refused(threads: int, seconds: float) -> None:
    with pytest.raises(ValueError, match="measure"):
        measure_read_bandwidth(threads, seconds)


def test_that_reading_is_measured_at_a_plausible_speed() -> None:
    # From a slow laptop's single channel to a server with a dozen: outside is a wrong unit or a
    # cache that was measured instead of the memory.
    assert 1e9 < measure_read_bandwidth(2, seconds=0.1) < 3e12
