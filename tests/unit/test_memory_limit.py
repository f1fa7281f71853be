"""Limits that a process has beside the machine's memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.hardware.memory_limit import HostMemory, container_limit, host_memory

GIB = 2**30


def group(root: Path, path: str, most: str, used: int, files: int = 0) -> None:
    folder = root / path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{most}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    stat = f"anon 1\ninactive_file {files // 2}\nactive_file {files - files // 2}\n"
    (folder / "memory.stat").write_text(stat)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "cgroup"
    path.write_text("4:memory:/old\n0::/slice/pod\n")
    return path


def test_that_a_container_has_its_limit(tmp_path: Path, own: Path) -> None:
    group(tmp_path, "slice/pod", str(8 * GIB), 5 * GIB, files=2 * GIB)
    assert container_limit(tmp_path, own) == HostMemory(5 * GIB, 8 * GIB)


def test_that_the_narrowest_group_above_counts(tmp_path: Path, own: Path) -> None:
    group(tmp_path, "slice", str(6 * GIB), 4 * GIB)
    group(tmp_path, "slice/pod", str(8 * GIB), GIB)
    assert container_limit(tmp_path, own) == HostMemory(2 * GIB, 6 * GIB)


def test_that_no_limit_is_none(tmp_path: Path, own: Path) -> None:
    assert container_limit(tmp_path, own) is None
    group(tmp_path, "slice/pod", "max", GIB)
    assert container_limit(tmp_path, own) is None
    assert container_limit(tmp_path, tmp_path / "gone") is None


def test_that_a_group_over_its_limit_has_nothing_left(tmp_path: Path, own: Path) -> None:
    group(tmp_path, "slice/pod", str(GIB), 2 * GIB)
    assert container_limit(tmp_path, own) == HostMemory(0, GIB)


def test_that_the_machine_has_some_memory() -> None:
    found = host_memory()
    assert 0 < found.free <= found.total
