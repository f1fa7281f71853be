"""Intel's GPUs, read from the files that i915 and xe keep below /sys (Linux).

Written from the kernel's documentation and tried on recorded files only: no such GPU was at hand.
So each of them says, wherever it is shown, that this was not tried. How large a board's memory is
no file of the kernel's tells; ggml does, where its backend sees the board.
"""

from __future__ import annotations

import time
from dataclasses import replace
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
)
from engine_bridge.hardware.sysfs_reader import SysfsReader
from engine_bridge.metrics.board_activity import BoardActivity, HeldBack

_DRIVERS = ("i915", "xe")
_NO_TOTAL = "the kernel has no file for its size; ggml tells it once a backend sees the board"
_NO_BUSY = "the kernel tells it only through counters that need more rights"
_NO_DRAM = "the driver does not measure what the memory moves"
_NO_PCIE = "the driver does not count it"
_NO_LIMIT = "it is switched off"
_NO_MEMORY_CLOCK = "the driver has no file for it"
_AWAKE_FIGURES = ("core_clock_mhz", "power_w", "power_limit_w", "temperature_c", "held_back")
# As i915 calls regions of a board's own memory, and as xe does.
_OWN_MEMORY = ("local", "vram")

_HEAT = HeldBack(
    "heat",
    "The board, or what feeds it, is as hot as it may get, so its clocks are lower. See to its "
    "fans and to the air around it.",
    is_fault=True,
)
_POWER = HeldBack(
    "power limit",
    "The board draws what it may draw, so its clocks are below the highest. That is usual under "
    "full load; decoding waits for memory and hardly feels it.",
)
_CURRENT = HeldBack("current limit", "The clocks are at what the board's supply of current allows.")
_UNKNOWN = HeldBack("unknown reason", "The driver holds the clocks down and does not say why.")
_REASONS = {
    "thermal": _HEAT, "prochot": _HEAT, "vr_thermalert": _HEAT,
    "pl1": _POWER, "pl2": _POWER, "pl4": _POWER,
    "ratl": _CURRENT, "vr_tdc": _CURRENT,
}  # fmt: skip


class _Board:
    """One GPU, and what its counter of energy said last."""

    def __init__(self, card: Card) -> None:
        self.card = card
        self.name = f"Intel GPU {card.device_id}"
        self._sensors = monitor(card.device, _DRIVERS)
        self._energy: tuple[int, int] | None = None  # nanoseconds, microjoules

    @property
    def has_sensors(self) -> bool:
        """Both drivers give sensors to boards alone, and none to a GPU in a processor."""
        return self._sensors is not None

    def figures(self, asked: Asked, now_ns: int) -> BoardActivity:
        """All but memory, while it is awake."""
        sensors = self._sensors or self.card.device / "hwmon"
        limit_w = asked.ask(lambda: _limit(sensors), "power_limit_w")
        if limit_w == 0:
            asked.refuse(_NO_LIMIT, "power_limit_w")
        return BoardActivity(
            self.name,
            core_clock_mhz=asked.ask(self._clock, "core_clock_mhz"),
            power_w=asked.ask(lambda: self._power(sensors, now_ns), "power_w"),
            power_limit_w=limit_w or None,
            temperature_c=asked.ask(lambda: _temperature(sensors), "temperature_c"),
            held_back=asked.ask(self._held_back, "held_back"),
        )

    def _clock(self) -> float:
        """Clock of its first tile; 0 while that is switched off between two pieces of work."""
        if self.card.driver == "xe":
            return float(number_in(self.card.device / "tile0/gt0/freq0/act_freq"))
        try:
            return float(number_in(self.card.folder / "gt/gt0/rps_act_freq_mhz"))
        except FileNotFoundError:  # before Linux 5.18
            return float(number_in(self.card.folder / "gt_act_freq_mhz"))

    def _power(self, sensors: Path, now_ns: int) -> float | None:
        """Mean power since the last reading, from what it has drawn in all; None at the first."""
        counter_uj = number_in(sensors / f"energy{_whole_board(sensors)}_input")
        before, self._energy = self._energy, (now_ns, counter_uj)
        if before is None or now_ns <= before[0] or counter_uj < before[1]:
            return None
        return (counter_uj - before[1]) * 1e3 / (now_ns - before[0])

    def _held_back(self) -> tuple[HeldBack, ...]:
        if self.card.driver == "xe":
            folder, prefix = self.card.device / "tile0/gt0/freq0/throttle", "reason_"
        else:
            folder, prefix = self.card.folder / "gt/gt0", "throttle_reason_"
        status = "status" if self.card.driver == "xe" else f"{prefix}status"
        if not number_in(folder / status):
            return ()
        found = [_REASONS[name] for name in _REASONS if _is_set(folder / f"{prefix}{name}")]
        # Heat first, as told; several causes of one kind are one reason.
        return tuple(dict.fromkeys(found)) or (_UNKNOWN,)


class IntelReader(SysfsReader[_Board]):
    """Reads Intel's GPUs of this machine, those in processors too; see ``SysfsReader``.

    It has no snapshot of any, since nobody here knows their size.
    """

    DRIVERS = _DRIVERS

    def _board(self, card: Card) -> _Board:
        return _Board(card)

    def _ask(self, board: _Board) -> BoardActivity:
        card = board.card
        asked = Asked()
        asked.refuse(_NO_TOTAL, "memory")
        asked.refuse(_NO_BUSY, "busy", "memory_busy")
        asked.refuse(_NO_DRAM, "dram")
        asked.refuse(_NO_MEMORY_CLOCK, "memory_clock_mhz")
        asked.refuse(_NO_PCIE, "pcie_in_bytes_per_s", "pcie_out_bytes_per_s")
        if card.is_asleep:
            asked.refuse(ASLEEP, *_AWAKE_FIGURES)
            figures = BoardActivity(board.name)
        else:
            figures = board.figures(asked, time.perf_counter_ns())
        return replace(
            figures,
            engine_bytes=self._engine_bytes(card),
            is_unified=not board.has_sensors,
            remark=UNTRIED,
            refused=asked.refused,
        )

    def _engine_bytes(self, card: Card) -> int | None:
        """The engine's part of a board's own memory; None where that cannot be told."""
        if self.engine_pid is None:
            return None
        try:
            held = held_bytes(self._root, self.engine_pid, card.slot)
        except OSError:
            return None
        own = [size for region, size in held.items() if region.startswith(_OWN_MEMORY)]
        return sum(own) if own else None


def _is_set(path: Path) -> bool:
    try:
        return bool(number_in(path))
    except (OSError, ValueError):
        return False


def _whole_board(sensors: Path) -> str:
    """Number of the channel that counts the whole board; of the chip where none does."""
    channels = labelled(sensors, "energy")
    chosen = channels.get("card") or channels.get("pkg") or "energy1"
    return chosen.removeprefix("energy")


def _limit(sensors: Path) -> float:
    """What the same channel may draw; 0 where that is not limited."""
    return number_in(sensors / f"power{_whole_board(sensors)}_max") / 1e6


def _temperature(sensors: Path) -> float:
    """Of the chip."""
    channels = labelled(sensors, "temp")
    channel = channels.get("pkg", next(iter(channels.values()), "temp1"))
    return number_in(sensors / f"{channel}_input") / 1000
