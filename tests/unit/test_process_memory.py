"""What a process holds: of the system's memory, and of boards by replayed answers of NVML."""

from __future__ import annotations

import os

import pynvml
import pytest

from engine_bridge.hardware.process_memory import ProcessBytes, ProcessMemory
from tests.unit import nvml_replay

PID = os.getpid()
MIB = 1 << 20


def without_driver() -> ProcessMemory:
    driver = nvml_replay.Replay([], fails_with=pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)
    return ProcessMemory(driver)


def board(
    compute: list[nvml_replay.Process], graphics: list[nvml_replay.Process] | None = None
) -> nvml_replay.Board:
    memory = nvml_replay.Memory(24 << 30, 20 << 30)
    return nvml_replay.Board(
        "RTX 3090", 384, 9751, memory, compute=compute, graphics=graphics or []
    )


def boards_of(*boards: nvml_replay.Board) -> int | None:
    memory = ProcessMemory(nvml_replay.Replay(list(boards)))
    try:
        return memory.read(PID).boards
    finally:
        memory.close()
        memory.close()


def test_that_this_process_has_pages_of_its_own() -> None:
    memory = without_driver()
    held = memory.read(PID)
    memory.close()
    assert held.resident is not None
    assert held.resident > 10 * MIB
    assert held.private is None or 0 < held.private <= held.resident
    assert held.boards is None


def test_that_a_process_that_is_gone_holds_nothing() -> None:
    memory = without_driver()
    assert memory.read(2**22 + 1) == ProcessBytes()


def test_that_boards_are_added_up_and_both_lists_looked_at() -> None:
    mine = nvml_replay.Process(PID, 3 * MIB)
    other = nvml_replay.Process(PID + 1, 50 * MIB)
    assert boards_of(board([mine, other]), board([other], [nvml_replay.Process(PID, MIB)])) == (
        4 * MIB
    )


@pytest.mark.parametrize(
    "processes",
    [[], [nvml_replay.Process(PID, None)]],
    ids=["a container's empty list", "Windows does not tell"],
)
def test_that_what_no_driver_tells_is_unknown(processes: list[nvml_replay.Process]) -> None:
    assert boards_of(board(processes)) is None


def test_that_a_process_that_is_on_no_board_holds_nothing_there() -> None:
    assert boards_of(board([nvml_replay.Process(PID + 1, 5 * MIB)])) == 0


def test_that_the_higher_of_each_figure_is_kept() -> None:
    first, second = ProcessBytes(5, 1, None), ProcessBytes(3, 2, None)
    assert first.highest(second) == ProcessBytes(5, 2, None)
    assert ProcessBytes().highest(ProcessBytes(1, None, 7)) == ProcessBytes(1, None, 7)
