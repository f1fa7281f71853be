"""What one process of this machine holds: RAM by the system, boards' memory by NVML."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import psutil
import pynvml

from engine_bridge.hardware.nvml import Nvml


@dataclass(frozen=True)
class ProcessBytes:
    """What a process holds; None is what nobody tells.

    Attributes:
        resident: Its pages in RAM, those of mapped files included.
        private: The part of them that is its own and no file's.
        boards: Memory of GPUs, of all together.
    """

    resident: int | None = None
    private: int | None = None
    boards: int | None = None

    def highest(self, other: ProcessBytes) -> ProcessBytes:
        """Of each figure the larger one."""
        return ProcessBytes(
            _larger(self.resident, other.resident),
            _larger(self.private, other.private),
            _larger(self.boards, other.boards),
        )


class ProcessMemory:
    """Reads what processes hold; the caller closes it. A process that is gone holds nothing."""

    def __init__(self, nvml: Nvml = pynvml) -> None:
        """Find the boards; without a driver of NVIDIA's there are none."""
        self._nvml = nvml
        self._boards: tuple[object, ...] = ()
        self._is_open = False
        with contextlib.suppress(pynvml.NVMLError):
            nvml.nvmlInit()
            self._is_open = True
            count = nvml.nvmlDeviceGetCount()
            self._boards = tuple(nvml.nvmlDeviceGetHandleByIndex(at) for at in range(count))

    def read(self, pid: int) -> ProcessBytes:
        """What process ``pid`` holds now."""
        try:
            memory = psutil.Process(pid).memory_info()
        except psutil.Error:
            return ProcessBytes()
        return ProcessBytes(memory.rss, _private(memory), self._board_bytes(pid))

    def close(self) -> None:
        """Let go of NVML; again does nothing."""
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(pynvml.NVMLError):
                self._nvml.nvmlShutdown()

    def _board_bytes(self, pid: int) -> int | None:
        """None without a board, and where one of them does not tell."""
        held = [bytes_on_board(self._nvml, board, pid) for board in self._boards]
        known = [each for each in held if each is not None]
        return sum(known) if known and len(known) == len(held) else None


def bytes_on_board(nvml: Nvml, board: object, pid: int) -> int | None:
    """What ``pid`` holds there; None where it cannot be told (containers, WDDM, old drivers)."""
    try:
        # CUDA's processes are in the first list, Vulkan's in the second, some in both.
        processes = [
            *nvml.nvmlDeviceGetComputeRunningProcesses(board),
            *nvml.nvmlDeviceGetGraphicsRunningProcesses(board),
        ]
    except pynvml.NVMLError:
        return None
    mine: Sequence[int | None] = [each.usedGpuMemory for each in processes if each.pid == pid]
    if not mine:
        # Absent from a list that has others: not on this board. An empty list is also what a
        # container sees, whose process ids mean nothing to the driver.
        return 0 if processes else None
    return None if None in mine else max(used for used in mine if used is not None)


def _private(memory: object) -> int | None:
    """Pages that no file backs: Linux tells those that do, Windows the others."""
    resident, shared = getattr(memory, "rss", None), getattr(memory, "shared", None)
    if isinstance(resident, int) and isinstance(shared, int):
        return max(0, resident - shared)
    private = getattr(memory, "private", None)
    return private if isinstance(private, int) else None


def _larger(first: int | None, second: int | None) -> int | None:
    known = [value for value in (first, second) if value is not None]
    return max(known) if known else None
