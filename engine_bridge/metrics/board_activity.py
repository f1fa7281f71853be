"""What one board did over the last second, whoever measured it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine_bridge.metrics.snapshot import MemorySnapshot


@dataclass(frozen=True)
class HeldBack:
    """A reason why a board runs below its highest clocks.

    Attributes:
        short: A word or two.
        meaning: What it means and what can be done about it, a sentence or two.
        is_fault: Whether a person should look after it; at rest or at its power limit a board is
            as it should be.
    """

    short: str
    meaning: str
    is_fault: bool = False


@dataclass(frozen=True)
class SharedMemory:
    """Memory of the machine that a board uses beside its own (GTT on Linux).

    Attributes:
        used_bytes: What all programs use of it.
        total_bytes: The most they could.
    """

    used_bytes: int
    total_bytes: int


@dataclass(frozen=True)
class BoardActivity:
    """Figures of a board. What its driver does not report is None, never 0.

    Attributes:
        name: What its driver calls it.
        problem: Why nothing is known of it now, a sentence; empty while it answers.
        warning: What a person should look after though it answers, a sentence or two.
        remark: What has to be known about all of its figures, without a full stop; empty for
            nothing.
        memory: How full its memory is and what its peak bandwidth is.
        shared: What it uses of the machine's memory beside that; None where nobody tells.
        engine_bytes: The engine's part of its memory, where only that is known.
        is_unified: It has no memory of its own, but lives in the machine's.
        busy: Share of the time in which anything ran on it, 0 to 1.
        memory_busy: Share of the time in which its memory was read or written, 0 to 1; this is no
            bandwidth.
        dram: Share of the peak bandwidth that its memory moved, 0 to 1.
        core_clock_mhz: Clock of its processors.
        memory_clock_mhz: Clock of its memory.
        power_w: What it draws.
        power_limit_w: What it may draw.
        temperature_c: Of the chip.
        temperatures_c: Of each sensor, by the driver's name of it; empty where it has only one.
        held_back: Reasons for lower clocks, the first the one to be told first.
        pcie_in_bytes_per_s: From the machine to the board.
        pcie_out_bytes_per_s: From the board to the machine.
        pcie_link: How fast the link runs now, ``16.0 GT/s × 16``; empty where nobody tells.
        refused: Why a figure is None, by the name of its field; empty of what is only not measured
            yet.
    """

    name: str
    problem: str = ""
    warning: str = ""
    remark: str = ""
    memory: MemorySnapshot | None = None
    shared: SharedMemory | None = None
    engine_bytes: int | None = None
    is_unified: bool = False
    busy: float | None = None
    memory_busy: float | None = None
    dram: float | None = None
    core_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None
    temperatures_c: Mapping[str, float] = field(default_factory=dict)
    held_back: tuple[HeldBack, ...] | None = None
    pcie_in_bytes_per_s: float | None = None
    pcie_out_bytes_per_s: float | None = None
    pcie_link: str = ""
    refused: Mapping[str, str] = field(default_factory=dict)
