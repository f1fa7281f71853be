"""The GPU of an Apple chip: which one it is. All else is the business of ggml's Metal backend.

Tried on no such machine. macOS tells a program without special rights neither how busy the GPU is
nor what it draws; its memory is the machine's, of which ggml tells how much Metal may have.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from typing import Self

from engine_bridge.hardware.identity import processor_name
from engine_bridge.hardware.sysfs import UNTRIED
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.snapshot import MemorySnapshot

_MACHINE = platform.machine()
_NOT_TOLD = "macOS does not tell it to a program without special rights"
_NO_PCIE = "the GPU is a part of the chip, and reads the machine's memory itself"
_NO_TOTAL = "it uses the machine's memory; ggml tells how much of it, once Metal is running"
_FIGURES = (
    "busy", "memory_busy", "dram", "core_clock_mhz", "memory_clock_mhz", "power_w",
    "power_limit_w", "temperature_c", "held_back",
)  # fmt: skip


class AppleReader:
    """Names the GPU of this machine.

    Attributes:
        engine_pid: Of no use here.
        activity: The one GPU.
        problem: Always empty.
    """

    def __init__(self, name: str) -> None:
        """Use ``open`` instead; ``name`` is the chip's."""
        self.engine_pid: int | None = None
        self.problem = ""
        refused = dict.fromkeys(_FIGURES, _NOT_TOLD)
        refused |= dict.fromkeys(("pcie_in_bytes_per_s", "pcie_out_bytes_per_s"), _NO_PCIE)
        refused["memory"] = _NO_TOTAL
        self.activity: tuple[BoardActivity, ...] = (
            BoardActivity(name, is_unified=True, remark=UNTRIED, refused=refused),
        )

    @classmethod
    def open(
        cls,
        engine_pid: int | None = None,
        system: str = sys.platform,
        machine: str = _MACHINE,
        name: Callable[[], str] = processor_name,
    ) -> Self | None:
        """The GPU of an Apple chip; None on any other machine.

        Args:
            engine_pid: Process id of the engine, None while there is none.
            system: ``sys.platform``.
            machine: ``platform.machine()``.
            name: Asks the system what the chip is called.
        """
        if (system, machine) != ("darwin", "arm64"):
            return None
        reader = cls(name())
        reader.engine_pid = engine_pid
        return reader

    def read(self) -> tuple[MemorySnapshot, ...]:
        """No snapshot: main memory is read by ``RamReader``."""
        return ()

    def close(self) -> None:
        """Nothing to give back."""
