"""What all readers of boards below /sys have in common, by one that is nobody's."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from engine_bridge.hardware.amd import AmdReader
from engine_bridge.hardware.intel import IntelReader
from engine_bridge.hardware.sysfs import UNTRIED, Card
from engine_bridge.hardware.sysfs_reader import SysfsReader
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.snapshot import MemorySnapshot
from tests.unit.sysfs_tree import ENGINE, GIB, arc_b580, rx_7900_xtx, uevent, uhd_630, write


@dataclass
class PlainBoard:
    """A board that remembers how often it was asked."""

    card: Card
    name: str
    asked: int = 0


class PlainReader(SysfsReader[PlainBoard]):
    """Knows the size of the boards in the first slot only."""

    DRIVERS = ("plain",)

    def _board(self, card: Card) -> PlainBoard:
        return PlainBoard(card, f"Plain {card.device_id}")

    def _ask(self, board: PlainBoard) -> BoardActivity:
        board.asked += 1
        memory = MemorySnapshot(board.asked, "gpu", board.name, GIB, 0)
        has_size = board.card.slot == "0000:01:00.0"
        return BoardActivity(board.name, memory=memory if has_size else None)


def plain(root: Path, number: int) -> Path:
    told = uevent("plain", f"1234:000{number}", f"0000:0{number}:00.0")
    write(root, {f"sys/class/drm/card{number}/device/uevent": told})
    return root / "sys/class/drm" / f"card{number}"


def opened(root: Path) -> PlainReader:
    reader = PlainReader.open(ENGINE, root)
    assert reader is not None
    return reader


def test_that_only_boards_of_its_drivers_are_its_own(tmp_path: Path) -> None:
    rx_7900_xtx(tmp_path)
    assert PlainReader.open(None, tmp_path) is None
    plain(tmp_path, 2)
    reader = opened(tmp_path)
    reader.read()
    assert [board.name for board in reader.activity] == ["Plain 0002"]
    assert reader.engine_pid == ENGINE


def test_that_a_snapshot_is_of_boards_whose_size_is_known_and_activity_of_all(
    tmp_path: Path,
) -> None:
    plain(tmp_path, 1)
    plain(tmp_path, 2)
    reader = opened(tmp_path)
    assert [memory.name for memory in reader.read()] == ["Plain 0001"]
    assert [board.name for board in reader.activity] == ["Plain 0001", "Plain 0002"]
    assert reader.problem == ""


def test_that_what_is_remembered_of_a_board_stays_between_readings(tmp_path: Path) -> None:
    plain(tmp_path, 1)
    reader = opened(tmp_path)
    reader.read()
    (memory,) = reader.read()
    assert memory.at_ns == 2


def test_that_boards_that_are_gone_are_a_sentence_each_and_are_not_asked(tmp_path: Path) -> None:
    folders = [plain(tmp_path, 1), plain(tmp_path, 2)]
    reader = opened(tmp_path)
    for folder in folders:
        shutil.rmtree(folder)
    assert reader.read() == ()
    first, second = reader.activity
    assert first.problem == (
        "Plain 0001 does not answer any more (its files at 0000:01:00.0 are gone). `dmesg` tells "
        "why; often only a restart of the machine helps."
    )
    assert first.remark == UNTRIED
    assert reader.problem == f"{first.problem} {second.problem}"


def test_that_each_maker_says_what_is_lost_with_a_board(tmp_path: Path) -> None:
    amd_card, intel_card = rx_7900_xtx(tmp_path), arc_b580(tmp_path, "card5")
    amd, intel = AmdReader.open(None, tmp_path), IntelReader.open(None, tmp_path)
    assert amd is not None
    assert intel is not None
    shutil.rmtree(amd_card)
    shutil.rmtree(intel_card)
    amd.read()
    intel.read()
    assert "are gone); what was on it is lost. `dmesg`" in amd.problem
    assert "are gone). `dmesg`" in intel.problem


def test_that_the_drivers_of_two_makers_are_told_apart(tmp_path: Path) -> None:
    uhd_630(tmp_path)
    assert AmdReader.open(None, tmp_path) is None
    assert IntelReader.open(None, tmp_path) is not None
