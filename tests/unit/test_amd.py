"""AMD boards, by recorded files: figures with their units, a reason for each that is missing."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from engine_bridge.hardware.amd import AmdReader
from engine_bridge.metrics.board_activity import BoardActivity, SharedMemory
from tests.unit.sysfs_tree import ENGINE, GIB, fdinfo, phoenix, rx_7900_xtx, uhd_630, write

_SLOT = "0000:03:00.0"


def opened(root: Path, pid: int | None = None) -> AmdReader:
    reader = AmdReader.open(pid, root)
    assert reader is not None
    return reader


def read(reader: AmdReader) -> BoardActivity:
    reader.read()
    (board,) = reader.activity
    return board


def test_that_a_machine_without_such_a_board_has_no_reader(tmp_path: Path) -> None:
    assert AmdReader.open(None, tmp_path) is None
    uhd_630(tmp_path)
    assert AmdReader.open(None, tmp_path) is None


def test_that_a_board_at_work_tells_its_figures_with_their_units(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    board = read(opened(tmp_path))
    assert board.name == "AMD Radeon RX 7900 XTX"
    assert (board.busy, board.memory_busy) == (0.93, 0.61)
    assert (board.core_clock_mhz, board.memory_clock_mhz) == (2304.0, 1249.0)
    assert (board.power_w, board.power_limit_w) == (287.0, 339.0)
    assert board.temperature_c == 58.0
    assert board.temperatures_c == {"edge": 58.0, "junction": 79.0, "mem": 74.0}
    assert board.pcie_link == "16.0 GT/s × 16"
    assert board.shared == SharedMemory(GIB // 4, 16 * GIB)
    assert not board.is_unified
    assert board.memory is not None
    assert (board.memory.used_bytes, board.memory.total_bytes) == (6 * GIB, 24 * GIB)


def test_that_it_says_that_it_was_not_tried_on_real_hardware(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    assert read(opened(tmp_path)).remark == "not tried on real hardware"


def test_that_a_clock_alone_makes_no_peak_and_the_reason_is_told(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    (memory,) = opened(tmp_path).read()
    assert memory.peak_bytes_per_s is None
    assert "1,249 MHz" in memory.peak_how
    assert "width of its bus" in memory.peak_how


def test_that_what_such_a_driver_never_tells_has_its_reason(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    board = read(opened(tmp_path))
    refused = {"dram", "pcie_in_bytes_per_s", "pcie_out_bytes_per_s", "held_back"}
    assert set(board.refused) == refused
    assert all(getattr(board, name) is None for name in refused)


def test_that_newer_boards_tell_the_power_of_the_moment(tmp_path: Path) -> None:
    card = rx_7900_xtx(tmp_path)
    (card / "device/hwmon/hwmon3/power1_average").rename(card / "device/hwmon/hwmon3/power1_input")
    assert read(opened(tmp_path)).power_w == 287.0


# A file, and the fields that live by it.
_FILES = {
    "gpu_busy_percent": "busy",
    "mem_busy_percent": "memory_busy",
    "pp_dpm_sclk": "core_clock_mhz",
    "pp_dpm_mclk": "memory_clock_mhz",
    "hwmon/hwmon3/power1_average": "power_w",
    "hwmon/hwmon3/power1_cap": "power_limit_w",
    "mem_info_vram_used": "memory",
    "mem_info_gtt_used": "shared",
}


@pytest.mark.parametrize("name", _FILES)
@pytest.mark.parametrize(
    ("code", "word"),
    [
        (errno.ENOENT, "has no file"),
        (errno.EACCES, "permission"),
        (errno.EBUSY, "no reading at the moment"),
        (None, "no number"),
    ],
)
def test_that_what_is_missing_is_unknown_with_its_reason_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int | None, word: str
) -> None:
    path = rx_7900_xtx(tmp_path) / "device" / name
    if code is None:
        path.write_text("N/A\n")
    else:
        real = Path.read_text

        def fail(self: Path, *args: str, **kwargs: str) -> str:
            if self == path:
                raise OSError(code, "refused")
            return real(self, *args, **kwargs)

        monkeypatch.setattr(Path, "read_text", fail)
    board = read(opened(tmp_path))
    field = _FILES[name]
    assert getattr(board, field) is None
    assert word in board.refused[field]
    missing = set(board.refused) - {"dram", "held_back", "pcie_in_bytes_per_s"}
    assert missing == {field, "pcie_out_bytes_per_s"}


@pytest.mark.parametrize("name", _FILES)
def test_that_a_figure_with_hundreds_of_digits_is_none(tmp_path: Path, name: str) -> None:
    card = rx_7900_xtx(tmp_path)
    digits = "9" * 400
    write(card, {f"device/{name}": f"0: {digits}Mhz *" if "dpm" in name else digits})
    assert getattr(read(opened(tmp_path)), _FILES[name]) is None


@pytest.mark.parametrize("name", ["mem_info_vram_total", "mem_info_vram_used"])
def test_that_memory_below_0_is_none(tmp_path: Path, name: str) -> None:
    write(rx_7900_xtx(tmp_path), {f"device/{name}": -1})
    board = read(opened(tmp_path))
    assert board.memory is None
    assert "no number" in board.refused["memory"]


def test_that_what_only_looks_like_digits_is_passed_over(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    write(tmp_path, {"sys/class/drm/card²/device/uevent": "DRIVER=amdgpu"})
    for client, size in enumerate(("² KiB", "9" * 5000 + " KiB")):
        fdinfo(tmp_path, client, _SLOT, client, {"drm-memory-vram": size})
    board = read(opened(tmp_path, ENGINE))
    assert board.memory is not None
    assert board.memory.engine_owned_bytes == 0


@pytest.mark.parametrize(("name", "told"), [("gpu_busy_percent", 255), ("mem_busy_percent", -1)])
def test_that_a_share_beyond_100_percent_is_none(tmp_path: Path, name: str, told: int) -> None:
    card = rx_7900_xtx(tmp_path)
    write(card, {f"device/{name}": told})
    assert getattr(read(opened(tmp_path)), _FILES[name]) is None


def test_that_a_board_that_is_asleep_is_left_asleep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = rx_7900_xtx(tmp_path)
    write(card, {"device/power/runtime_status": "suspended"})
    reader, looked_at = opened(tmp_path), []
    real = Path.read_text

    def noting(self: Path, *args: str, **kwargs: str) -> str:
        looked_at.append(self.name)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "read_text", noting)
    board = read(reader)
    assert {"runtime_status", "mem_info_vram_used"} <= set(looked_at)
    assert not {"gpu_busy_percent", "power1_average", "temp1_input"} & set(looked_at)
    assert board.memory is not None
    assert "asleep" in board.refused["busy"]
    assert board.busy is None


def test_that_the_engines_part_is_counted_once_for_each_owner(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    sizes = {"drm-memory-vram": "2097152 KiB", "drm-memory-gtt": "4096 KiB"}
    fdinfo(tmp_path, 7, _SLOT, 35, sizes)
    fdinfo(tmp_path, 8, _SLOT, 35, sizes)  # the same owner, through a second file
    fdinfo(tmp_path, 9, _SLOT, 36, {"drm-resident-vram": "1 GiB", "drm-memory-vram": "1048576 KiB"})
    fdinfo(tmp_path, 10, "0000:0c:00.0", 37, sizes)  # another board
    write(tmp_path, {f"proc/{ENGINE}/fdinfo/3": "pos:\t0\nflags:\t02"})
    (memory,) = opened(tmp_path, ENGINE).read()
    assert memory.engine_owned_bytes == 3 * GIB


def test_that_what_rocm_holds_is_counted_where_the_files_do_not_tell(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    fdinfo(tmp_path, 7, _SLOT, 35, {"drm-memory-vram": "0 KiB"})
    nodes = "sys/class/kfd/kfd/topology/nodes"
    write(
        tmp_path,
        {
            f"{nodes}/0/properties": "cpu_cores_count 16\nsimd_count 0\ndrm_render_minor 0",
            f"{nodes}/1/properties": "cpu_cores_count 0\nsimd_count 192\ndrm_render_minor 128",
            f"{nodes}/1/gpu_id": 28851,
            f"sys/class/kfd/kfd/proc/{ENGINE}/vram_28851": 5 * GIB,
        },
    )
    (memory,) = opened(tmp_path, ENGINE).read()
    assert memory.engine_owned_bytes == 5 * GIB


def test_that_an_unknown_part_is_unknown_and_not_zero(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    (memory,) = opened(tmp_path, ENGINE).read()  # its files may not be looked at, or it is gone
    assert memory.engine_owned_bytes is None
    (memory,) = opened(tmp_path).read()
    assert memory.engine_owned_bytes == 0  # no engine holds nothing


def test_that_a_gpu_in_a_processor_has_what_main_memory_lends_it(tmp_path: Path) -> None:
    phoenix(tmp_path)
    fdinfo(
        tmp_path, 7, "0000:c4:00.0", 3,
        {"drm-resident-vram": "128 MiB", "drm-resident-gtt": "2048 MiB"},
    )  # fmt: skip
    board = read(opened(tmp_path, ENGINE))
    assert board.name == "AMD GPU 15bf"  # no list of names here
    assert board.is_unified
    assert "whole processor" in board.remark
    assert board.power_w == pytest.approx(9.174)
    assert board.memory is not None
    assert board.memory.total_bytes == 14 * GIB + GIB // 2
    assert board.memory.used_bytes == 3 * GIB + GIB // 4
    assert board.memory.engine_owned_bytes == 2 * GIB + GIB // 8


def test_that_a_board_that_is_gone_is_a_sentence_and_the_others_are_read(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    phoenix(tmp_path)
    reader = opened(tmp_path)
    assert len(reader.read()) == 2
    shutil.rmtree(tmp_path / "sys/class/drm/card1")
    (memory,) = reader.read()
    assert memory.name == "AMD GPU 15bf"
    gone, there = reader.activity
    assert "RX 7900 XTX does not answer any more" in gone.problem
    assert reader.problem == gone.problem
    assert not there.problem


def test_that_two_equal_boards_are_two(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    rx_7900_xtx(tmp_path, "card10", "0000:0c:00.0")
    reader = opened(tmp_path)
    assert [memory.name for memory in reader.read()] == ["AMD Radeon RX 7900 XTX"] * 2
