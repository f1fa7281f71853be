"""Charts as pictures, drawings, figures and tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from app.chart_wiring import ChartWiring
from app.window_memory import Unkept
from engine_bridge.metrics.stretch import Stretch
from resources.tokens import DARK, LIGHT, Palette
from tests.widgets.synthetic import SECOND, desk_at_work
from widgets.charts.export_csv import csv_bytes
from widgets.charts.export_picture import Look, png_bytes, svg_bytes
from widgets.charts.picture import Picture, Series
from widgets.charts.sheet import FIGURE_NAMES, Sheet, Unit, figures, table_text
from widgets.charts.table_dialog import TableDialog
from widgets.charts.timeline import Timeline
from widgets.live_panel import LivePanel

pytestmark = pytest.mark.gui

NOW_NS = 5000 * SECOND


@pytest.fixture
def panel(qtbot: QtBot, themed: QApplication) -> Iterator[LivePanel]:
    made = LivePanel(desk_at_work(NOW_NS), clock_ns=lambda: NOW_NS)
    qtbot.addWidget(made)
    made.resize(430, 800)
    made.show()
    yield made
    made.close()


def sheets_of(panel: LivePanel, kind: str) -> list[Sheet]:
    asked: list[list[Sheet]] = []
    panel.export_requested.connect(lambda _, sheets: asked.append(sheets))
    panel.request_export(kind)
    return asked[0]


def look(palette: Palette) -> Look:
    return Look(palette, QApplication.font())


def one_series(values: list[float]) -> Sheet:
    times = np.linspace(-9.0, 0.0, len(values))
    series = Series("Slot 1 TPOT", times, np.array(values), DARK.accent)
    return Sheet(
        "TPOT", "18 ms", "p99 20 ms", Unit("ms", 1000.0), Picture((series,), (), 1.0),
        Timeline(Stretch(100.0, 10.0), 100.0), (), 1000.0,
    )  # fmt: skip


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
def test_that_a_picture_is_in_the_theme_and_twice_as_fine(
    panel: LivePanel, palette: Palette
) -> None:
    panel.set_palette(palette)
    image = QImage.fromData(png_bytes(sheets_of(panel, "png"), look(palette)))
    assert image.width() == 1600
    assert image.pixelColor(0, 0) == QColor(palette.panel)
    inks = {image.pixel(x, y) for x in range(0, 1600, 2) for y in range(0, image.height(), 2)}
    for colour in (palette.kv, palette.weights, palette.accent, palette.compute):
        assert QColor(colour).rgb() in inks


def test_that_a_drawing_says_what_the_picture_says(panel: LivePanel) -> None:
    content = svg_bytes(sheets_of(panel, "svg"), look(DARK))
    text = " ".join(ElementTree.fromstring(content).itertext())
    for words in ("System memory, GiB", "TTFT, s", "TPOT, ms", "KV", "Slot 4 TPOT", "20"):
        assert words in text
    assert "Context per slot: 4,096 → 8,192" in text
    renderer = QSvgRenderer(content)
    assert renderer.isValid()
    assert renderer.viewBoxF().width() == 800
    assert f"{datetime.now():%Y-%m-}" in text


def test_that_figures_have_units_times_and_changes(panel: LivePanel) -> None:
    content = csv_bytes(sheets_of(panel, "csv")).decode()
    header, *rows = list(csv.reader(io.StringIO(content)))
    assert header[:2] == ["time", "seconds"]
    assert header[-1] == "change"
    assert "System memory: KV [GiB]" in header
    assert "Bandwidth: Achieved [GB/s]" in header
    assert "TPOT: Slot 4 TPOT [ms]" in header
    assert all(len(row) == len(header) for row in rows)
    assert all(datetime.fromisoformat(row[0]).tzinfo for row in rows)
    seconds = [float(row[1]) for row in rows]
    assert seconds == sorted(seconds)
    assert 0 <= min(seconds) <= max(seconds) <= 121
    changes = [row[-1] for row in rows if row[-1]]
    assert changes[-1] == "Context per slot: 4,096 → 8,192; new context, 0.31 s"
    kv = [float(row[header.index("System memory: KV [GiB]")] or "nan") for row in rows]
    assert np.nanmax(kv) == pytest.approx(2.1)


def test_that_figures_are_not_thinned(panel: LivePanel) -> None:
    content = csv_bytes(sheets_of(panel, "csv")).decode()
    header, *rows = list(csv.reader(io.StringIO(content)))
    achieved = [row[header.index("Bandwidth: Achieved [GB/s]")] for row in rows]
    assert sum(map(bool, achieved)) > 800  # ten a second in 88 of 120 seconds


@pytest.mark.parametrize(
    "values", [[], [np.nan], [1.0], [1e300, -1e300, np.inf], [np.finfo(np.float64).max] * 3]
)
def test_that_no_figures_break_a_file_or_a_table(themed: QApplication, values: list[float]) -> None:
    sheet = one_series(values)
    for sheets in ([sheet], []):
        assert png_bytes(sheets, look(DARK))
        assert svg_bytes(sheets, look(DARK))
        assert csv_bytes(sheets)
    assert len(figures(sheet)) == 1
    assert table_text(sheet)


def test_that_a_table_counts_what_is_finite_and_in_the_window() -> None:
    sheet = one_series([0.5, np.nan, 0.25, 1.0])
    (line,) = figures(sheet)
    assert line.count == 3
    last, lowest, median, _, highest = line.texts
    assert (last, lowest, median, highest) == ("1,000", "250", "500", "1,000")
    outside = one_series([9.0, 0.25])
    outside.picture.series[0].times_s[0] = -11.0  # the neighbour beyond the left edge
    assert figures(outside)[0].count == 1


def test_that_a_table_can_be_read_and_copied(qtbot: QtBot, panel: LivePanel) -> None:
    panel.show_table(panel.tpot)
    (dialog,) = panel.findChildren(TableDialog)
    assert dialog.isVisible()
    table = dialog.table
    assert table.accessibleName() == "Figures of the TPOT chart"
    items = [table.horizontalHeaderItem(column) for column in range(table.columnCount())]
    headers = [item.text() for item in items if item is not None]
    assert headers == ["Series", *FIGURE_NAMES, "Values"]
    texts = [item.text() for c in (0, 2) if (item := table.item(0, c)) is not None]
    assert texts[0] == "Slot 1 TPOT"
    assert float(texts[1]) > 10
    dialog.copy()
    copied = QGuiApplication.clipboard().text()
    assert "Slot 4 p99 ITL\t" in copied
    assert "Context per slot: 4,096 → 8,192" in copied
    dialog.close()
    qtbot.waitUntil(lambda: not panel.findChildren(TableDialog))


def test_that_a_chart_asks_for_its_own_file_or_for_all(qtbot: QtBot, panel: LivePanel) -> None:
    asked: list[tuple[str, int]] = []
    panel.export_requested.connect(lambda kind, sheets: asked.append((kind, len(sheets))))
    panel.ttft.setFocus()
    shift = Qt.KeyboardModifier.ShiftModifier
    for key in (Qt.Key.Key_P, Qt.Key.Key_G, Qt.Key.Key_V):
        QTest.keyClick(panel.ttft, key)
        QTest.keyClick(panel.ttft, key, shift)
    assert asked == [("png", 1), ("png", 4), ("svg", 1), ("svg", 4), ("csv", 1), ("csv", 4)]
    QTest.keyClick(panel.ttft, Qt.Key.Key_T)
    (dialog,) = panel.findChildren(TableDialog)
    assert dialog.windowTitle() == "TTFT in s"
    dialog.close()
    qtbot.waitUntil(lambda: not panel.findChildren(TableDialog))


@pytest.fixture
def wiring(panel: LivePanel) -> Iterator[ChartWiring]:
    parent = QObject()
    yield ChartWiring(panel, parent)
    parent.deleteLater()


def test_that_a_file_is_written_where_the_user_says(
    qtbot: QtBot, panel: LivePanel, wiring: ChartWiring, tmp_path: Path
) -> None:
    panel.request_export("csv", panel.memory)
    (dialog,) = panel.findChildren(QFileDialog)
    assert dialog.selectedFiles()[0].endswith(".csv")
    path = tmp_path / "memory.csv"
    with qtbot.waitSignal(wiring.saved):
        dialog.fileSelected.emit(str(path))
    assert path.read_text(encoding="utf-8").startswith("time,seconds,System memory: others")
    assert panel.time_bar.said() == f"Saved memory.csv in {tmp_path}"
    dialog.reject()
    qtbot.waitUntil(lambda: not panel.findChildren(QFileDialog))


@pytest.mark.parametrize(
    "kind",
    ["png", "svg", "csv"],
)
def test_that_every_kind_is_what_it_says(
    qtbot: QtBot, panel: LivePanel, wiring: ChartWiring, tmp_path: Path, kind: str
) -> None:
    begin = {"png": b"\x89PNG", "svg": b"<?xml", "csv": b"time,"}[kind]
    path = tmp_path / f"charts.{kind}"
    with qtbot.waitSignal(wiring.saved):
        wiring.save(path, kind, sheets_without_dialog(panel, kind), look(DARK))
    assert path.read_bytes().startswith(begin)


def sheets_without_dialog(panel: LivePanel, kind: str) -> list[Sheet]:
    panel.export_requested.disconnect()
    return sheets_of(panel, kind)


def test_that_a_disk_that_refuses_is_a_sentence(
    qtbot: QtBot, panel: LivePanel, wiring: ChartWiring, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "a file"
    in_the_way.write_text("x")
    with qtbot.waitSignal(wiring.failed) as failed:
        wiring.save(in_the_way / "charts.png", "png", [one_series([1.0])], look(DARK))
    assert failed.args is not None
    assert failed.args[0].startswith("The charts could not be saved")
    assert panel.time_bar.said() == failed.args[0]


def test_that_the_length_shown_comes_back_with_the_next_start(
    panel: LivePanel, wiring: ChartWiring
) -> None:
    """Newcomer 40: after a restart 10 min had become 2 min."""
    kept = Unkept()
    wiring.remember(kept)
    assert panel.time_view.length_s == 120.0
    panel.time_view.show_length(600.0)
    panel.time_view.show_length(120.0)
    assert kept.window_state == {"charts_length_s": "120"}
    kept.window_state |= {"charts_length_s": "600", "docks": "x"}
    wiring.remember(kept)
    assert panel.time_view.length_s == 600.0
    panel.time_view.show_length(30.0)
    assert kept.window_state == {"charts_length_s": "30", "docks": "x"}


@pytest.mark.parametrize("text", ["", "many", "nan", "-inf"])
def test_that_a_length_that_is_none_is_not_shown(
    panel: LivePanel, wiring: ChartWiring, text: str
) -> None:
    wiring.remember(Unkept({"charts_length_s": text}))
    assert panel.time_view.length_s == 120.0


def test_that_every_entry_of_the_menu_has_a_key(panel: LivePanel) -> None:
    names = [action.text() for action in panel.memory.menu.actions() if action.text()]
    assert len(names) == 7
    assert all(a.shortcut().toString() for a in panel.memory.menu.actions() if a.text())
