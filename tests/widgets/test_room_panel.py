"""The page of what still fits: its states, its width, and what is heard of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.memory_table import MemoryTable, UseBytes
from resources.tokens import DARK, LIGHT
from widgets.elided_label import ElidedLabel
from widgets.fits_view import Fit
from widgets.room_panel import RoomPanel
from widgets.slot_state import Lane, LaneState, Pool
from widgets.slots_view import MOST_LANES
from widgets.theme import apply_theme

pytestmark = pytest.mark.gui
MIB = 2**20
WIDTHS_PX = (430, 370)

FITS = (
    Fit(
        "slots",
        "How many conversations fit",
        "12 conversations",
        "At once, each with 131,072 tok; 4 set now. More would leave too little system memory "
        "free.",
        "Set 12 slots",
        meaning="The most slots with which a margin stays free.",
    ),
    Fit(
        "context",
        "Longest context that fits",
        "1,048,576 tok",
        "Per slot, with 4 slots; 131,072 set now. The training length is the limit, 1,048,576 tok: "
        "no slot uses more.",
        "Set 1,048,576 tok of context per slot",
        meaning="The longest context with which a margin stays free.",
    ),
    Fit(
        "coarse",
        "What q8_0 KV would buy",
        "not possible",
        "q8_0 stores 32 values a block, and the head dimension 80 of Toy is no multiple of that; "
        "llama.cpp refuses to make this context.",
        meaning="The same with the cache in q8_0.",
    ),
)


def pool(slots: int, *, is_shared: bool = False) -> Pool:
    states: tuple[LaneState, ...] = ("writing", "reading", "idle", "empty")
    lanes = tuple(
        Lane(
            slot=n,
            used_tok=0 if n % 4 == 3 else 70_000 + n,
            kept_tok=0 if n % 4 == 3 else 40_000,
            own_tok=0 if n % 4 == 3 else 70_000 + n,
            cap_tok=120_000,
            part_tok=120_000 if is_shared else 131_072,
            others_tok=20_000 if is_shared else 0,
            state=states[n % 4],
            progress=0.45,
            title="" if n % 4 == 3 else f"A rather long title of conversation {n} that is cut",
        )
        for n in range(slots)
    )
    return Pool(slots * 131_072, is_shared, 120_000, lanes)


def tables(boards: int) -> tuple[MemoryTable, ...]:
    uses = (
        UseBytes("mapped", 40_960 * MIB, 40_960 * MIB),
        UseBytes("kv", 131_072 * MIB, 100_000 * MIB),
        UseBytes("caches", 8192 * MIB, 300 * MIB, is_limit=True),
        UseBytes("rest", None, 412 * MIB),
    )
    host = MemoryTable(
        "System memory", "CPU", uses, 192 * 1024 * MIB, 9 * 1024 * MIB, 140_000 * MIB,
        40_990 * MIB, 210 * MIB, 3 * MIB, 2048 * MIB,
    )  # fmt: skip
    return (
        host,
        *(
            MemoryTable(f"CUDA{n} · NVIDIA H200 NVL with a name that is long", f"CUDA{n}", uses,
                        143_771 * MIB, 9000 * MIB)
            for n in range(boards)
        ),
    )  # fmt: skip


@pytest.fixture
def panel(qtbot: QtBot, themed: QApplication) -> Iterator[RoomPanel]:
    made = RoomPanel()
    qtbot.addWidget(made)
    made.set_palette(DARK)
    made.resize(430, 760)
    yield made
    made.hide()


def fill(panel: RoomPanel, slots: int = 4, boards: int = 1) -> None:
    panel.fits.show_fits(FITS)
    panel.slots.set_pool(pool(slots))
    panel.memory.show_tables(tables(boards))
    panel.show()
    QApplication.processEvents()


def tip_of(widget: QWidget, top: QWidget) -> str:
    """The tip that Qt shows over ``widget``: its own, or the nearest one around it."""
    around: QWidget | None = widget
    while around is not None and around is not top:
        if around.toolTip():
            return around.toolTip()
        around = around.parentWidget()
    return ""


def cut_off(panel: RoomPanel) -> list[str]:
    """Labels whose text does not fit into them, those that shorten it themselves left out."""
    found = []
    for label in panel.findChildren(QLabel):
        if not label.isVisible() or isinstance(label, ElidedLabel) or not label.text():
            continue
        if label.wordWrap():
            needed = label.heightForWidth(label.width())
            if needed > label.height():
                found.append(f"{label.text()} needs {needed} px of height")
        elif label.sizeHint().width() > label.width():
            found.append(f"{label.text()} needs {label.sizeHint().width()} px")
    return found


def test_that_an_empty_page_says_what_will_stand_there(panel: RoomPanel) -> None:
    panel.fits.show_fits((), "Load a model.")
    panel.show()
    QApplication.processEvents()
    assert panel.fits.text() == "Load a model."
    assert not panel.slots.empty.isHidden()
    assert not panel.memory.empty.isHidden()
    assert not panel.slots.bar.isVisible()
    assert not [button for button in panel.findChildren(QPushButton) if button.isVisible()]
    assert cut_off(panel) == []


@pytest.mark.parametrize("width", WIDTHS_PX)
@pytest.mark.parametrize("slots", [1, 4, 16, 64])
@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_that_nothing_is_cut_off(
    panel: RoomPanel, themed: QApplication, width: int, slots: int, scale: float
) -> None:
    apply_theme(themed, DARK, scale)
    panel.resize(width, 760)
    fill(panel, slots, boards=4)
    assert panel.width() == width
    assert cut_off(panel) == []
    page = panel.area.widget()
    assert page is not None
    if scale == 1.0:  # larger type may be scrolled sideways, as no figure may lose its digits
        assert page.width() <= panel.area.viewport().width()


def test_that_up_to_sixteen_lanes_are_seen_and_more_are_scrolled(panel: RoomPanel) -> None:
    fill(panel, MOST_LANES)
    area = panel.slots.area
    page = area.widget()
    assert page is not None
    assert page.height() <= area.viewport().height()
    assert area.focusPolicy() == Qt.FocusPolicy.NoFocus, "nothing to do there by key"
    fill(panel, 64)
    assert page.height() > 3 * area.viewport().height()
    assert len(panel.slots.lanes) == 64
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_PageDown)
    assert area.verticalScrollBar().value() > 0
    fill(panel, 1)
    assert len(panel.slots.lanes) == 1
    assert area.height() < 60


def test_that_a_lane_that_does_not_change_is_not_painted_again(panel: RoomPanel) -> None:
    fill(panel, 2)
    before = panel.slots.lanes[0]
    panel.slots.set_pool(pool(2))
    assert panel.slots.lanes[0] is before


def test_that_a_title_gives_way_to_the_figures(panel: RoomPanel) -> None:
    panel.resize(370, 760)
    fill(panel)
    name, figures = panel.slots.lanes[0].shown_texts()
    assert figures == "writing · 70,000 of 120,000 tok"
    assert name.startswith("1 · A")
    assert name.endswith("…")
    assert "A rather long title of conversation 0 that is cut" in (panel.slots.lanes[0].toolTip())


def test_that_a_button_asks_for_its_answer_by_mouse_and_by_key(
    panel: RoomPanel, qtbot: QtBot
) -> None:
    fill(panel)
    asked: list[str] = []
    panel.fits.use_requested.connect(asked.append)
    QTest.mouseClick(panel.fits.row("slots").use, Qt.MouseButton.LeftButton)
    button = panel.fits.row("context").use
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert asked == ["slots", "context"]
    assert not panel.fits.row("coarse").use.isEnabled()


def test_that_everything_is_named_for_who_cannot_see_it(panel: RoomPanel) -> None:
    fill(panel)
    assert panel.fits.row("slots").use.accessibleName() == "Set 12 slots"
    assert "12 conversations" in panel.fits.row("slots").value.accessibleName()
    assert "Slot 1" in panel.slots.lanes[0].accessibleName()
    assert "writing" in panel.slots.lanes[0].accessibleName()
    assert "slots at work" in panel.slots.bar.accessibleName()
    block = panel.memory.blocks[0].accessibleName()
    assert "unexplained rest not predicted, measured 412 MiB" in block
    unnamed = [
        type(widget).__name__
        for widget in panel.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and not widget.accessibleName()
    ]
    assert unnamed == []


def test_that_everything_says_what_it_means_where_the_pointer_rests(panel: RoomPanel) -> None:
    fill(panel, boards=1)
    untold = [
        label.text()
        for label in panel.findChildren(QLabel)
        # A sentence explains itself.
        if label.isVisible() and label.text() and not label.wordWrap() and not tip_of(label, panel)
    ]
    assert untold == []
    assert "margin stays free" in tip_of(panel.fits.row("slots").value, panel)
    told = {label.text(): label.toolTip() for label in panel.memory.findChildren(QLabel)}
    assert "KV cache of all slots" in told["KV and state"]
    assert "dry run" in told["predicted"]
    assert "without swapping" in told["9.0 of 192.0 GiB available"]
    assert told["Unexplained rest"] != told["KV and state"]


@pytest.mark.parametrize("width", [370, 430, 900])
def test_that_a_button_stands_in_the_middle_of_its_row(panel: RoomPanel, width: int) -> None:
    """Newcomer: half a line too low where the words below the title take one line."""
    panel.resize(width, 760)
    fill(panel)
    for fit in FITS:
        row = panel.fits.row(fit.key)
        middle = row.use.geometry().center().y()
        assert abs(middle - row.rect().center().y()) <= 1
        first, last = row.title.geometry().top(), row.detail.geometry().bottom()
        assert abs(middle - (first + last) / 2) <= 1
        assert row.value.geometry().right() < row.use.geometry().left()


def test_that_all_of_a_long_page_is_reached_by_key(
    panel: RoomPanel, shown: Callable[[QWidget], None]
) -> None:
    fill(panel, 16, boards=4)
    panel.resize(370, 400)
    QApplication.processEvents()
    panel.area.setFocus()
    bar = panel.area.verticalScrollBar()
    QTest.keyClick(panel.area, Qt.Key.Key_PageDown)
    assert bar.value() > 0
    bar.setValue(bar.maximum())
    last = panel.memory.blocks[-1]
    bottom = last.mapTo(panel.area.viewport(), last.rect().bottomLeft()).y()
    assert bottom <= panel.area.viewport().height()


def test_that_a_warning_is_more_than_a_colour(panel: RoomPanel) -> None:
    short = Fit("slots", "How many conversations fit", "none", "Not even one.", is_short=True)
    panel.fits.show_fits([short], "The engine is not running.", is_warning=True)
    assert panel.fits.row("slots").value.property("role") == "value-warning"
    assert panel.fits.status.property("role") == "hint-warning"
    assert "none" in panel.fits.text()


def test_that_rows_that_are_gone_are_not_told(panel: RoomPanel) -> None:
    fill(panel)
    panel.fits.show_fits((), "Load a model.")
    assert panel.fits.text() == "Load a model."
    panel.fits.show_fits(FITS[:1])
    assert "1,048,576" not in panel.fits.text()
    panel.memory.show_tables(())
    assert panel.memory.text() == ""
    panel.slots.set_pool(Pool())
    assert panel.slots.lanes == []


def test_that_it_says_when_it_can_be_seen(panel: RoomPanel) -> None:
    seen: list[bool] = []
    panel.seen_changed.connect(seen.append)
    found = []
    for is_shown in (True, False):
        panel.setVisible(is_shown)
        found.append(panel.is_seen)
    assert seen == found == [True, False]


def test_that_the_bars_follow_the_theme(panel: RoomPanel) -> None:
    fill(panel)
    lane = panel.slots.lanes[0]
    dark = lane.grab().toImage()
    panel.set_palette(LIGHT)
    assert lane.grab().toImage() != dark


def test_that_what_is_full_can_be_told_from_what_is_free_and_from_what_others_hold(
    panel: RoomPanel,
) -> None:
    panel.slots.set_pool(pool(1, is_shared=True))
    panel.show()
    QApplication.processEvents()
    lane = panel.slots.lanes[0]
    image = lane.grab().toImage()
    y = image.height() - 3
    # 40,000 kept, 30,000 of this turn, 30,000 free, 20,000 with others, of 120,000.
    places = [round(image.width() * share) for share in (0.15, 0.45, 0.7)]
    colours = [image.pixelColor(x, y).name() for x in places]
    assert len(set(colours)) == 3
    end = range(round(image.width() * 0.88), image.width() - 3)
    others = {image.pixelColor(x, y).name() for x in end}
    assert len(others) >= 2, "hatched"
    entries = panel.slots.legend.text()
    assert "this turn" in entries
    assert "kept from earlier turns" in entries
    assert "held by others" in entries
