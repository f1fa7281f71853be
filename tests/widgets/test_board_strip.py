"""The strip of boards: figures with their units and definitions, none where there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pynvml
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.hardware.nvidia import NvidiaReader
from engine_bridge.metrics.board_activity import BoardActivity, SharedMemory
from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.snapshot import MemorySnapshot
from resources.tokens import DARK, LIVE_WIDTH_PX
from tests.unit.nvml_replay import ENGINE, GIB, Board, Replay, h200, laptop_4060, rtx_3090
from widgets.board_strip import BoardStrip
from widgets.elided_label import ElidedLabel
from widgets.live_panel import LivePanel
from widgets.tall_page import TallPage
from widgets.theme import apply_theme

pytestmark = pytest.mark.gui
Shown = Callable[[QWidget], None]


def activity_of(*boards: Board) -> tuple[BoardActivity, ...]:
    reader = NvidiaReader.open(ENGINE, Replay(list(boards)))
    assert reader is not None
    for _ in range(2):
        reader.read()
    return reader.activity


def labels(strip: BoardStrip) -> dict[str, QLabel]:
    """Labels by what they show, those of the body alone."""
    return {label.text(): label for label in strip._body.findChildren(QLabel)}


@pytest.fixture
def strip(qtbot: QtBot, themed: QApplication) -> BoardStrip:
    made = BoardStrip()
    qtbot.addWidget(made)
    made.resize(430, 60)
    return made


def test_that_there_is_no_strip_without_a_board(strip: BoardStrip) -> None:
    strip.set_boards(())
    assert strip.isHidden()
    strip.set_boards(activity_of(rtx_3090()))
    assert not strip.isHidden()
    strip.set_boards(())
    assert strip.isHidden()


def test_that_each_figure_stands_with_its_unit_and_its_definition(strip: BoardStrip) -> None:
    strip.set_boards(activity_of(rtx_3090()))
    shown = labels(strip)
    for text, meaning in (
        ("87 %", "anything at all ran"),
        ("64 %", "no bandwidth"),
        ("312 / 350 W", "may draw"),
        ("71 °C", "chip"),
        ("power limit", "usual under full load"),
    ):
        assert meaning in shown[text].toolTip(), text
    assert "936 GB/s = 384 bit × 9751 MHz × 2" in shown["RTX 3090"].toolTip()
    assert "engine 5.00, others 2.00, free 17.0" in shown["RTX 3090"].toolTip()


def test_that_the_muted_line_has_memory_clocks_and_pcie(strip: BoardStrip) -> None:
    strip.resize(900, 60)
    strip.set_boards(activity_of(rtx_3090()))
    strip.show()
    text = "7.00 of 24.0 GiB · PCIe in 1.20, out 0.03 GB/s · 1,695 MHz · memory 9,501 MHz"
    note = labels(strip)[text]
    assert "one direction a second" in note.toolTip()


def test_that_bandwidth_has_a_column_where_a_board_measures_it(strip: BoardStrip) -> None:
    strip.set_boards(activity_of(rtx_3090()))
    assert "DRAM" not in labels(strip)
    strip.set_boards(activity_of(rtx_3090(), h200()))
    shown = labels(strip)
    assert "DRAM" in shown
    assert "3,024 GB/s of 4,917 GB/s" in shown["62 %"].toolTip()
    assert "Hopper" in shown["–"].toolTip()


def test_that_what_is_not_reported_is_a_dash_with_its_reason_and_no_zero(
    strip: BoardStrip,
) -> None:
    refused = {"nvmlDeviceGetUtilizationRates": pynvml.NVML_ERROR_NOT_SUPPORTED}
    strip.set_boards(activity_of(rtx_3090(fails=refused)))
    shown = labels(strip)
    assert "Not reported by the driver: this board" in shown["–"].toolTip()
    assert not [text for text in shown if text.startswith("0")]
    assert "busy time, busy time of the memory (this board" in strip.text()


def test_that_a_missing_power_limit_does_not_take_the_power_along(strip: BoardStrip) -> None:
    strip.set_boards(activity_of(laptop_4060()))
    shown = labels(strip)
    assert "A part of it is not reported by the driver" in shown["3 W"].toolTip()
    assert "0 %" in shown
    assert "at rest" in shown


def test_that_heat_is_in_the_warning_colour_and_the_power_limit_is_not(strip: BoardStrip) -> None:
    board = rtx_3090()
    strip.set_boards(activity_of(board))
    assert labels(strip)["power limit"].property("role") == "hint"
    board.reasons |= pynvml.nvmlClocksThrottleReasonHwThermalSlowdown
    strip.set_boards(activity_of(board))
    hot = labels(strip)["too hot +1"]
    assert hot.property("role") == "hint-warning"
    assert "fans" in hot.toolTip()


def test_that_two_equal_boards_are_told_apart(strip: BoardStrip) -> None:
    strip.set_boards(activity_of(rtx_3090(), rtx_3090()))
    assert {"GPUs", "0 · RTX 3090", "1 · RTX 3090"} <= set(labels(strip))


def test_that_a_board_that_is_lost_says_so_in_place_of_its_figures(strip: BoardStrip) -> None:
    board = rtx_3090()
    reader = NvidiaReader.open(ENGINE, Replay([board]))
    assert reader is not None
    reader.read()
    strip.set_boards(reader.activity)
    board.fails = {"all": pynvml.NVML_ERROR_GPU_IS_LOST}
    reader.read()
    strip.set_boards(reader.activity)
    assert reader.problem in labels(strip)
    assert "87 %" not in labels(strip)
    assert strip.text() == reader.problem
    board.fails = {}
    reader.read()
    strip.set_boards(reader.activity)
    assert "87 %" in labels(strip)


def test_that_nothing_is_rebuilt_or_moved_when_figures_grow(
    strip: BoardStrip, shown: Shown
) -> None:
    board = laptop_4060()
    strip.set_boards(activity_of(board))
    shown(strip)
    before = {label: label.geometry() for label in labels(strip).values()}
    board.rates.gpu, board.rates.memory, board.temperature_c = 100, 100, 100
    board.power_mw = 115_000
    strip.set_boards(activity_of(board))
    QApplication.processEvents()
    assert {label: label.geometry() for label in labels(strip).values()} == before


def test_that_plots_stay_equally_high_beside_boards(qtbot: QtBot, themed: QApplication) -> None:
    panel = LivePanel(Meters())
    qtbot.addWidget(panel)
    panel.resize(430, 820)
    panel.show()
    panel.boards.set_boards(activity_of(rtx_3090(), h200()))
    for _ in range(3):
        QApplication.processEvents()
    assert panel.boards.height() > 0
    heights = [chart.plot.geometry_now.area.height() for chart in panel.charts]
    assert max(heights) - min(heights) <= 2
    panel.close()


def untried(**values: Any) -> BoardActivity:
    """A board of which its reader knows little, as under AMD's or Intel's drivers."""
    memory = MemorySnapshot(
        1, "gpu", "AMD Radeon RX 7900 XTX", 24 * GIB, 7 * GIB, 5 * GIB, peak_how="no bus width"
    )
    refused = {"held_back": "no file", "dram": "no counter", "pcie_in_bytes_per_s": "a second"}
    figures: dict[str, Any] = {
        "busy": 0.93, "memory": memory, "shared": SharedMemory(GIB // 2, 16 * GIB),
        "temperature_c": 58.0, "temperatures_c": {"edge": 58.0, "junction": 79.0},
        "pcie_link": "16.0 GT/s × 16", "remark": "not tried on real hardware", "refused": refused,
    }  # fmt: skip
    return BoardActivity(memory.name, **(figures | values))


def test_that_a_board_that_was_never_tried_says_so(strip: BoardStrip) -> None:
    strip.resize(900, 60)
    strip.set_boards((untried(),))
    strip.show()
    shown = labels(strip)
    assert not shown["Not tried on real hardware."].isHidden()
    assert "7.00 of 24.0 GiB · shared 0.50 GiB · PCIe 16.0 GT/s × 16" in shown
    assert "edge 58 °C, junction 79 °C" in shown["58 °C"].toolTip()
    assert "not known: no bus width" in shown["RX 7900 XTX"].toolTip()
    strip.set_boards(activity_of(rtx_3090()))
    assert "Not tried on real hardware." not in labels(strip)


def test_that_columns_that_a_reader_never_fills_are_left_out(strip: BoardStrip) -> None:
    names = ("busy", "memory_busy", "dram", "power_w", "temperature_c", "held_back")
    refused = dict.fromkeys(names, "no file")
    silent = untried(busy=None, temperature_c=None, refused=refused)
    strip.set_boards((silent,))
    assert not {"Busy", "Mem. busy", "Power", "Temp."} & set(labels(strip))
    strip.set_boards((*activity_of(rtx_3090()), silent))
    assert "no file" in labels(strip)["–"].toolTip()


def test_that_a_warning_stands_below_the_board_in_the_warning_colour(strip: BoardStrip) -> None:
    strip.set_boards((untried(),))
    strip.set_boards((untried(warning="It spills."),))
    warning = labels(strip)["It spills."]
    assert not warning.isHidden()
    assert warning.property("role") == "hint-warning"
    assert "It spills." in strip.text()
    strip.set_boards((untried(),))
    assert warning.isHidden()


@pytest.mark.parametrize("size", [(600, 460), (430, 560), (370, 420), (370, 200)])
@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_that_a_warning_is_whole_in_a_low_and_narrow_column(
    qtbot: QtBot, themed: QApplication, size: tuple[int, int], scale: float
) -> None:
    apply_theme(themed, DARK, scale)
    panel = LivePanel(Meters())
    page = TallPage(panel)
    qtbot.addWidget(page)
    page.resize(*size)
    page.show()
    sentence = (
        "The driver put 3.21 GiB of it into the machine's memory since the model was loaded. "
        "Choose fewer layers on the GPU, a shorter context or fewer slots."
    )
    for warning in ("", sentence, "", sentence):
        panel.boards.set_boards((*activity_of(rtx_3090()), untried(warning=warning)))
        for _ in range(4):
            QApplication.processEvents()
    label = labels(panel.boards)[sentence]
    assert label.isVisible()
    assert label.heightForWidth(label.width()) <= label.height()
    at = label.mapTo(panel.boards, label.rect().bottomRight())
    assert panel.boards.rect().contains(at)
    # Nothing that follows lies over it.
    bottom = label.mapTo(panel, label.rect().bottomLeft()).y()
    for widget in (panel.boards.ram, *panel.charts):
        if widget.isVisible():
            assert widget.mapTo(panel, QPoint()).y() > bottom
    page.close()


def test_that_main_memory_stands_there_without_a_board(strip: BoardStrip) -> None:
    ram = MemorySnapshot(
        1, "system", "System memory", 32 * GIB, 12 * GIB, None, GIB, GIB // 4,
        swap_used_bytes=0, swap_total_bytes=0,
    )  # fmt: skip
    strip.set_ram(ram)
    assert not strip.isHidden()
    assert "engine unknown, mapped 1.00, window 0.25 GiB, available 20.0 GiB" in strip.text()
    assert "no swap" in strip.text()
    strip.set_ram(None)
    assert strip.isHidden()


# --- Little room -------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_that_boards_do_not_widen_the_live_column(
    strip: BoardStrip, shown: Shown, scale: float
) -> None:
    """Columns leave, and what stood in them can still be read."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, DARK, scale)
    strip.set_boards(activity_of(rtx_3090(), h200()))
    strip.resize(LIVE_WIDTH_PX, strip.sizeHint().height())
    shown(strip)
    for _ in range(3):
        QApplication.processEvents()
    assert strip.minimumSizeHint().width() <= LIVE_WIDTH_PX
    heads = [text for text, label in labels(strip).items() if not label.isHidden()]
    assert "Busy" in heads
    assert ("Mem. busy" in heads) is (scale == 1.0)
    names = [label for label in strip.findChildren(ElidedLabel) if label.full_text() == "RTX 3090"]
    assert names[0].text().startswith("RTX")
    assert ("Memory busy 64 %" in names[0].toolTip()) is (scale > 1.0)
    for label in labels(strip).values():
        if label.isVisible() and not isinstance(label, ElidedLabel):
            assert label.width() >= label.fontMetrics().horizontalAdvance(label.text())


def test_that_columns_come_back_with_the_room(strip: BoardStrip, shown: Shown) -> None:
    strip.set_boards(activity_of(rtx_3090(), h200()))
    shown(strip)
    for width_px, is_there in ((300, False), (500, True)):
        strip.resize(width_px, strip.height())
        for _ in range(3):
            QApplication.processEvents()
        assert labels(strip)["Mem. busy"].isHidden() is not is_there
