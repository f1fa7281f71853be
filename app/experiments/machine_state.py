"""What the system tells about itself at one moment: who used the processors, swap, clocks, power.

Reads through psutil and a few files; judges nothing (``conditions`` does).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine_bridge.hardware.machine import MemoryReader, open_readers
from engine_bridge.hardware.ram import RamReader

_CPUS = Path("/sys/devices/system/cpu")
_THROTTLE = "cpu[0-9]*/thermal_throttle"


@dataclass(frozen=True)
class MachineState:
    """One reading. Counters only grow; what the system does not tell is None.

    Attributes:
        at_s: When, by the monotonic clock that ``slept_s`` belongs to.
        busy_s: Processor time that all programs have used.
        stolen_s: Processor time that the host of a virtual machine gave to others.
        ours_s: Of ``busy_s`` that of this program, the engine and all that they started.
        swapped_in_bytes: Read back from swap.
        swapped_out_bytes: Written to swap.
        clock_mhz: Clock of the processor, a mean over its cores.
        throttlings: How often processors were slowed down for heat.
        slept_s: Time that the machine has slept since it was started.
        on_battery: Whether it draws from its battery.
        held_back: Of each board that something slows down: its name and what it is.
    """

    at_s: float
    busy_s: float
    ours_s: float
    stolen_s: float = 0.0
    swapped_in_bytes: int | None = None
    swapped_out_bytes: int | None = None
    clock_mhz: float | None = None
    throttlings: int | None = None
    slept_s: float | None = None
    on_battery: bool | None = None
    held_back: tuple[tuple[str, str], ...] = ()


class MachineReader:
    """Reads the state of this machine; to be used and closed in one thread."""

    def __init__(
        self,
        engine_pid: int,
        *,
        cpus: Path = _CPUS,
        open_boards: Callable[[], Sequence[MemoryReader]] = open_readers,
    ) -> None:
        """Count what process ``engine_pid`` (0 for none) and this one use as ours."""
        self._roots = [psutil.Process()]
        with contextlib.suppress(psutil.Error):
            self._roots += [psutil.Process(engine_pid)] if engine_pid else []
        self._cpus = cpus
        self._used_s: dict[tuple[int, float], float] = {}
        readers = open_boards()
        # Main memory is read by the engine itself, and dear to read.
        self._boards = [reader for reader in readers if not isinstance(reader, RamReader)]
        for reader in readers:
            if isinstance(reader, RamReader):
                reader.close()

    def read(self) -> MachineState:
        """The state now; takes some milliseconds, more with boards."""
        times = psutil.cpu_times()
        # Waiting for the disk is idle time; guests are counted in user time already.
        busy_s = times.user + times.system
        busy_s += sum(getattr(times, name, 0.0) for name in ("nice", "irq", "softirq"))
        swapped_in, swapped_out = _swapped_bytes()
        return MachineState(
            at_s=time.monotonic(),
            busy_s=busy_s,
            ours_s=self._ours_s(),
            stolen_s=getattr(times, "steal", 0.0),
            swapped_in_bytes=swapped_in,
            swapped_out_bytes=swapped_out,
            clock_mhz=_clock_mhz(),
            throttlings=throttlings(self._cpus),
            slept_s=_slept_s(),
            on_battery=_on_battery(),
            held_back=self._held_back(),
        )

    def close(self) -> None:
        """Let go of the boards."""
        for reader in self._boards:
            reader.close()

    def _ours_s(self) -> float:
        """Processor time of our processes, of those that have ended too."""
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                used = process.cpu_times()
                self._used_s[process.pid, process.create_time()] = used.user + used.system
        return sum(self._used_s.values())

    def _processes(self) -> list[psutil.Process]:
        found: dict[int, psutil.Process] = {}
        for root in self._roots:
            if root.pid in found:  # an engine that this process started was found below it
                continue
            found[root.pid] = root
            with contextlib.suppress(psutil.Error):
                found |= {child.pid: child for child in root.children(recursive=True)}
        return list(found.values())

    def _held_back(self) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        for reader in self._boards:
            reader.read()
            for board in reader.activity:
                # At rest or at its power limit a board is as it should be.
                found += [(board.name, why.short) for why in board.held_back or () if why.is_fault]
        return tuple(found)


def throttlings(cpus: Path = _CPUS) -> int | None:
    """How often processors were slowed down for heat since the start; None if it is not told.

    Linux counts for each core, and for the package once more at each of its cores.
    """
    cores, package, is_told = 0, 0, False
    for folder in cpus.glob(_THROTTLE):
        with contextlib.suppress(OSError, ValueError):
            cores += int((folder / "core_throttle_count").read_text())
            is_told = True
        with contextlib.suppress(OSError, ValueError):
            package = max(package, int((folder / "package_throttle_count").read_text()))
            is_told = True
    return cores + package if is_told else None


def _swapped_bytes() -> tuple[int | None, int | None]:
    try:
        swap = psutil.swap_memory()
    except (OSError, RuntimeError):  # refused in some containers, and to some users of Windows
        return None, None
    return int(swap.sin), int(swap.sout)


def _clock_mhz() -> float | None:
    try:
        clock = psutil.cpu_freq()
    except (AttributeError, OSError, NotImplementedError, RuntimeError):  # not told here
        return None
    return float(clock.current) if clock is not None and clock.current else None


def _slept_s() -> float | None:
    """Seconds asleep since the start: what one clock counts on with and another does not."""
    for on, off in (("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"), ("CLOCK_MONOTONIC", "CLOCK_UPTIME_RAW")):
        with_sleep, without = getattr(time, on, None), getattr(time, off, None)
        if with_sleep is not None and without is not None:
            return float(time.clock_gettime(with_sleep) - time.clock_gettime(without))
    return None


def _on_battery() -> bool | None:
    ask = getattr(psutil, "sensors_battery", None)
    try:
        battery = ask() if ask is not None else None
    except (OSError, RuntimeError):
        return None
    return None if battery is None or battery.power_plugged is None else not battery.power_plugged
