"""What NVIDIA boards do, by recorded values; what a driver refuses is unknown and says why."""

from __future__ import annotations

import pynvml
import pytest

from engine_bridge.hardware.nvidia import NvidiaReader
from engine_bridge.hardware.nvidia_throttle import held_back
from engine_bridge.metrics.board_activity import BoardActivity
from tests.unit.nvml_replay import Board, Rates, Replay, h200, laptop_4060, rtx_3090


def opened(*boards: Board) -> tuple[NvidiaReader, Replay]:
    replay = Replay(list(boards))
    reader = NvidiaReader.open(None, replay)
    assert reader is not None
    return reader, replay


def read(reader: NvidiaReader, times: int = 1) -> BoardActivity:
    for _ in range(times):
        reader.read()
    (activity,) = reader.activity
    return activity


def test_that_a_board_at_work_tells_its_figures_with_their_units() -> None:
    reader, _ = opened(rtx_3090())
    activity = read(reader, 2)
    assert activity.name == "NVIDIA GeForce RTX 3090"
    assert (activity.busy, activity.memory_busy) == (0.87, 0.64)
    assert (activity.core_clock_mhz, activity.memory_clock_mhz) == (1695, 9501)
    assert (activity.power_w, activity.power_limit_w) == (312.4, 350.0)
    assert activity.temperature_c == 71
    assert activity.held_back is not None
    assert [reason.short for reason in activity.held_back] == ["power limit"]
    assert activity.pcie_in_bytes_per_s == 1.2e9
    assert activity.pcie_out_bytes_per_s == 34e6
    assert activity.memory is not None
    assert activity.memory.peak_how


def test_that_a_board_before_hopper_says_why_there_is_no_bandwidth() -> None:
    reader, _ = opened(rtx_3090())
    activity = read(reader)
    assert activity.dram is None
    assert set(activity.refused) == {"dram"}
    assert "Hopper" in activity.refused["dram"]


def test_that_pcie_is_asked_for_one_direction_a_reading() -> None:
    """NVML counts for 20 ms before it answers."""
    reader, replay = opened(rtx_3090())
    first = read(reader)
    assert replay.asked.count("nvmlDeviceGetPcieThroughput") == 1
    assert (first.pcie_in_bytes_per_s, first.pcie_out_bytes_per_s) == (1.2e9, None)
    assert "pcie_out_bytes_per_s" not in first.refused  # not measured yet
    second = read(reader)
    assert replay.asked.count("nvmlDeviceGetPcieThroughput") == 2
    assert second.pcie_out_bytes_per_s == 34e6


def test_that_gpm_tells_what_memory_moved_between_two_readings() -> None:
    reader, replay = opened(h200())
    first = read(reader)
    assert first.dram is None
    assert first.refused == {}  # not measured yet
    activity = read(reader)
    assert activity.dram == pytest.approx(0.615)
    assert activity.pcie_in_bytes_per_s == 2048 * 2**20
    assert activity.pcie_out_bytes_per_s == 12 * 2**20
    read(reader, 5)
    assert len(replay.samples) == 2  # however long it runs
    assert "nvmlDeviceGetPcieThroughput" not in replay.asked
    reader.close()
    assert replay.samples == {}


def test_that_a_single_metric_that_gpm_refuses_leaves_the_others() -> None:
    metric = pynvml.NVML_GPM_METRIC_PCIE_RX_PER_SEC
    reader, _ = opened(h200(fails={f"gpm {metric}": pynvml.NVML_ERROR_NOT_SUPPORTED}))
    activity = read(reader, 2)
    assert activity.dram == pytest.approx(0.615)
    assert activity.pcie_in_bytes_per_s is None
    assert set(activity.refused) == {"pcie_in_bytes_per_s"}


def test_that_gpm_without_permission_says_so_and_keeps_its_sample() -> None:
    board = h200(fails={"nvmlGpmSampleGet": pynvml.NVML_ERROR_NO_PERMISSION})
    reader, replay = opened(board)
    activity = read(reader, 3)
    assert activity.dram is None
    assert "permission" in activity.refused["dram"]
    assert activity.power_w == 512.0
    assert len(replay.samples) == 1
    board.fails = {}
    assert read(reader, 2).dram == pytest.approx(0.615)


def test_that_a_reading_that_is_not_a_number_is_no_reading() -> None:
    board = h200()
    board.gpm = (float("nan"), 0.0, 0.0)
    reader, _ = opened(board)
    activity = read(reader, 2)
    assert activity.dram is None
    assert activity.pcie_in_bytes_per_s == 0.0


def test_that_a_laptop_without_a_limit_tells_the_rest() -> None:
    reader, _ = opened(laptop_4060())
    activity = read(reader)
    assert activity.power_w == 3.21
    assert activity.power_limit_w is None
    assert "power_limit_w" in activity.refused
    assert activity.busy == 0.0  # a figure, not the lack of one
    assert activity.held_back is not None
    assert [reason.short for reason in activity.held_back] == ["at rest"]


# The question to NVML, and the fields that live by it.
FIGURES = {
    "nvmlDeviceGetMemoryInfo": ("memory",),
    "nvmlDeviceGetUtilizationRates": ("busy", "memory_busy"),
    "nvmlDeviceGetPowerUsage": ("power_w",),
    "nvmlDeviceGetTemperatureV": ("temperature_c",),
    "nvmlDeviceGetClockInfo": ("core_clock_mhz", "memory_clock_mhz"),
    "nvmlDeviceGetCurrentClocksEventReasons": ("held_back",),
    "nvmlDeviceGetPcieThroughput": ("pcie_in_bytes_per_s", "pcie_out_bytes_per_s"),
}


@pytest.mark.parametrize("question", FIGURES)
@pytest.mark.parametrize(
    ("code", "word"),
    [
        (pynvml.NVML_ERROR_NOT_SUPPORTED, "has none"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "permission"),
        (pynvml.NVML_ERROR_UNKNOWN, "Unknown"),
    ],
)
def test_that_what_is_refused_is_unknown_with_its_reason_and_nothing_else_is(
    question: str, code: int, word: str
) -> None:
    reader, _ = opened(rtx_3090(fails={question: code}))
    activity = read(reader, 2)
    for name in FIGURES[question]:
        assert getattr(activity, name) is None
        assert word in activity.refused[name]
    assert set(activity.refused) == {*FIGURES[question], "dram"}
    assert (activity.problem, reader.problem) == ("", "")


def test_that_a_board_that_shares_the_machines_memory_is_no_lost_board() -> None:
    refuses = {"nvmlDeviceGetMemoryInfo": pynvml.NVML_ERROR_NOT_SUPPORTED}
    reader, _ = opened(rtx_3090(fails=refuses))
    assert reader.read() == ()
    assert reader.activity[0].busy == 0.87


def test_that_an_older_driver_is_asked_in_its_own_words() -> None:
    missing = pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
    old = rtx_3090(
        fails={
            "nvmlDeviceGetTemperatureV": missing,
            "nvmlDeviceGetCurrentClocksEventReasons": missing,
            "nvmlGpmQueryDeviceSupport": missing,
        }
    )
    activity = read(opened(old)[0])
    assert activity.temperature_c == 71
    assert activity.held_back


def test_that_the_number_that_means_none_is_none() -> None:
    board = rtx_3090()
    board.power_mw = 0xFFFF_FFFF
    board.rates = Rates(0, 255)
    activity = read(opened(board)[0])
    assert activity.power_w is None
    assert activity.refused["power_w"]
    assert activity.memory_busy is None
    assert activity.refused["memory_busy"]


def test_that_heat_is_told_before_the_power_limit() -> None:
    mask = (
        pynvml.nvmlClocksThrottleReasonSwPowerCap
        | pynvml.nvmlClocksThrottleReasonHwSlowdown
        | pynvml.nvmlClocksThrottleReasonHwThermalSlowdown
    )
    reasons = held_back(mask)
    assert [(reason.short, reason.is_fault) for reason in reasons] == [
        ("too hot", True),
        ("power limit", False),
    ]


def test_that_full_clocks_have_no_reason_and_unknown_reasons_are_told() -> None:
    assert held_back(0) == ()
    (reason,) = held_back(1 << 40)
    assert "0x10000000000" in reason.meaning


def test_that_every_reason_of_nvml_has_its_words() -> None:
    every = pynvml.nvmlClocksThrottleReasonAll
    bits = [1 << place for place in range(every.bit_length()) if every >> place & 1]
    shorts = [held_back(bit)[0].short for bit in bits]
    assert len(set(shorts)) == len(bits)
    assert "unknown reason" not in shorts
