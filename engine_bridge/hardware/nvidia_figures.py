"""What an NVIDIA board does: busy times, clocks, power, heat, PCIe; each refusal with its reason.

NVML's memory *utilisation* is the share of time in which memory was busy, no bandwidth. Bandwidth
comes from GPM, where a board has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import pynvml

from engine_bridge.hardware.nvidia_gpm import Gpm, has_gpm
from engine_bridge.hardware.nvidia_throttle import held_back
from engine_bridge.hardware.nvml import LOST, Nvml, why_not
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.snapshot import MemorySnapshot

_AnswerT = TypeVar("_AnswerT")


NOT_AVAILABLE = 0xFFFF_FFFF
"""What an integer of NVML says that is none; it has no other way."""
_PCIE = {
    "pcie_in_bytes_per_s": pynvml.NVML_PCIE_UTIL_RX_BYTES,
    "pcie_out_bytes_per_s": pynvml.NVML_PCIE_UTIL_TX_BYTES,
}
_NO_GPM = "only boards from Hopper on measure what their memory moves"


class FigureReader:
    """Asks for the figures of one board, one reading after the other."""

    def __init__(self, nvml: Nvml, handle: object, name: str) -> None:
        """Look at what the board offers."""
        self._nvml = nvml
        self._handle = handle
        self._name = name
        self._gpm = Gpm(nvml, handle) if has_gpm(nvml, handle) else None
        self._pcie: dict[str, float] = {}
        self._refused_pcie: dict[str, str] = {}
        self._pcie_turn = 0
        self._refused: dict[str, str] = {}

    def read(self, memory: Callable[[], MemorySnapshot]) -> BoardActivity:
        """The figures now.

        Args:
            memory: Finds how full the board is; boards that share the machine's memory refuse it.

        Raises:
            pynvml.NVMLError: If the board is lost.
        """
        nvml, board = self._nvml, self._handle
        refused: dict[str, str] = {}
        self._refused = refused
        rates = self._ask(lambda: nvml.nvmlDeviceGetUtilizationRates(board), "busy", "memory_busy")
        power_mw = self._ask(lambda: nvml.nvmlDeviceGetPowerUsage(board), "power_w")
        limit_mw = self._ask(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(board), "power_limit_w")
        mask = self._ask(self._reasons, "held_back")
        moved = self._moved()
        return BoardActivity(
            name=self._name,
            memory=self._ask(memory, "memory"),
            busy=None if rates is None else self._share(rates.gpu, "busy"),
            memory_busy=None if rates is None else self._share(rates.memory, "memory_busy"),
            dram=moved.get("dram"),
            core_clock_mhz=self._ask(
                lambda: nvml.nvmlDeviceGetClockInfo(board, pynvml.NVML_CLOCK_SM), "core_clock_mhz"
            ),
            memory_clock_mhz=self._ask(
                lambda: nvml.nvmlDeviceGetClockInfo(board, pynvml.NVML_CLOCK_MEM),
                "memory_clock_mhz",
            ),
            power_w=None if power_mw is None else power_mw / 1000,
            power_limit_w=None if limit_mw is None else limit_mw / 1000,
            temperature_c=self._ask(self._temperature, "temperature_c"),
            held_back=None if mask is None else held_back(mask),
            pcie_in_bytes_per_s=moved.get("pcie_in_bytes_per_s"),
            pcie_out_bytes_per_s=moved.get("pcie_out_bytes_per_s"),
            refused=refused,
        )

    def close(self) -> None:
        """Give back what the board was asked with; what is lost needs no giving back."""
        if self._gpm is not None:
            try:
                self._gpm.close()
            except pynvml.NVMLError:
                return  # the board is gone, and its samples with it

    def _ask(self, question: Callable[[], _AnswerT], *names: str) -> _AnswerT | None:
        """The answer; None with a reason under ``names`` where there is none."""
        try:
            answer = question()
        except pynvml.NVMLError as error:
            if error.value in LOST:
                raise
            self._refused.update(dict.fromkeys(names, why_not(error)))
            return None
        if answer == NOT_AVAILABLE:
            self._refused.update(dict.fromkeys(names, "it says that there is none"))
            return None
        return answer

    def _share(self, percent: int, name: str) -> float | None:
        if 0 <= percent <= 100:
            return percent / 100
        self._refused[name] = f"it says {percent} %"
        return None

    def _reasons(self) -> int:
        nvml = self._nvml
        return _newer_or_older(
            lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(self._handle),
            lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle),
        )

    def _temperature(self) -> int:
        nvml, sensor = self._nvml, pynvml.NVML_TEMPERATURE_GPU
        return _newer_or_older(
            lambda: nvml.nvmlDeviceGetTemperatureV(self._handle, sensor),
            lambda: nvml.nvmlDeviceGetTemperature(self._handle, sensor),
        )

    def _moved(self) -> Mapping[str, float]:
        """What went through memory and PCIe: all of it by GPM, without it only PCIe."""
        if self._gpm is not None:
            found = self._ask(self._gpm.read, "dram", *_PCIE)
            self._refused.update(self._gpm.refused)
            return found or {}
        self._refused["dram"] = _NO_GPM
        # NVML counts for 20 ms before it answers: one direction a reading.
        name, counter = list(_PCIE.items())[self._pcie_turn]
        self._pcie_turn = 1 - self._pcie_turn
        self._pcie.pop(name, None)
        self._refused_pcie.pop(name, None)
        kb_per_s = self._ask(
            lambda: self._nvml.nvmlDeviceGetPcieThroughput(self._handle, counter), name
        )
        if kb_per_s is not None:
            self._pcie[name] = kb_per_s * 1000
        elif name in self._refused:
            self._refused_pcie[name] = self._refused[name]
        self._refused.update(self._refused_pcie)
        return self._pcie


def _newer_or_older(newer: Callable[[], int], older: Callable[[], int]) -> int:
    """What a new driver answers; of one that does not know the question, what it was before."""
    try:
        return newer()
    except pynvml.NVMLError as error:
        if error.value not in (
            pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
            pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        ):
            raise
    return older()
