"""What charts say: empty stretches, lines that are too narrow, cards, tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QSize
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.meters import Marker
from resources.tokens import DARK, STEP_PX
from tests.widgets.synthetic import SECOND, desk_at_work
from widgets.charts.card import card_place
from widgets.charts.frame import ChartFrame
from widgets.charts.note_line import BETWEEN, NoteLine
from widgets.charts.scale import ticks
from widgets.charts.sheet import rows_of, table_text
from widgets.charts.table_dialog import TableDialog
from widgets.legend_line import Entry, LegendLine
from widgets.live_panel import LivePanel

pytestmark = pytest.mark.gui

NOW_NS = 5000 * SECOND


class Clock:
    """A clock that a test puts forward."""

    def __init__(self) -> None:
        self.now_ns = NOW_NS

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def panel(qtbot: QtBot, clock: Clock) -> Iterator[LivePanel]:
    made = LivePanel(desk_at_work(NOW_NS), clock_ns=clock)
    qtbot.addWidget(made)
    made._timer.blockSignals(True)
    made.resize(430, 800)
    made.show()
    made.redraw()
    yield made
    made.close()


def test_that_a_stretch_without_requests_names_the_last_one(panel: LivePanel, clock: Clock) -> None:
    """Newcomer 31: it said that a dot appears, as if none had ever come."""
    clock.now_ns += 400 * SECOND
    panel.redraw()
    said = panel.ttft.text()
    assert said.startswith("No request in this stretch; the last was 6 min ago: ")
    assert said.endswith(" s.")
    assert panel.bandwidth.text().startswith("No decoding in this stretch; the last was 6 min ago")
    assert panel.tpot.text().startswith("No text in this stretch; the last took ")


def test_that_the_end_of_a_model_has_a_handle(panel: LivePanel, clock: Clock) -> None:
    panel._meters.note_engine_gone(clock.now_ns - 5 * SECOND)
    panel._meters.note_engine_gone(clock.now_ns)  # the next engine says hello
    panel.redraw()
    gone = [m for m in panel.ttft.plot.markers if "gone" in m.text]
    assert [marker.at_s for marker in gone] == [pytest.approx(-5.0, abs=0.5)]


def test_that_a_muted_line_keeps_every_unit(qtbot: QtBot) -> None:
    """Newcomer 37: "draft 0.9…", "ceiling 66 tok/s a stre…"."""
    line = NoteLine()
    qtbot.addWidget(line)
    line.show()
    parts = ["MBU 63 % of 61.2 GB/s", "ceiling 66 tok/s", "measured at 21:04"]
    full = " · ".join(parts)
    line.set_text(full)
    metrics = line.fontMetrics()
    seen = set()
    for width in range(metrics.horizontalAdvance(parts[0] + " …"), line.sizeHint().width() + 9, 3):
        line.resize(width, 20)
        shown = line.text().removesuffix(" …").split(" · ")
        assert shown == parts[: len(shown)]
        assert (line.text() == full) == (len(shown) == len(parts))
        assert metrics.horizontalAdvance(line.text()) <= width
        seen.add(len(shown))
    assert seen == {1, 2, 3}
    line.resize(metrics.horizontalAdvance("MBU 6"), 20)
    assert line.text().endswith("…")
    assert "61.2 GB/s" in line.toolTip()


def test_that_figures_of_one_part_are_dropped_from_the_end_with_the_unit_kept(qtbot: QtBot) -> None:
    line = NoteLine()
    qtbot.addWidget(line)
    line.show()
    line.set_text("engine 12.3, mapped 100, window 0.13 GiB · available 22.6 GiB")
    metrics = line.fontMetrics()
    seen = set()
    for width in range(
        metrics.horizontalAdvance("engine 12.3 GiB … "), line.sizeHint().width() + 9
    ):
        line.resize(width, 20)
        assert line.text().removesuffix(" …").endswith(" GiB"), line.text()
        seen.add(line.text())
    assert "engine 12.3, mapped 100 GiB …" in seen
    assert "engine 12.3 GiB …" in seen


def test_that_no_unit_of_another_figure_stands_behind_what_is_left(qtbot: QtBot) -> None:
    line = NoteLine()
    qtbot.addWidget(line)
    line.show()
    line.set_text("peak 30.1 GB/s · measured at 01:02, best of 5, spread 1 %")
    seen = set()
    for width in range(40, line.sizeHint().width() + 9):
        line.resize(width, 20)
        seen.add(line.text())
    assert "peak 30.1 GB/s · measured at 01:02, best of 5 …" in seen
    assert "peak 30.1 GB/s · measured at 01:02 …" in seen
    assert not any(text.endswith("% …") for text in seen)


def test_that_a_narrow_legend_leaves_out_whole_entries_from_the_end(qtbot: QtBot) -> None:
    legend = LegendLine()
    qtbot.addWidget(legend)
    names = ("draft", "compute", "KV", "weights", "others")
    legend.set_entries([Entry(name, DARK.kv) for name in names])
    counts = []
    for width in range(0, 400, 10):
        legend.resize(width, 20)
        counts.append(legend.fitting())
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2, 3, 5} | ({4} & set(counts))
    assert all(name in legend.toolTip() for name in names)


def test_that_the_memory_legend_names_the_bands_from_the_top(panel: LivePanel) -> None:
    bands = "unexplained · compute · KV · weights · others"
    assert panel.memory._legend.text() == f"{bands} · ┈ predicted"


def test_that_weights_are_one_thing_in_legend_card_and_line(panel: LivePanel) -> None:
    """Newcomer 14: weights 0.03 and mapped weights 0.45 where the legend has one."""
    for share in (0.5, None):
        lines = panel.memory.lines_at(-10.0, share)
        assert [line for line in lines if "weights" in line] == ["weights 1.70"]


def test_that_card_and_crosshair_speak_of_the_same_moment(panel: LivePanel, clock: Clock) -> None:
    plot = panel.memory.plot
    area = plot.geometry_now.area
    for step in range(40):
        clock.now_ns += 70_000_000
        x = area.left() + step * area.width() / 40
        panel.time_view.point_at((x - area.left()) / area.width())
        panel.redraw()
        time_s = panel.memory.plot._cursor_time_s()
        assert time_s == pytest.approx(plot.geometry_now.time_at(x), abs=1e-6)


def test_that_a_card_stands_beside_the_pointer_and_not_over_the_chart_below() -> None:
    card, plot = QSize(180, 150), QSize(400, 160)
    for y in range(0, 160, 10):
        corner = card_place(QPoint(200, y), card, plot)
        assert corner.x() > 200
        assert corner.y() + card.height() <= plot.height()
    assert card_place(QPoint(200, 5), card, plot).y() == 5


def test_that_ticks_keep_apart_where_a_chart_is_low() -> None:
    """Newcomer 38: the labels overprinted each other."""
    for top in (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 4000.0):
        every = ticks(top)
        for room in (0.5, 1.0, 1.9, 2.0, 2.6, 3.0, 4.2, 5.0, 9.0):
            shown = ticks(top, room)
            assert shown[-1] == every[-1]
            assert set(shown) <= set(every)
            assert len(shown) == 1 or len(shown) <= room
            gaps = [b[0] - a[0] for a, b in zip([(0.0, ""), *shown], shown, strict=False)]
            assert max(gaps) == pytest.approx(min(gaps))
        assert ticks(top, 99.0) == every


@contextmanager
def alone(chart: ChartFrame[Any], width: int) -> Iterator[None]:
    """A low chart in no column that would make it higher."""
    column = chart.parentWidget()
    chart.setParent(None)
    chart.resize(width, 24 * STEP_PX)
    chart.show()
    QApplication.processEvents()
    yield
    chart.close()
    chart.setParent(column)


def test_that_a_low_chart_gives_its_muted_line_to_the_plot(panel: LivePanel) -> None:
    chart = panel.ttft
    assert chart._note.isVisible()
    assert not chart._beside.isVisible()
    with alone(chart, 430):
        assert not chart._note.isVisible()
        assert "queue" in chart.text()


def test_that_a_low_chart_has_its_muted_line_beside_its_title(panel: LivePanel) -> None:
    charts: tuple[ChartFrame[Any], ...] = (panel.bandwidth, panel.ttft, panel.tpot)
    for chart in charts:
        with alone(chart, 600):
            said = chart._note.full_text()
            assert said
            assert chart._beside.isVisible()
            assert chart._beside.full_text() == said
            # As many whole parts as there is room for, and at least the first of them.
            assert chart._beside.text().startswith(said.split(BETWEEN)[0])
            assert chart._beside.geometry().right() < chart._value.geometry().left()
            # A legend with nothing in it takes no room.
            assert chart._legend.isHidden() == (not chart._legend.text())
    with alone(panel.memory, 600):  # the sum beside the title, its bands in a line of their own
        assert panel.memory._beside.isVisible()
        assert panel.memory._legend.isVisible()


def test_that_what_a_title_explains_is_broken_into_lines(panel: LivePanel) -> None:
    """Newcomer 35: a line of 1,460 pixels. Qt breaks only what is marked up."""
    for chart in panel.charts:
        for label in (chart._title, chart._value):
            assert isinstance(label, QLabel)
            assert label.toolTip().startswith(("<p>", "<table>"))  # a key before the words
        assert chart._note.toolTip().startswith("<p>")


def test_that_the_table_of_ttft_has_a_row_for_each_request(qtbot: QtBot, panel: LivePanel) -> None:
    """Newcomer 30: one summary row, and the requests were not listed."""
    dialog = TableDialog(panel.ttft.sheet(), panel)
    qtbot.addWidget(dialog)
    model = dialog.rows.model()
    view = panel.ttft._view
    assert model.rowCount() == len(view.records) > 10
    headings = [model.headerData(n, dialog.rows.horizontalHeader().orientation())
                for n in range(model.columnCount())]  # fmt: skip
    assert headings[:3] == ["Time", "TTFT [s]", "queue [s]"]
    assert model.index(0, 1).data() == f"{view.records[0].ttft_s:.3f}"
    assert not dialog.table.selectedItems()
    assert not dialog.table.selectionModel().hasSelection()


def test_that_the_table_of_other_charts_has_a_row_for_each_moment(panel: LivePanel) -> None:
    rows = rows_of(panel.memory.sheet())
    assert rows.columns[:3] == ("others", "mapped weights", "weights")
    assert len(rows.rows) > 100
    times = [time_s for time_s, _ in rows.rows]
    assert times == sorted(times)
    assert all(len(texts) == len(rows.columns) for _, texts in rows.rows)
    copied = table_text(panel.memory.sheet()).splitlines()
    assert len(copied) > len(rows.rows)
    assert copied[-1].count("\t") == len(rows.columns)


def test_that_many_changes_do_not_make_the_table_s_window_too_high(
    qtbot: QtBot, panel: LivePanel
) -> None:
    sheet = replace(
        panel.ttft.sheet(),
        markers=tuple(Marker(float(-number), f"Slots: {number}") for number in range(60, 0, -1)),
    )
    dialog = TableDialog(sheet, panel)
    qtbot.addWidget(dialog)
    said = [label.text() for label in dialog.findChildren(QLabel)]
    assert "54 changes before these; Copy takes them all." in said
    assert sum("Slots:" in text for text in said) == 6
    assert any(text.endswith("Slots: 1") for text in said)
    assert table_text(sheet).count("Slots:") == 60
