"""Windows' own count of what each GPU uses of its memory and of the machine's: shared memory.

Under Windows a driver that runs out of a board's memory goes on in the machine's, and NVML does
not tell. The system's performance counters do (``GPU Adapter Memory``, Windows 10 1709 and newer).
They name an adapter by a number that NVML does not know, so a board is recognised by how full it
is. Not tried on real hardware.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import psutil

from engine_bridge.metrics.board_activity import BoardActivity, SharedMemory
from engine_bridge.metrics.snapshot import MemorySnapshot

_DEDICATED = r"\GPU Adapter Memory(*)\Dedicated Usage"
_SHARED = r"\GPU Adapter Memory(*)\Shared Usage"
_OK, _MORE_DATA = 0, 0x800007D2
_AS_LARGE = 0x00000400  # PDH_FMT_LARGE
# A value is good with either of these (PDH_CSTATUS_VALID_DATA, PDH_CSTATUS_NEW_DATA).
_GOOD = (0, 1)
# Both counts are of one moment but for some milliseconds; the driver's reserve is in one of them.
_ALIKE_SHARE, _ALIKE_BYTES = 0.1, 768 << 20
# The list of adapters may grow between the question for its size and the answer.
_TRIES = 3
_REMARK = "its shared memory is Windows' count, read in a way not tried on real hardware"


class Reader(Protocol):
    """A source of boards; see ``machine.MemoryReader``."""

    engine_pid: int | None
    activity: tuple[BoardActivity, ...]
    problem: str

    def read(self) -> tuple[MemorySnapshot, ...]:
        """Snapshots."""
        ...

    def close(self) -> None:
        """Let go of the source."""
        ...


@dataclass(frozen=True)
class Adapter:
    """What one adapter uses, all programs together, in bytes."""

    name: str
    dedicated_bytes: int
    shared_bytes: int


class _Value(ctypes.Structure):
    _fields_ = (("status", ctypes.c_uint32), ("large", ctypes.c_int64))


class _Item(ctypes.Structure):
    _fields_ = (("name", ctypes.c_wchar_p), ("value", _Value))


class AdapterCounters:
    """The two counters of all adapters.

    Args:
        pdh: The functions of ``pdh.dll``, each of which returns a status.
        query: Handle of an open query.
        counters: Handles of its counters: of memory of their own, and of the machine's.
    """

    def __init__(self, pdh: Any, query: Any, counters: tuple[Any, Any]) -> None:  # noqa: ANN401
        """Use ``open`` instead."""
        self._pdh, self._query = pdh, query
        self._dedicated, self._shared = counters

    @classmethod
    def open(cls, pdh: Any = None) -> AdapterCounters | None:  # noqa: ANN401 - ctypes
        """Ask for the counters; None on other systems, and where Windows has none of them.

        Args:
            pdh: The library; None takes the system's.
        """
        if pdh is None:
            pdh = _pdh()
        if pdh is None:
            return None
        query, dedicated, shared = (ctypes.c_void_p() for _ in range(3))
        if _status(pdh.PdhOpenQueryW(None, None, ctypes.byref(query))) != _OK:
            return None
        # English names: those of the user's language would not be found.
        for path, counter in ((_DEDICATED, dedicated), (_SHARED, shared)):
            if _status(pdh.PdhAddEnglishCounterW(query, path, None, ctypes.byref(counter))) != _OK:
                pdh.PdhCloseQuery(query)
                return None
        return cls(pdh, query, (dedicated, shared))

    def read(self) -> tuple[Adapter, ...]:
        """What every adapter uses now; empty where Windows does not answer."""
        if _status(self._pdh.PdhCollectQueryData(self._query)) != _OK:
            return ()
        dedicated, shared = self._values(self._dedicated), self._values(self._shared)
        return tuple(
            Adapter(name, dedicated[name], shared[name]) for name in dedicated if name in shared
        )

    def close(self) -> None:
        """Give the query back."""
        self._pdh.PdhCloseQuery(self._query)

    def _values(self, counter: Any) -> dict[str, int]:  # noqa: ANN401 - ctypes
        """Each instance's value; empty where there is none."""
        size, count = ctypes.c_uint32(0), ctypes.c_uint32(0)
        buffer: Any = None
        for _ in range(_TRIES):
            status = _status(
                self._pdh.PdhGetFormattedCounterArrayW(
                    counter, _AS_LARGE, ctypes.byref(size), ctypes.byref(count), buffer
                )
            )
            if status != _MORE_DATA:
                break
            buffer = ctypes.create_string_buffer(size.value)
        if status != _OK or buffer is None:
            return {}
        # The names lie in the same buffer, behind the items.
        items = ctypes.cast(buffer, ctypes.POINTER(_Item))
        found = (items[number] for number in range(count.value))
        return {item.name: item.value.large for item in found if item.name and _is_good(item.value)}


def _pdh() -> Any:  # noqa: ANN401 - ctypes
    """``pdh.dll``; None where there is none."""
    load = getattr(ctypes, "WinDLL", None)
    if load is None:  # only Windows has it
        return None
    try:
        return load("pdh")
    except OSError:
        return None


class WithSharedMemory:
    """A source of boards, each with Windows' count of its shared memory where it is recognised."""

    def __init__(self, reader: Reader, counters: AdapterCounters) -> None:
        """Ask ``counters`` beside ``reader``; both are closed with this."""
        self.activity: tuple[BoardActivity, ...] = ()
        self.problem = reader.problem
        self._reader = reader
        self._counters = counters
        self._most_shared_bytes = psutil.virtual_memory().total // 2  # Windows' own limit

    @property
    def engine_pid(self) -> int | None:
        """Process id of the engine."""
        return self._reader.engine_pid

    @engine_pid.setter
    def engine_pid(self, pid: int | None) -> None:
        self._reader.engine_pid = pid

    def read(self) -> tuple[MemorySnapshot, ...]:
        """Snapshots; ``activity`` has the shared memory."""
        found = self._reader.read()
        self.problem = self._reader.problem
        boards = self._reader.activity
        of_board = recognised(boards, self._counters.read())
        self.activity = tuple(
            self._with_shared(board, of_board.get(place)) for place, board in enumerate(boards)
        )
        return found

    def close(self) -> None:
        """Let go of both."""
        self._counters.close()
        self._reader.close()

    def _with_shared(self, board: BoardActivity, adapter: Adapter | None) -> BoardActivity:
        if adapter is None:
            return board
        shared = SharedMemory(adapter.shared_bytes, self._most_shared_bytes)
        remark = "; ".join(filter(None, (board.remark, _REMARK)))
        return replace(board, shared=shared, remark=remark)


def recognised(boards: Sequence[BoardActivity], adapters: Sequence[Adapter]) -> dict[int, Adapter]:
    """The adapter of each board by its place, where exactly one is as full as it.

    Two boards that are as full as each other are told apart by nothing, so neither is named.
    """
    found: dict[int, Adapter] = {}
    for place, board in enumerate(boards):
        if board.memory is None or board.shared is not None:
            continue
        alike = [adapter for adapter in adapters if _is_as_full(board.memory, adapter)]
        if len(alike) == 1:
            found[place] = alike[0]
    named = [adapter.name for adapter in found.values()]
    return {place: adapter for place, adapter in found.items() if named.count(adapter.name) == 1}


def _is_as_full(memory: MemorySnapshot, adapter: Adapter) -> bool:
    apart_bytes = abs(memory.used_bytes - adapter.dedicated_bytes)
    return apart_bytes <= max(_ALIKE_BYTES, _ALIKE_SHARE * memory.used_bytes)


def _is_good(value: _Value) -> bool:
    return value.status in _GOOD and value.large >= 0


def _status(code: int) -> int:
    """A status as the header writes it; ctypes has it with a sign."""
    return code & 0xFFFFFFFF
