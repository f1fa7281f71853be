"""Limits as they are seen: dots and lines above them, figures, files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.request_meter import TtftView
from engine_bridge.metrics.stretch import Stretch
from resources.tokens import DARK
from tests.widgets.synthetic import SECOND, desk_at_work
from tests.widgets.test_charts import TIMES, feed, painted, requests
from widgets.charts.export_csv import csv_bytes
from widgets.charts.export_picture import Look, svg_bytes
from widgets.charts.sheet import Sheet, table_text
from widgets.charts.table_dialog import TableDialog
from widgets.charts.timeline import Timeline
from widgets.charts.tpot import TpotChart
from widgets.charts.ttft import TtftChart
from widgets.live_panel import LivePanel

pytestmark = pytest.mark.gui

NOW_NS = 5000 * SECOND


@pytest.fixture
def panel(qtbot: QtBot, themed: QApplication) -> Iterator[LivePanel]:
    """Two minutes of four streams, drawn only when something asks for it."""
    made = LivePanel(desk_at_work(NOW_NS), clock_ns=lambda: NOW_NS)
    qtbot.addWidget(made)
    made.resize(430, 900)
    made.show()
    made._timer.stop()
    yield made
    made.close()


def set_limits(panel: LivePanel, ttft_s: float | None, tpot_s: float | None) -> None:
    panel.set_limits(ttft_s, tpot_s)
    for _ in range(3):
        QApplication.processEvents()


@pytest.fixture
def ttft(qtbot: QtBot) -> Iterator[TtftChart]:
    chart = TtftChart()
    qtbot.addWidget(chart)
    chart.resize(430, 190)
    chart.show()
    yield chart
    chart.close()


def show_dots(chart: TtftChart, values: list[float], limit_s: float | None) -> None:
    times = TIMES[: len(values)]
    view = TtftView(times, np.array(values), requests(len(values)), limit_s=limit_s)
    chart.set_data(view, (), Timeline(Stretch(0.0, 120.0), 0.0))


def colours_at(chart: TtftChart, time_s: float, value: float) -> set[str]:
    """Inks within the size of a dot."""
    geometry = chart.plot.geometry_now
    x, y = round(geometry.x_of(time_s)), round(geometry.y_of(chart.plot.share(value)))
    image = chart.plot.grab().toImage()
    return {
        image.pixelColor(x + dx, y + dy).name().upper() for dx in (-1, 0, 1) for dy in (-1, 0, 1)
    }


def test_that_dots_above_the_limit_have_another_colour_and_shape(ttft: TtftChart) -> None:
    show_dots(ttft, [0.2, 0.8], None)
    plain = painted(ttft, DARK.accent)
    assert DARK.accent in colours_at(ttft, TIMES[1], 0.8)
    show_dots(ttft, [0.2, 0.8], 0.5)
    assert DARK.accent in colours_at(ttft, TIMES[0], 0.2)
    assert DARK.warning in colours_at(ttft, TIMES[1], 0.8)
    assert DARK.accent not in colours_at(ttft, TIMES[1], 0.8)
    column = round(ttft.plot.geometry_now.x_of(TIMES[1]))
    row = round(ttft.plot.geometry_now.y_of(ttft.plot.share(0.8)))
    window = (slice(row - 6, row + 7), slice(column - 6, column + 7))
    # A triangle is narrower above than below, a circle as wide.
    assert tapers(painted(ttft, DARK.warning)[window]) < 0.7
    assert 0.7 < tapers(plain[window]) < 1.4


def tapers(ink: npt.NDArray[np.bool_]) -> float:
    """Pixels of the upper half of a mark by those of its lower half."""
    widths = ink.sum(axis=1)
    rows = np.flatnonzero(widths)
    widths = widths[rows[0] : rows[-1] + 1]
    half = widths.size // 2
    return float(widths[:half].sum() / widths[-half:].sum())


def test_that_a_line_above_the_limit_has_a_seam(qtbot: QtBot) -> None:
    chart = TpotChart()
    qtbot.addWidget(chart)
    chart.resize(430, 190)
    chart.show()
    times = np.linspace(-119.0, -1.0, 60)
    values = np.where(times < -60.0, 0.02, 0.05)
    feed(chart, times, values)
    picture = chart.plot.picture
    view = chart._view
    chart.set_data(replace(view, limit_s=0.04), (), Timeline(Stretch(0.0, 120.0), 0.0))
    ink = painted(chart, DARK.warning)
    geometry = chart.plot.geometry_now
    row = round(geometry.y_of(chart.plot.share(0.05)))
    late = slice(round(geometry.x_of(-50.0)), round(geometry.x_of(-10.0)))
    early = slice(round(geometry.x_of(-110.0)), round(geometry.x_of(-70.0)))
    assert ink[row - 4 : row + 5, late].any(axis=0).mean() > 0.9
    low = round(geometry.y_of(chart.plot.share(0.02)))
    assert not ink[low - 4 : low + 5, early].any()
    assert [series.name for series in chart.plot.picture.series] == [
        series.name for series in picture.series
    ]
    chart.close()


def test_that_a_limit_far_above_does_not_flatten_what_is_measured(ttft: TtftChart) -> None:
    show_dots(ttft, [0.2, 0.3], None)
    top = ttft.plot.top
    show_dots(ttft, [0.2, 0.3], 30.0)
    assert ttft.plot.top == top
    area = ttft.plot.geometry_now.area
    at = QPointF(area.right() + 8, ttft.plot.geometry_now.y_of(1.04))
    assert "Limit of TTFT: 30 s" in ttft.plot.card_at(at)
    show_dots(ttft, [0.2, 0.3], 0.6)
    assert ttft.plot.top >= 0.6


def test_that_figures_say_how_many_limits_goodput_lacks(panel: LivePanel) -> None:
    assert "Goodput: none, no limits set" in panel.figures.text()
    set_limits(panel, 0.3, None)
    assert "Goodput: none, no TPOT limit" in panel.figures.text()
    set_limits(panel, 0.3, 0.05)
    figures = panel._meters.figures(NOW_NS, panel.time_view.timeline(300.0).stretch)
    assert figures.good is not None
    assert 0 < figures.good < figures.ended
    assert f"{figures.good} of {figures.ended}" in panel.figures.text()
    assert "goodput" in panel.ttft.text()


# --- Files --------------------------------------------------------------------------------


def sheets_of(panel: LivePanel) -> list[Sheet]:
    asked: list[list[Sheet]] = []
    panel.export_requested.connect(lambda _, sheets: asked.append(sheets))
    panel.request_export("csv")
    return asked[0]


def test_that_figures_in_a_file_carry_the_limits(panel: LivePanel) -> None:
    header, *_ = csv.reader(io.StringIO(csv_bytes(sheets_of(panel)).decode()))
    assert not any("limit" in name for name in header)
    set_limits(panel, 0.3, 0.05)
    header, *rows = csv.reader(io.StringIO(csv_bytes(sheets_of(panel)).decode()))
    assert header[-3:] == ["TTFT: limit [s]", "TPOT: limit [ms]", "change"]
    assert {tuple(row[-3:-1]) for row in rows} == {("0.3", "50")}
    assert all(len(row) == len(header) for row in rows)


def test_that_table_and_drawing_carry_the_limit(qtbot: QtBot, panel: LivePanel) -> None:
    set_limits(panel, 0.3, None)
    _, _, ttft, tpot = sheets_of(panel)
    assert "Limit 0.3 s" in table_text(ttft).splitlines()
    assert "Limit" not in table_text(tpot)
    panel.show_table(panel.ttft)
    (dialog,) = panel.findChildren(TableDialog)
    assert any("Limit 0.3 s" in label.text() for label in dialog.findChildren(QLabel))
    dialog.close()
    qtbot.waitUntil(lambda: not panel.findChildren(TableDialog))
    look = Look(DARK, QApplication.font())
    assert "Limit 0.3 s" in svg_bytes([ttft], look).decode()


def test_that_an_engine_that_goes_takes_no_limit_with_it() -> None:
    meters = Meters()
    meters.set_limits(0.3, 0.05)
    meters.note_engine_gone(NOW_NS)
    assert meters.view(NOW_NS).ttft.limit_s == 0.3
