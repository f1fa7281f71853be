"""NVML's reasons for lower clocks, in words. Pure."""

from __future__ import annotations

import pynvml

from engine_bridge.metrics.board_activity import HeldBack

# Heat and supply first: of several reasons the first is shown.
_REASONS: tuple[tuple[int, HeldBack], ...] = (
    (
        pynvml.nvmlClocksThrottleReasonHwThermalSlowdown,
        HeldBack(
            "too hot",
            "The board is so hot that its hardware halves the clocks at least. See to its fans and "
            "to the air around it.",
            is_fault=True,
        ),
    ),
    (
        pynvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
        HeldBack(
            "power brake",
            "The machine's power supply asks the board to slow down: it or its cables are at their "
            "limit.",
            is_fault=True,
        ),
    ),
    (
        pynvml.nvmlClocksThrottleReasonSwThermalSlowdown,
        HeldBack(
            "heat",
            "The driver lowers the clocks because chip or memory are at the highest temperature "
            "they may have. Better cooling makes the board faster.",
            is_fault=True,
        ),
    ),
    (
        pynvml.nvmlClocksThrottleReasonHwSlowdown,
        HeldBack(
            "slowed down",
            "The hardware holds the clocks down, for heat or for its power supply. Look at both.",
            is_fault=True,
        ),
    ),
    (
        pynvml.nvmlClocksThrottleReasonReliability,
        HeldBack("voltage", "The clocks are at what the voltage allows: as fast as it goes."),
    ),
    (
        pynvml.nvmlClocksThrottleReasonBoardLimit,
        HeldBack("board limit", "The clocks are at what the board's design allows."),
    ),
    (
        pynvml.nvmlClocksThrottleReasonSwPowerCap,
        HeldBack(
            "power limit",
            "The board draws what it may draw, so its clocks are below the highest. That is usual "
            "under full load; decoding waits for memory and hardly feels it.",
        ),
    ),
    (
        pynvml.nvmlClocksThrottleReasonApplicationsClocksSetting,
        HeldBack("clocks set", "Somebody set the clocks of this board lower (nvidia-smi)."),
    ),
    (
        pynvml.nvmlClocksThrottleReasonSyncBoost,
        HeldBack("sync boost", "The board keeps in step with others of its group."),
    ),
    (
        pynvml.nvmlClocksThrottleReasonDisplayClockSetting,
        HeldBack("display", "The clocks are what the screens on this board ask for."),
    ),
    (
        pynvml.nvmlClocksThrottleReasonGpuIdle,
        HeldBack("at rest", "Nothing runs on the board, so its clocks are low."),
    ),
)


def held_back(mask: int) -> tuple[HeldBack, ...]:
    """The reasons in NVML's bit mask, the first the one to be told first; () at full clocks."""
    found = [reason for bit, reason in _REASONS if mask & bit]
    known = 0
    for bit, _ in _REASONS:
        known |= bit
    if mask & ~known:
        meaning = f"The driver names a reason that this program does not know ({mask & ~known:#x})."
        found.append(HeldBack("unknown reason", meaning))
    # The general bit is set with each of the particular ones.
    if len(found) > 1:
        found = [reason for reason in found if reason.short != "slowed down"]
    return tuple(found)
