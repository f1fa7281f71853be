"""What the system tells about itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.experiments.machine_state import MachineReader, throttlings
from engine_bridge.hardware.ram import RamReader
from engine_bridge.metrics.board_activity import BoardActivity, HeldBack
from engine_bridge.metrics.snapshot import MemorySnapshot


def count(cpus: Path, number: int, *, core: int, package: int) -> None:
    """The counters of one processor thread as Linux shows them."""
    folder = cpus / f"cpu{number}" / "thermal_throttle"
    folder.mkdir(parents=True)
    (folder / "core_throttle_count").write_text(f"{core}\n")
    (folder / "package_throttle_count").write_text(f"{package}\n")


def test_that_throttlings_of_cores_are_added_and_those_of_the_package_counted_once(
    tmp_path: Path,
) -> None:
    count(tmp_path, 0, core=2, package=10)
    count(tmp_path, 1, core=3, package=10)
    assert throttlings(tmp_path) == 15


def test_that_a_machine_that_does_not_count_is_not_taken_for_a_cool_one(tmp_path: Path) -> None:
    assert throttlings(tmp_path) is None


def test_that_a_counter_that_is_no_number_counts_nothing(tmp_path: Path) -> None:
    count(tmp_path, 0, core=2, package=1)
    (tmp_path / "cpu0" / "thermal_throttle" / "core_throttle_count").write_text("?\n")
    assert throttlings(tmp_path) == 1


class _Board:
    """A board's reader with one board."""

    def __init__(self, *held_back: HeldBack) -> None:
        self.engine_pid: int | None = None
        self.activity = (BoardActivity("RTX", held_back=held_back),)
        self.problem = ""
        self.is_closed = False

    def read(self) -> tuple[MemorySnapshot, ...]:
        return ()

    def close(self) -> None:
        self.is_closed = True


def reader_of(cpus: Path, board: _Board | None = None) -> MachineReader:
    """A reader of this machine with other boards."""
    boards = () if board is None else (board,)
    return MachineReader(0, cpus=cpus, open_boards=lambda: (RamReader(), *boards))


def burn_until(is_enough: Callable[[], bool]) -> None:
    """Use a core until it shows; ten seconds are never needed."""
    deadline_s = time.monotonic() + 10.0
    while not is_enough() and time.monotonic() < deadline_s:
        sum(range(100_000))


def test_that_our_own_work_is_counted_as_ours(tmp_path: Path) -> None:
    reader = reader_of(tmp_path)
    before = reader.read()
    burn_until(lambda: sum(os.times()[:2]) >= before.ours_s + 0.05)
    now = reader.read()
    assert now.at_s > before.at_s
    assert now.ours_s >= before.ours_s + 0.03
    assert now.busy_s >= before.busy_s
    assert now.throttlings is None
    reader.close()


def test_that_an_engine_that_has_just_ended_does_no_harm(tmp_path: Path) -> None:
    reader = MachineReader(2**22 + 1, cpus=tmp_path, open_boards=tuple)
    assert reader.read().ours_s > 0
    reader.close()


def test_that_only_faults_of_a_board_count_as_held_back(tmp_path: Path) -> None:
    board = _Board(
        HeldBack("power limit", "As it should be."), HeldBack("heat", "Too hot.", is_fault=True)
    )
    reader = reader_of(tmp_path, board)
    assert reader.read().held_back == (("RTX", "heat"),)
    reader.close()
    assert board.is_closed


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="a clock of Linux")
def test_that_the_time_asleep_does_not_grow_while_awake(tmp_path: Path) -> None:
    reader = reader_of(tmp_path)
    first, second = reader.read().slept_s, reader.read().slept_s
    assert first is not None
    assert second is not None
    assert abs(second - first) < 0.5
    reader.close()
