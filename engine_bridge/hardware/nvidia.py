"""NVIDIA boards, read through NVML: memory, the engine's part of it, peak bandwidth.

NVML's memory *utilisation* is the share of time in which memory was busy, no bandwidth; it is not
read here. The peak is ``bus width / 8 × memory clock × 2``: memory transfers on both clock edges.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import pynvml

from engine_bridge.metrics.snapshot import MemorySnapshot


class _MemoryInfo(Protocol):
    total: int
    free: int


class _ProcessInfo(Protocol):
    pid: int
    usedGpuMemory: int | None  # noqa: N815 - NVML's name


class Nvml(Protocol):
    """The part of pynvml that is used, so that tests can replay recorded values."""

    def nvmlInit(self) -> None: ...  # noqa: D102, N802
    def nvmlShutdown(self) -> None: ...  # noqa: D102, N802
    def nvmlDeviceGetCount(self) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetHandleByIndex(self, index: int) -> object: ...  # noqa: D102, N802
    def nvmlDeviceGetName(self, handle: object) -> str: ...  # noqa: D102, N802
    def nvmlDeviceGetMemoryInfo(self, handle: object) -> _MemoryInfo: ...  # noqa: D102, N802
    def nvmlDeviceGetMaxClockInfo(self, handle: object, kind: int) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetMemoryBusWidth(self, handle: object) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetComputeRunningProcesses(  # noqa: D102, N802
        self, handle: object
    ) -> Sequence[_ProcessInfo]: ...
    def nvmlDeviceGetGraphicsRunningProcesses(  # noqa: D102, N802
        self, handle: object
    ) -> Sequence[_ProcessInfo]: ...


@dataclass(frozen=True)
class Board:
    """What does not change about a board.

    Attributes:
        handle: NVML's handle.
        name: The board's name, the same string that ggml's CUDA backend describes it by.
        peak_bytes_per_s: From clock and bus width; None where the driver does not tell.
        peak_how: The arithmetic in words; empty without a peak.
    """

    handle: object
    name: str
    peak_bytes_per_s: float | None
    peak_how: str


class NvidiaReader:
    """Reads the boards of this machine.

    Attributes:
        engine_pid: Process id of the engine, None while there is none.
        boards: What was found, in NVML's order.
        problem: Why the last reading is incomplete, a sentence; empty when it is complete.
    """

    def __init__(self, nvml: Nvml, boards: tuple[Board, ...], engine_pid: int | None) -> None:
        """Use ``open`` instead; this takes an NVML that has been initialised."""
        self.engine_pid = engine_pid
        self.boards = boards
        self.problem = ""
        self._nvml = nvml

    @classmethod
    def open(cls, engine_pid: int | None = None, nvml: Nvml = pynvml) -> Self | None:
        """Find the boards; None where there is neither a driver nor a board.

        Raises:
            NvidiaError: If there is a driver that does not work, with what to do.
        """
        try:
            nvml.nvmlInit()
        except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
            return None
        except pynvml.NVMLError as error:
            raise NvidiaError(
                f"The NVIDIA driver does not answer ({error}), so no GPU memory is shown. After an "
                f"update of the driver, restart the machine."
            ) from error
        try:
            handles = [
                nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())
            ]
            boards = tuple(_board(nvml, handle) for handle in handles)
        except pynvml.NVMLError as error:
            nvml.nvmlShutdown()
            raise NvidiaError(
                f"An NVIDIA GPU does not answer ({error}), so no GPU memory is shown. `nvidia-smi` "
                f"tells more."
            ) from error
        if not boards:
            nvml.nvmlShutdown()
            return None
        return cls(nvml, boards, engine_pid)

    def read(self) -> tuple[MemorySnapshot, ...]:
        """A snapshot of each board that answers."""
        self.problem = ""
        found = []
        for board in self.boards:
            try:
                found.append(self._snapshot(board))
            except pynvml.NVMLError as error:
                self.problem = (
                    f"{board.name} does not tell how full its memory is ({error}); its memory is "
                    f"left out. `nvidia-smi` tells whether the board is lost."
                )
        return tuple(found)

    def close(self) -> None:
        """Let go of NVML.

        Raises:
            pynvml.NVMLError: If NVML was not open.
        """
        self._nvml.nvmlShutdown()

    def _snapshot(self, board: Board) -> MemorySnapshot:
        memory = self._nvml.nvmlDeviceGetMemoryInfo(board.handle)
        return MemorySnapshot(
            at_ns=time.perf_counter_ns(),
            kind="gpu",
            name=board.name,
            total_bytes=memory.total,
            # Not NVML's "used": that leaves out what the driver reserves, which is not free either.
            used_bytes=memory.total - memory.free,
            engine_owned_bytes=self._engine_bytes(board),
            peak_bytes_per_s=board.peak_bytes_per_s,
            peak_how=board.peak_how,
        )

    def _engine_bytes(self, board: Board) -> int | None:
        """The engine's part; None where it cannot be told (containers, WDDM, old drivers)."""
        pid = self.engine_pid
        if pid is None:
            return 0
        try:
            # CUDA's processes are in the first list, Vulkan's in the second, some in both.
            processes = [
                *self._nvml.nvmlDeviceGetComputeRunningProcesses(board.handle),
                *self._nvml.nvmlDeviceGetGraphicsRunningProcesses(board.handle),
            ]
        except pynvml.NVMLError:
            return None
        mine = [process.usedGpuMemory for process in processes if process.pid == pid]
        if not mine:
            # Absent from a list that has others: not on this board. An empty list is also what a
            # container sees, whose process ids mean nothing to the driver.
            return 0 if processes else None
        return None if None in mine else max(used for used in mine if used is not None)


class NvidiaError(Exception):
    """The driver or a board does not work; the message is a sentence for the user."""


def peak_bytes_per_s(bus_width_bit: int, memory_clock_mhz: int) -> float:
    """Peak of a board's memory: RTX 3090, 384 bit at 9751 MHz: 936 GB/s."""
    return bus_width_bit / 8 * memory_clock_mhz * 1e6 * 2


def _board(nvml: Nvml, handle: object) -> Board:
    name = nvml.nvmlDeviceGetName(handle)
    try:
        width_bit = nvml.nvmlDeviceGetMemoryBusWidth(handle)
        clock_mhz = nvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_MEM)
    except pynvml.NVMLError:
        return Board(handle, name, None, "")  # virtual boards hide them; MBU then has no peak
    if not width_bit or not clock_mhz:
        return Board(handle, name, None, "")
    how = f"{width_bit} bit × {clock_mhz} MHz × 2"
    return Board(handle, name, peak_bytes_per_s(width_bit, clock_mhz), how)
