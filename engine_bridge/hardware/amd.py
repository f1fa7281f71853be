"""AMD boards, read from the files that amdgpu and amdkfd keep below /sys (Linux).

Written from the kernel's documentation and tried on recorded files only: no board of AMD's was at
hand. So each of them says, wherever it is shown, that this was not tried.
"""

from __future__ import annotations

import errno
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from engine_bridge.hardware.drm_clients import held_bytes
from engine_bridge.hardware.sysfs import (
    ASLEEP,
    UNTRIED,
    Asked,
    Card,
    labelled,
    monitor,
    number_in,
    size_in,
    text_in,
)
from engine_bridge.hardware.sysfs_reader import SysfsReader
from engine_bridge.metrics.board_activity import BoardActivity, SharedMemory
from engine_bridge.metrics.snapshot import MemorySnapshot

_NAMES = ("usr/share/libdrm/amdgpu.ids", "opt/amdgpu/share/libdrm/amdgpu.ids")
_KFD = "sys/class/kfd/kfd"
_LEVEL = re.compile(r"\d+:\s*(\d{1,9})\s*mhz\s*(\*?)", re.IGNORECASE)
_LINK = re.compile(r"\d+:\s*([\d.]+)\s*GT/s,?\s*x(\d+).*\*\s*$", re.IGNORECASE)
# Of the table gpu_metrics only the head is the same everywhere: its size (2 bytes), then its form.
_FORM_AT = 2
_FORM_OF_APUS = 2
_FIGURES = (
    "busy", "memory_busy", "core_clock_mhz", "memory_clock_mhz", "power_w", "power_limit_w",
    "temperature_c",
)  # fmt: skip
_NO_DRAM = "AMD's driver does not measure what the memory moves"
_NO_PCIE = "the driver would count for a whole second before it answers"
_NO_REASONS = "sysfs has it only in a table whose form differs from board to board"


@dataclass(frozen=True)
class _Board:
    """What does not change about a board.

    Attributes:
        card: Where its files lie.
        name: What AMD sells it as.
        is_apu: Whether it is part of a processor.
    """

    card: Card
    name: str
    is_apu: bool


class AmdReader(SysfsReader[_Board]):
    """Reads AMD's boards of this machine, see ``SysfsReader``."""

    DRIVERS = ("amdgpu",)
    LOSS = "; what was on it is lost"

    def _board(self, card: Card) -> _Board:
        return _Board(card, _name(self._root, card), _is_apu(card))

    def _ask(self, board: _Board) -> BoardActivity:
        card, name, is_apu = board.card, board.name, board.is_apu
        asked, held = Asked(), self._held(card)
        memory = asked.ask(lambda: _memory(card, name, is_apu, held), "memory")
        shared = asked.ask(lambda: _gtt(card), "shared")
        asked.refuse(_NO_DRAM, "dram")
        asked.refuse(_NO_PCIE, "pcie_in_bytes_per_s", "pcie_out_bytes_per_s")
        asked.refuse(_NO_REASONS, "held_back")
        if card.is_asleep:
            asked.refuse(ASLEEP, *_FIGURES)
            figures = BoardActivity(name)
        else:
            figures = _figures(card, name, asked)
        return replace(
            figures,
            memory=memory,
            shared=shared,
            is_unified=is_apu,
            remark=f"{UNTRIED}; its power is that of the whole processor" if is_apu else UNTRIED,
            refused=asked.refused,
        )

    def _held(self, card: Card) -> Mapping[str, int] | None:
        """What the engine holds there, by region; None where that cannot be told."""
        if self.engine_pid is None:
            return {}
        try:
            held = dict(held_bytes(self._root, self.engine_pid, card.slot))
        except OSError:
            return None
        # ROCm counts for itself, Vulkan is only in the files: what both have is the same memory.
        by_kfd = _kfd_bytes(self._root, self.engine_pid, card)
        return held | {"vram": max(held.get("vram", 0), by_kfd)}


def _figures(card: Card, name: str, asked: Asked) -> BoardActivity:
    """All but memory, of a board that is awake."""
    device = card.device
    sensors = monitor(device, ("amdgpu",)) or device / "hwmon"
    temperatures = _temperatures(sensors)
    return BoardActivity(
        name,
        busy=asked.ask(lambda: _share(device / "gpu_busy_percent"), "busy"),
        memory_busy=asked.ask(lambda: _share(device / "mem_busy_percent"), "memory_busy"),
        core_clock_mhz=asked.ask(lambda: _level(device / "pp_dpm_sclk"), "core_clock_mhz"),
        memory_clock_mhz=asked.ask(lambda: _level(device / "pp_dpm_mclk"), "memory_clock_mhz"),
        power_w=asked.ask(lambda: _power(sensors), "power_w"),
        power_limit_w=asked.ask(lambda: _watts(sensors / "power1_cap"), "power_limit_w"),
        temperature_c=asked.ask(lambda: _of_chip(temperatures), "temperature_c"),
        temperatures_c=temperatures,
        pcie_link=_link(device),
    )


def _memory(card: Card, name: str, is_apu: bool, held: Mapping[str, int] | None) -> MemorySnapshot:
    """How full it is. What a GPU in the processor may take of main memory is its memory too."""
    total, used = (size_in(card.device / f"mem_info_vram_{part}") for part in ("total", "used"))
    owned = None if held is None else held.get("vram", 0)
    if is_apu:
        shared = _gtt(card)
        total, used = total + shared.total_bytes, used + shared.used_bytes
        owned = None if held is None or owned is None else owned + held.get("gtt", 0)
    return MemorySnapshot(
        at_ns=time.perf_counter_ns(),
        kind="gpu",
        name=name,
        total_bytes=total,
        used_bytes=used,
        engine_owned_bytes=owned,
        peak_how=_no_peak(card.device),
    )


def _gtt(card: Card) -> SharedMemory:
    total, used = (size_in(card.device / f"mem_info_gtt_{part}") for part in ("total", "used"))
    return SharedMemory(used, total)


def _no_peak(device: Path) -> str:
    """Why there is no peak: a clock alone is none, and what a width times it makes is a guess."""
    try:
        highest = max(clock for clock, _ in _levels(device / "pp_dpm_mclk"))
    except (OSError, ValueError):
        return "sysfs has neither the width of its bus nor the kind of its memory"
    return (
        f"memory clock up to {highest:,} MHz, but sysfs has neither the width of its bus nor the "
        f"kind of its memory"
    )


def _share(path: Path) -> float:
    percent = number_in(path)
    if not 0 <= percent <= 100:
        raise ValueError(percent)
    return percent / 100


def _levels(path: Path) -> list[tuple[int, bool]]:
    """Clocks in MHz, and whether the board runs at each: ``0: 96Mhz *``."""
    return [(int(mhz), bool(star)) for mhz, star in _LEVEL.findall(text_in(path))]


def _level(path: Path) -> float:
    """The clock that the board runs at."""
    running = [mhz for mhz, is_running in _levels(path) if is_running]
    if not running:
        raise ValueError("no clock is marked")
    return float(running[0])


def _watts(path: Path) -> float:
    return number_in(path) / 1e6


def _power(sensors: Path) -> float:
    """The mean of a while; newer boards only tell the moment's."""
    try:
        return _watts(sensors / "power1_average")
    except FileNotFoundError:
        return _watts(sensors / "power1_input")


def _temperatures(sensors: Path) -> Mapping[str, float]:
    """Each sensor that answers, by its label: ``edge``, ``junction``, ``mem``."""
    found = {}
    for label, channel in labelled(sensors, "temp").items():
        try:
            found[label] = number_in(sensors / f"{channel}_input") / 1000
        except (OSError, ValueError):
            continue
    return found


def _of_chip(temperatures: Mapping[str, float]) -> float:
    if not temperatures:
        raise FileNotFoundError(errno.ENOENT, "no sensor")
    return temperatures.get("edge", next(iter(temperatures.values())))


def _link(device: Path) -> str:
    """``16.0 GT/s × 16``; the board's own file first, since the slot's may be of a bridge on it."""
    try:
        for line in text_in(device / "pp_dpm_pcie").splitlines():
            if match := _LINK.match(line):
                return f"{match[1]} GT/s × {match[2]}"
    except OSError:
        pass  # an older driver; the slot's is next best
    try:
        speed = text_in(device / "current_link_speed").partition(" ")[0]
        return f"{speed} GT/s × {number_in(device / 'current_link_width')}"
    except (OSError, ValueError):
        return ""


def _is_apu(card: Card) -> bool:
    """Whether it is part of a processor and lives in main memory; such a one is never asleep."""
    if card.is_asleep:
        return False
    try:
        head = (card.device / "gpu_metrics").read_bytes()[: _FORM_AT + 1]
    except OSError:
        return False
    return len(head) > _FORM_AT and head[_FORM_AT] >= _FORM_OF_APUS


def _kfd_bytes(root: Path, pid: int, card: Card) -> int:
    """Memory of the board that a process holds through ROCm; 0 where amdkfd tells of none."""
    minors = {path.name.removeprefix("renderD") for path in card.device.glob("drm/renderD*")}
    for node in sorted((root / _KFD / "topology/nodes").glob("*")):
        try:
            words = dict(
                line.split(maxsplit=1)
                for line in text_in(node / "properties").splitlines()
                if " " in line
            )
            if words.get("drm_render_minor") in minors:
                gpu_id = number_in(node / "gpu_id")
                return number_in(root / _KFD / "proc" / str(pid) / f"vram_{gpu_id}")
        except (OSError, ValueError):
            continue
    return 0


def _name(root: Path, card: Card) -> str:
    """What AMD sells it as; ROCm and Mesa take it from the same list."""
    for path in _NAMES:
        try:
            lines = (root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            words = [word.strip() for word in line.split(",", 2)]
            if [word.lower() for word in words[:-1]] == [card.device_id, card.revision]:
                return words[-1]
    try:
        named = text_in(card.device / "product_name")
    except OSError:
        named = ""
    return named or f"AMD GPU {card.device_id}"
