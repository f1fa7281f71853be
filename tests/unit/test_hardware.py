"""Readers of this machine: NVML by recorded values, main memory by looking."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pynvml
import pytest

from engine_bridge.hardware.machine import MemoryReader, Sampler, open_readers
from engine_bridge.hardware.nvidia import NvidiaError, NvidiaReader, peak_bytes_per_s
from engine_bridge.hardware.ram import RamReader
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.snapshot import MemorySnapshot, together
from tests.unit.nvml_replay import (
    BOARDS,
    ENGINE,
    GIB,
    Board,
    Process,
    Replay,
    h200,
    rtx_3090,
    rtx_4090,
)


def opened(*boards: Board) -> NvidiaReader:
    reader = NvidiaReader.open(ENGINE, Replay(list(boards)))
    assert reader is not None
    return reader


@pytest.mark.parametrize("make", BOARDS, ids=lambda make: str(make.__name__))
def test_that_the_computed_peak_is_within_3_percent_of_the_published(
    make: Callable[[], Board],
) -> None:
    board = make()
    (snapshot,) = opened(board).read()
    assert snapshot.peak_bytes_per_s == pytest.approx(board.published_bytes_per_s, rel=0.03)


def test_that_a_peak_says_how_it_came_about() -> None:
    (snapshot,) = opened(rtx_3090()).read()
    assert snapshot.peak_how == "384 bit × 9751 MHz × 2"
    assert peak_bytes_per_s(384, 9751) == pytest.approx(936e9, rel=0.001)


def test_that_a_board_tells_what_the_engine_and_what_all_hold() -> None:
    (snapshot,) = opened(rtx_3090()).read()
    assert snapshot.total_bytes == 24 * GIB
    assert snapshot.used_bytes == 7 * GIB
    assert snapshot.engine_owned_bytes == 5 * GIB


def test_that_a_process_in_both_lists_counts_once() -> None:
    board = rtx_3090()
    board.graphics = [Process(ENGINE, 5 * GIB)]
    (snapshot,) = opened(board).read()
    assert snapshot.engine_owned_bytes == 5 * GIB


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        ([Process(77, GIB)], 0),  # others are seen, the engine is not among them
        ([], None),  # a container sees nobody
        ([Process(ENGINE, None)], None),  # Windows does not tell
    ],
)
def test_that_an_unknown_part_is_unknown_and_not_zero(
    compute: list[Process], expected: int | None
) -> None:
    board = rtx_3090()
    board.compute = compute
    (snapshot,) = opened(board).read()
    assert snapshot.engine_owned_bytes == expected


@pytest.mark.parametrize(
    "code", [pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED]
)
def test_that_a_machine_without_a_driver_has_no_reader(code: int, tmp_path: Path) -> None:
    nowhere = tmp_path / "version"
    assert NvidiaReader.open(ENGINE, Replay([], fails_with=code), nowhere) is None


def test_that_a_driver_whose_library_is_missing_is_a_sentence(tmp_path: Path) -> None:
    replay = Replay([], fails_with=pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)
    with pytest.raises(NvidiaError, match=r"libnvidia-ml.*container"):
        NvidiaReader.open(ENGINE, replay, tmp_path)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "different versions.*Restart the machine"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "This user may not talk"),
        (pynvml.NVML_ERROR_UNKNOWN, "does not answer.*restart the machine"),
    ],
)
def test_that_a_driver_that_does_not_work_is_a_sentence(code: int, words: str) -> None:
    with pytest.raises(NvidiaError, match=words):
        NvidiaReader.open(ENGINE, Replay([], fails_with=code))


def test_that_a_driver_without_boards_has_no_reader() -> None:
    replay = Replay([])
    assert NvidiaReader.open(ENGINE, replay) is None
    assert not replay.is_open


def test_that_a_driver_that_does_not_work_is_told_in_place_of_its_boards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> NvidiaReader:
        raise NvidiaError("Restart the machine.")

    monkeypatch.setattr(NvidiaReader, "open", fail)
    sampler = Sampler(60.0)
    sampler.start()
    sampler.stop()
    (board,) = sampler.activity
    assert (board.name, board.problem) == ("NVIDIA", "Restart the machine.")
    assert sampler.problems == ("Restart the machine.",)
    assert [snapshot.kind for snapshot in sampler.latest] == ["system"]


def test_that_a_lost_board_is_a_sentence_and_the_others_are_read() -> None:
    lost = rtx_3090()
    reader = opened(lost, rtx_4090())
    reader.read()
    lost.fails = {"all": pynvml.NVML_ERROR_GPU_IS_LOST}
    (memory,) = reader.read()
    assert memory.name == "NVIDIA GeForce RTX 4090"
    assert "RTX 3090 does not answer any more (the GPU is lost)" in reader.problem
    gone, there = reader.activity
    assert (gone.problem, there.problem) == (reader.problem, "")
    assert gone.busy is None
    lost.fails = {}
    assert len(reader.read()) == 2
    assert reader.problem == ""


def test_that_a_board_lost_amid_a_reading_is_lost_as_a_whole() -> None:
    board = h200(fails={"nvmlGpmSampleGet": pynvml.NVML_ERROR_GPU_IS_LOST})
    replay = Replay([board])
    reader = NvidiaReader.open(ENGINE, replay)
    assert reader is not None
    assert reader.read() == ()
    (gone,) = reader.activity
    assert gone.problem
    assert gone.power_w is None
    reader.close()
    assert replay.samples == {}


def test_that_a_board_that_is_lost_at_start_leaves_the_others() -> None:
    replay = Replay([rtx_3090(), rtx_4090()], missing_handles={0: pynvml.NVML_ERROR_GPU_IS_LOST})
    reader = NvidiaReader.open(ENGINE, replay)
    assert reader is not None
    assert [memory.name for memory in reader.read()] == ["NVIDIA GeForce RTX 4090"]
    assert "number 0: the GPU is lost" in reader.problem
    assert [bool(board.problem) for board in reader.activity] == [True, False]


def test_that_no_board_that_answers_is_a_sentence() -> None:
    replay = Replay([rtx_3090()], missing_handles={0: pynvml.NVML_ERROR_NO_PERMISSION})
    with pytest.raises(NvidiaError, match="no permission"):
        NvidiaReader.open(ENGINE, replay)
    assert not replay.is_open


def test_that_a_board_that_hides_its_clocks_has_no_peak() -> None:
    board = rtx_3090()
    board.fails = {"nvmlDeviceGetMaxClockInfo": pynvml.NVML_ERROR_NOT_SUPPORTED}
    (snapshot,) = opened(board).read()
    assert snapshot.peak_bytes_per_s is None


@pytest.mark.parametrize("figure", ["width_bit", "max_memory_clock_mhz"])
@pytest.mark.parametrize("told", [0, 0xFFFF_FFFF])
def test_that_a_width_or_clock_that_is_not_available_makes_no_peak(figure: str, told: int) -> None:
    board = rtx_3090()
    setattr(board, figure, told)
    (snapshot,) = opened(board).read()
    assert snapshot.peak_bytes_per_s is None
    assert snapshot.total_bytes == 24 * GIB


@pytest.mark.parametrize("make", BOARDS, ids=lambda make: str(make.__name__))
def test_that_each_board_is_read_without_a_fault_under_windows(make: Callable[[], Board]) -> None:
    """WDDM tells no process's memory, and of a laptop's board neither power nor its limit."""
    board = make()
    board.compute = [Process(ENGINE, None), Process(77, None)]
    board.power_mw = board.limit_mw = 0xFFFF_FFFF
    reader = opened(board)
    for _ in range(2):
        (snapshot,) = reader.read()
    assert snapshot.engine_owned_bytes is None
    (activity,) = reader.activity
    assert (activity.problem, reader.problem) == ("", "")
    assert (activity.power_w, activity.power_limit_w) == (None, None)
    assert activity.busy is not None


def test_that_closing_lets_nvml_go() -> None:
    replay = Replay([rtx_3090()])
    reader = NvidiaReader.open(ENGINE, replay)
    assert reader is not None
    reader.close()
    assert not replay.is_open


def test_that_two_equal_boards_add_up() -> None:
    both = together(opened(rtx_3090(), rtx_3090()).read())
    assert both.name == "2 × NVIDIA GeForce RTX 3090"
    assert both.total_bytes == 48 * GIB
    assert both.engine_owned_bytes == 10 * GIB


def test_that_a_sum_with_an_unknown_part_is_unknown() -> None:
    unknown = rtx_3090()
    unknown.compute = []
    assert together(opened(rtx_3090(), unknown).read()).engine_owned_bytes is None


def test_that_main_memory_agrees_with_the_system() -> None:
    (snapshot,) = RamReader(os.getpid()).read()
    memory = psutil.virtual_memory()
    assert snapshot.kind == "system"
    assert snapshot.total_bytes == memory.total
    assert 0 < snapshot.used_bytes < memory.total
    rss = psutil.Process().memory_info().rss
    owned = snapshot.engine_owned_bytes
    assert owned is not None
    assert owned + snapshot.engine_mapped_bytes == pytest.approx(rss, rel=0.2)


def test_that_no_engine_holds_nothing() -> None:
    (snapshot,) = RamReader(None).read()
    assert (snapshot.engine_owned_bytes, snapshot.engine_mapped_bytes) == (0, 0)


def test_that_an_engine_that_is_gone_holds_nothing() -> None:
    gone = max(psutil.pids()) + 100_000
    (snapshot,) = RamReader(gone).read()
    assert snapshot.engine_owned_bytes == 0


def test_that_a_hidden_engine_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = RamReader(1)

    def deny(pid: int) -> psutil.Process:
        raise psutil.AccessDenied(pid)

    monkeypatch.setattr(psutil, "Process", deny)
    monkeypatch.setattr("engine_bridge.hardware.ram.RamReader._window_bytes", lambda self: 1)
    (snapshot,) = reader.read()
    assert snapshot.engine_owned_bytes is None
    assert "does not let" in reader.problem


class CountingReader:
    """A reader that tells when it was read."""

    def __init__(self) -> None:
        self.engine_pid: int | None = None
        self.activity: tuple[BoardActivity, ...] = (BoardActivity("A board", busy=0.5),)
        self.problem = "the board sulks"
        self.reads = threading.Semaphore(0)
        self.is_closed = False
        self.read_on: int | None = None

    def read(self) -> tuple[MemorySnapshot, ...]:
        self.read_on = threading.get_ident()
        self.reads.release()
        return (MemorySnapshot(1, "system", "System memory", 10, self.engine_pid or 0),)

    def close(self) -> None:
        self.is_closed = True


def test_that_a_sampler_reads_off_the_callers_thread_until_stopped() -> None:
    reader = CountingReader()
    readers: tuple[MemoryReader, ...] = (reader,)
    sampler = Sampler(0.001, lambda: readers)
    before = (sampler.latest, sampler.idle_cores)
    assert before == ((), None)
    sampler.watch(7)
    sampler.start()
    try:
        for _ in range(3):
            assert reader.reads.acquire(timeout=10)
    finally:
        sampler.stop()
    assert reader.is_closed
    assert reader.read_on != threading.get_ident()
    assert sampler.latest[0].used_bytes == 7
    assert sampler.activity == reader.activity
    assert sampler.problems == ("the board sulks",)
    assert sampler.idle_cores is not None
    assert 0 <= sampler.idle_cores <= (psutil.cpu_count() or 1)


def test_that_a_sampler_that_never_ran_can_be_stopped() -> None:
    Sampler().stop()


def test_that_this_machine_has_at_least_main_memory() -> None:
    readers = open_readers()
    try:
        assert readers[0].read()[0].kind == "system"
    finally:
        for reader in readers:
            reader.close()
