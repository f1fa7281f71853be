"""Windows' counters of shared GPU memory, by a library that answers as pdh.dll does."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from engine_bridge.hardware.windows_gpu import (
    Adapter,
    AdapterCounters,
    WithSharedMemory,
    _Item,
    recognised,
)
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.board_spill import Allocated, SpillWatch
from engine_bridge.metrics.snapshot import MemorySnapshot

GIB = 1 << 30
_MORE_DATA = ctypes.c_int32(0x800007D2).value  # with a sign, as ctypes hands it on
_NO_OBJECT = ctypes.c_int32(0xC0000BB8).value
_NVIDIA, _INTEL = "luid_0x00000000_0x0000C5A2_phys_0", "luid_0x00000000_0x0000B1F0_phys_0"


class FakePdh:
    """Answers as pdh.dll: first for the size, then with items and their names behind them."""

    def __init__(self) -> None:
        self.dedicated: dict[str, int] = {_NVIDIA: 7 * GIB, _INTEL: 128 << 20}
        self.shared: dict[str, int] = {_NVIDIA: GIB // 4, _INTEL: 2 * GIB}
        self.status: dict[str, int] = {}
        self.is_open = False
        self.missing = self.is_silent = False
        self.grows = 0
        self._paths: dict[int, str] = {}
        self._kept: list[Any] = []

    def PdhOpenQueryW(self, source: None, user: None, query: Any) -> int:  # noqa: N802
        query._obj.value = 1
        self.is_open = True
        return 0

    def PdhAddEnglishCounterW(self, query: Any, path: str, user: None, counter: Any) -> int:  # noqa: N802
        if self.missing:
            return _NO_OBJECT
        counter._obj.value = len(self._paths) + 10
        self._paths[counter._obj.value] = path
        return 0

    def PdhCollectQueryData(self, query: Any) -> int:  # noqa: N802
        return _NO_OBJECT if self.is_silent else 0

    def PdhGetFormattedCounterArrayW(  # noqa: N802
        self, counter: Any, form: int, size: Any, count: Any, buffer: Any
    ) -> int:
        path = self._paths[counter.value]
        values = self.dedicated if "Dedicated" in path else self.shared
        needed = ctypes.sizeof(_Item) * len(values) + 200
        if buffer is None or len(buffer) < needed or self.grows:
            self.grows = max(0, self.grows - 1)
            size._obj.value = needed
            return _MORE_DATA
        items = ctypes.cast(buffer, ctypes.POINTER(_Item))
        for place, (name, value) in enumerate(values.items()):
            text = ctypes.create_unicode_buffer(name)
            self._kept.append(text)
            items[place].name = ctypes.cast(text, ctypes.c_wchar_p)
            items[place].value.status = self.status.get(name, 0)
            items[place].value.large = value
        count._obj.value = len(values)
        return 0

    def PdhCloseQuery(self, query: Any) -> int:  # noqa: N802
        self.is_open = False
        return 0


class Boards:
    """A reader of boards that are as full as it is told."""

    def __init__(self, *used_gib: float) -> None:
        self.engine_pid: int | None = None
        self.problem = ""
        self.used_gib = list(used_gib)
        self.activity: tuple[BoardActivity, ...] = ()
        self.is_closed = False

    def read(self) -> tuple[MemorySnapshot, ...]:
        found = tuple(
            MemorySnapshot(1, "gpu", f"board {n}", 8 * GIB, int(used * GIB))
            for n, used in enumerate(self.used_gib)
        )
        self.activity = tuple(BoardActivity(memory.name, memory=memory) for memory in found)
        return found

    def close(self) -> None:
        self.is_closed = True


def counters(pdh: FakePdh) -> AdapterCounters:
    found = AdapterCounters.open(pdh)
    assert found is not None
    return found


def test_that_every_adapter_is_read_with_both_counts() -> None:
    assert counters(FakePdh()).read() == (
        Adapter(_NVIDIA, 7 * GIB, GIB // 4),
        Adapter(_INTEL, 128 << 20, 2 * GIB),
    )


def test_that_a_list_that_grows_between_question_and_answer_is_asked_for_again() -> None:
    pdh = FakePdh()
    pdh.grows = 1
    assert len(counters(pdh).read()) == 2


def test_that_a_value_that_windows_calls_invalid_is_no_value() -> None:
    pdh = FakePdh()
    pdh.status[_INTEL] = 0xC0000BBA
    assert [adapter.name for adapter in counters(pdh).read()] == [_NVIDIA]


def test_that_an_old_windows_without_the_counters_has_no_reader_and_no_open_query() -> None:
    pdh = FakePdh()
    pdh.missing = True
    assert AdapterCounters.open(pdh) is None
    assert not pdh.is_open


def test_that_other_systems_have_no_such_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(ctypes, "WinDLL", raising=False)
    assert AdapterCounters.open() is None


def test_that_silence_leaves_the_boards_as_they_are() -> None:
    pdh, boards = FakePdh(), Boards(7.2)
    pdh.is_silent = True
    reader = WithSharedMemory(boards, counters(pdh))
    reader.read()
    assert reader.activity == boards.activity


def test_that_a_board_gets_the_shared_memory_of_the_adapter_that_is_as_full() -> None:
    reader = WithSharedMemory(Boards(7.2), counters(FakePdh()))
    assert len(reader.read()) == 1
    (board,) = reader.activity
    assert board.shared is not None
    assert board.shared.used_bytes == GIB // 4
    assert "not tried on real hardware" in board.remark


def test_that_boards_which_nothing_tells_apart_get_none() -> None:
    boards = Boards(7.2, 7.2)
    boards.read()
    assert recognised(boards.activity, counters(FakePdh()).read()) == {}


def test_that_a_full_board_whose_shared_memory_grows_is_said_to_spill() -> None:
    pdh = FakePdh()
    pdh.dedicated[_NVIDIA] = 7 * GIB + GIB // 2
    reader, watch = WithSharedMemory(Boards(7.9), counters(pdh)), SpillWatch()
    said = []
    for shared in (GIB // 4, 2 * GIB):
        pdh.shared[_NVIDIA] = shared
        reader.read()
        (board,) = watch.look(reader.activity, Allocated())
        said.append(board.warning)
    assert said[0] == ""
    assert "1.75 GiB so far" in said[1]


def test_that_closing_gives_back_the_query_and_the_boards() -> None:
    pdh, boards = FakePdh(), Boards(7.2)
    reader = WithSharedMemory(boards, counters(pdh))
    reader.engine_pid = 12
    reader.close()
    assert boards.engine_pid == 12
    assert boards.is_closed
    assert not pdh.is_open
