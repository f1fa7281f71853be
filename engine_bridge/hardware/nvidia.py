"""NVIDIA boards, read through NVML: memory, the engine's part of it, peak bandwidth, activity.

The peak is ``bus width / 8 × memory clock × 2``: memory transfers on both clock edges.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

import pynvml

from engine_bridge.hardware.nvidia_figures import NOT_AVAILABLE, FigureReader
from engine_bridge.hardware.nvml import Nvml, why_not
from engine_bridge.hardware.process_memory import bytes_on_board
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.snapshot import MemorySnapshot

# The kernel's half of the driver; it is there in containers too, whether or not NVML is.
_MAKER = "NVIDIA"
_LOADED = Path("/proc/driver/nvidia/version")


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
        activity: What each board did, by the last reading; also of one that does not answer.
        problem: Why the last reading is incomplete, a sentence; empty when it is complete.
    """

    def __init__(
        self,
        nvml: Nvml,
        boards: tuple[Board, ...],
        engine_pid: int | None,
        absent: str = "",
    ) -> None:
        """Use ``open`` instead; this takes an NVML that has been initialised."""
        self.engine_pid = engine_pid
        self.boards = boards
        self.activity: tuple[BoardActivity, ...] = ()
        self.problem = absent
        self._absent = absent
        self._nvml = nvml
        self._figures = [FigureReader(nvml, board.handle, board.name) for board in boards]

    @classmethod
    def open(
        cls, engine_pid: int | None = None, nvml: Nvml = pynvml, loaded: Path = _LOADED
    ) -> Self | None:
        """Find the boards; None where there is neither a driver nor a board.

        Args:
            engine_pid: Process id of the engine, None while there is none.
            nvml: The library.
            loaded: Is there while the kernel has a driver of NVIDIA's (Linux).

        Raises:
            NvidiaError: If there is a driver that does not work, with what to do.
        """
        try:
            nvml.nvmlInit()
        except pynvml.NVMLError as error:
            sentence = _no_driver(error, is_loaded=loaded.exists())
            if not sentence:
                return None
            raise NvidiaError(sentence) from error
        try:
            boards, absent = _boards(nvml)
        except pynvml.NVMLError as error:
            nvml.nvmlShutdown()
            raise NvidiaError(
                f"The NVIDIA driver does not list its boards ({why_not(error)}), so no GPU is "
                f"shown. `nvidia-smi` tells more."
            ) from error
        if not boards:
            nvml.nvmlShutdown()
            if absent:
                raise NvidiaError(absent)
            return None
        return cls(nvml, boards, engine_pid, absent)

    def read(self) -> tuple[MemorySnapshot, ...]:
        """A snapshot of each board that answers; ``activity`` has what all of them do."""
        problems = [self._absent]
        activity = [BoardActivity(_MAKER, problem=self._absent)] if self._absent else []
        for board, figures in zip(self.boards, self._figures, strict=True):
            try:
                activity.append(figures.read(partial(self._snapshot, board)))
            except pynvml.NVMLError as error:
                sentence = (
                    f"{board.name} does not answer any more ({why_not(error)}); what was on it is "
                    f"lost. `nvidia-smi` tells whether it comes back; often only a restart of the "
                    f"machine helps."
                )
                problems.append(sentence)
                activity.append(BoardActivity(board.name, problem=sentence))
        self.activity = tuple(activity)
        self.problem = " ".join(filter(None, problems))
        return tuple(board.memory for board in activity if board.memory is not None)

    def close(self) -> None:
        """Let go of NVML.

        Raises:
            pynvml.NVMLError: If NVML was not open.
        """
        for figures in self._figures:
            figures.close()
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
        return 0 if pid is None else bytes_on_board(self._nvml, board.handle, pid)


class SilentDriver:
    """In place of a reader where a driver of NVIDIA's does not work: has its sentence.

    Attributes:
        engine_pid: Of no use here.
        activity: One board without a name, with the sentence.
        problem: The sentence.
    """

    def __init__(self, sentence: str) -> None:
        """Tell ``sentence`` in place of every reading."""
        self.engine_pid: int | None = None
        self.activity: tuple[BoardActivity, ...] = (BoardActivity(_MAKER, problem=sentence),)
        self.problem = sentence

    def read(self) -> tuple[MemorySnapshot, ...]:
        """Nothing."""
        return ()

    def close(self) -> None:
        """Nothing to give back."""


class NvidiaError(Exception):
    """The driver or a board does not work; the message is a sentence for the user."""


def peak_bytes_per_s(bus_width_bit: int, memory_clock_mhz: int) -> float:
    """Peak of a board's memory: RTX 3090, 384 bit at 9751 MHz: 936 GB/s."""
    return bus_width_bit / 8 * memory_clock_mhz * 1e6 * 2


def _no_driver(error: pynvml.NVMLError, *, is_loaded: bool) -> str:
    """Why NVML does not begin, a sentence; empty where nothing of NVIDIA's is expected."""
    if error.value == pynvml.NVML_ERROR_LIBRARY_NOT_FOUND:
        if not is_loaded:
            return ""
        return (
            "An NVIDIA driver is loaded, but its library NVML (libnvidia-ml) is not here, so no "
            "GPU is shown. Install it with the driver's package; a container needs the driver "
            "capability “utility”."
        )
    if error.value == pynvml.NVML_ERROR_DRIVER_NOT_LOADED:
        return ""  # the library alone is on many machines without a board
    if error.value == pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH:
        return (
            "NVIDIA's driver and its library have different versions, as after an update, so no "
            "GPU is shown. Restart the machine."
        )
    if error.value == pynvml.NVML_ERROR_NO_PERMISSION:
        return (
            "This user may not talk to the NVIDIA driver, so no GPU is shown. The files "
            "/dev/nvidia* say which group may."
        )
    return (
        f"The NVIDIA driver does not answer ({why_not(error)}), so no GPU is shown. After an "
        f"update of the driver, restart the machine."
    )


def _boards(nvml: Nvml) -> tuple[tuple[Board, ...], str]:
    """The boards that answer, and a sentence about those that do not; empty if all do."""
    boards, reasons = [], []
    for index in range(nvml.nvmlDeviceGetCount()):
        try:
            boards.append(_board(nvml, nvml.nvmlDeviceGetHandleByIndex(index)))
        except pynvml.NVMLError as error:
            reasons.append(f"number {index}: {why_not(error)}")
    if not reasons:
        return tuple(boards), ""
    which = "An NVIDIA GPU does" if len(reasons) == 1 else f"{len(reasons)} NVIDIA GPUs do"
    return tuple(boards), (
        f"{which} not answer ({', '.join(reasons)}) and {'is' if len(reasons) == 1 else 'are'} "
        f"left out. `nvidia-smi` tells more."
    )


def _board(nvml: Nvml, handle: object) -> Board:
    name = nvml.nvmlDeviceGetName(handle)
    try:
        width_bit = nvml.nvmlDeviceGetMemoryBusWidth(handle)
        clock_mhz = nvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_MEM)
    except pynvml.NVMLError:
        return Board(handle, name, None, "")  # virtual boards hide them; MBU then has no peak
    if not all(0 < figure < NOT_AVAILABLE for figure in (width_bit, clock_mhz)):
        return Board(handle, name, None, "")
    how = f"{width_bit} bit × {clock_mhz} MHz × 2"
    return Board(handle, name, peak_bytes_per_s(width_bit, clock_mhz), how)
