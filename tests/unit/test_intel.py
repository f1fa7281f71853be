"""Intel's GPUs by recorded files, and the one of an Apple chip: what there is, and what not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine_bridge.hardware.apple import AppleReader
from engine_bridge.hardware.intel import IntelReader
from engine_bridge.metrics.board_activity import BoardActivity
from tests.unit.sysfs_tree import ENGINE, GIB, arc_b580, fdinfo, rx_7900_xtx, uhd_630, write

_SENSORS = "device/hwmon/hwmon4"
_THROTTLE = "device/tile0/gt0/freq0/throttle"


def opened(root: Path, pid: int | None = None) -> IntelReader:
    reader = IntelReader.open(pid, root)
    assert reader is not None
    return reader


def read(reader: IntelReader) -> BoardActivity:
    assert reader.read() == ()
    (board,) = reader.activity
    return board


def test_that_a_machine_without_such_a_gpu_has_no_reader(tmp_path: Path) -> None:
    assert IntelReader.open(None, tmp_path) is None
    rx_7900_xtx(tmp_path)
    assert IntelReader.open(None, tmp_path) is None


def test_that_a_board_under_xe_tells_what_there_is(tmp_path: Path) -> None:
    arc_b580(tmp_path)
    board = read(opened(tmp_path))
    assert board.core_clock_mhz == 2750.0
    assert board.power_limit_w == 190.0
    assert board.temperature_c == 63.0  # of the chip, not of its memory
    assert board.held_back is not None
    assert [reason.short for reason in board.held_back] == ["power limit"]
    assert not board.is_unified
    assert board.remark == "not tried on real hardware"


def test_that_power_is_what_was_drawn_between_two_readings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = arc_b580(tmp_path)
    now_ns = 10**12
    monkeypatch.setattr("engine_bridge.hardware.intel.time.perf_counter_ns", lambda: now_ns)
    reader = opened(tmp_path)
    first = read(reader)
    assert first.power_w is None
    assert "power_w" not in first.refused  # not measured yet
    now_ns += 2 * 10**9
    write(card, {f"{_SENSORS}/energy1_input": 5_000_000_000 + 240_000_000})
    assert read(reader).power_w == pytest.approx(120.0)  # 240 J in 2 s
    now_ns += 10**9
    write(card, {f"{_SENSORS}/energy1_input": 7})  # began anew
    assert read(reader).power_w is None


def test_that_a_limit_of_0_is_no_limit(tmp_path: Path) -> None:
    card = arc_b580(tmp_path)
    write(card, {f"{_SENSORS}/power1_max": 0})
    board = read(opened(tmp_path))
    assert board.power_limit_w is None
    assert "switched off" in board.refused["power_limit_w"]


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        (("thermal", "pl1"), [("heat", True), ("power limit", False)]),
        (("vr_tdc",), [("current limit", False)]),
        ((), [("unknown reason", False)]),
    ],
)
def test_that_heat_is_told_before_the_power_limit(
    tmp_path: Path, reasons: tuple[str, ...], expected: list[tuple[str, bool]]
) -> None:
    card = arc_b580(tmp_path)
    names = {"pl1", "pl2", "thermal"} | set(reasons)
    write(card, {f"{_THROTTLE}/reason_{name}": int(name in reasons) for name in names})
    held_back = read(opened(tmp_path)).held_back
    assert held_back is not None
    assert [(reason.short, reason.is_fault) for reason in held_back] == expected


def test_that_full_clocks_have_no_reason(tmp_path: Path) -> None:
    card = arc_b580(tmp_path)
    write(card, {f"{_THROTTLE}/status": 0})
    assert read(opened(tmp_path)).held_back == ()


def test_that_a_gpu_in_a_processor_tells_its_clock_and_why_nothing_else(tmp_path: Path) -> None:
    uhd_630(tmp_path)
    board = read(opened(tmp_path))
    assert board.core_clock_mhz == 350.0
    assert board.held_back == ()
    assert board.is_unified
    assert (board.power_w, board.temperature_c, board.memory) == (None, None, None)
    assert {"power_w", "temperature_c", "memory", "busy"} <= set(board.refused)


def test_that_an_older_kernel_is_asked_in_its_own_words(tmp_path: Path) -> None:
    card = uhd_630(tmp_path)
    shutil.rmtree(card / "gt")
    write(card, {"gt_act_freq_mhz": 300})
    board = read(opened(tmp_path))
    assert board.core_clock_mhz == 300.0
    assert board.held_back is None
    assert "no file" in board.refused["held_back"]


@pytest.mark.parametrize("region", ["drm-resident-vram0", "drm-resident-local0"])
def test_that_the_engines_part_of_a_boards_own_memory_is_told(tmp_path: Path, region: str) -> None:
    arc_b580(tmp_path)
    fdinfo(tmp_path, 5, "0000:0b:00.0", 3, {region: "4096 MiB", "drm-resident-gtt": "192 KiB"})
    assert read(opened(tmp_path, ENGINE)).engine_bytes == 4 * GIB
    assert read(opened(tmp_path)).engine_bytes is None


def test_that_a_figure_with_hundreds_of_digits_is_none(tmp_path: Path) -> None:
    write(arc_b580(tmp_path), {"device/tile0/gt0/freq0/act_freq": "9" * 400})
    board = read(opened(tmp_path))
    assert board.core_clock_mhz is None
    assert "no number" in board.refused["core_clock_mhz"]


def test_that_a_gpu_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    card = arc_b580(tmp_path)
    reader = opened(tmp_path)
    read(reader)
    shutil.rmtree(card)
    assert "does not answer any more" in read(reader).problem


def test_that_only_an_apple_chip_has_apples_gpu() -> None:
    assert AppleReader.open(None, "linux", "x86_64") is None
    assert AppleReader.open(None, "darwin", "x86_64") is None
    reader = AppleReader.open(None, "darwin", "arm64", lambda: "Apple M2 Max")
    assert reader is not None
    assert reader.read() == ()
    (board,) = reader.activity
    assert (board.name, board.is_unified) == ("Apple M2 Max", True)
    assert board.remark == "not tried on real hardware"
    assert all(getattr(board, name) is None for name in board.refused)
    assert {"memory", "busy", "power_w"} <= set(board.refused)
