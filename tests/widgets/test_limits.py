"""The limits of TTFT and TPOT: dragged, moved with keys, typed, taken away, seen and exported."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
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
from widgets.charts.limit_dialog import LimitDialog
from widgets.charts.sheet import Sheet, table_text
from widgets.charts.table_dialog import TableDialog
from widgets.charts.timeline import Timeline
from widgets.charts.tpot import TpotChart
from widgets.charts.ttft import TtftChart
from widgets.live_panel import LivePanel

pytestmark = pytest.mark.gui

NOW_NS = 5000 * SECOND
ALT, SHIFT = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def panel(qtbot: QtBot, themed: QApplication) -> Iterator[LivePanel]:
    """Two minutes of four streams, drawn only when something asks for it."""
    made = LivePanel(desk_at_work(NOW_NS), clock_ns=lambda: NOW_NS)
    qtbot.addWidget(made)
    made.resize(430, 900)
    made.show()
    made._timer.stop()
    settle()
    yield made
    made.close()


def settle() -> None:
    for _ in range(3):
        QApplication.processEvents()


def mouse(chart: TtftChart | TpotChart, kind: QEvent.Type, at: QPointF, is_down: bool) -> None:
    """A mouse event as Qt sends it."""
    moved = kind == QEvent.Type.MouseMove
    button = Qt.MouseButton.NoButton if moved else Qt.MouseButton.LeftButton
    down = Qt.MouseButton.LeftButton if is_down else Qt.MouseButton.NoButton
    where = QPointF(chart.plot.mapToGlobal(at.toPoint()))
    event = QMouseEvent(kind, at, where, button, down, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(chart.plot, event)
    settle()


def hover(chart: TtftChart | TpotChart, at: QPointF) -> None:
    mouse(chart, QEvent.Type.MouseMove, at, is_down=False)


def take(chart: TtftChart | TpotChart, at: QPointF) -> None:
    hover(chart, at)
    mouse(chart, QEvent.Type.MouseButtonPress, at, is_down=True)


def drag(chart: TtftChart | TpotChart, at: QPointF) -> None:
    mouse(chart, QEvent.Type.MouseMove, at, is_down=True)


def drop(chart: TtftChart | TpotChart, at: QPointF) -> None:
    mouse(chart, QEvent.Type.MouseButtonRelease, at, is_down=False)


def line_of(chart: TtftChart | TpotChart, x_share: float = 0.5) -> QPointF:
    """A place on the line of the limit."""
    geometry, value = chart.plot.geometry_now, chart.grip.value
    assert value is not None
    x = geometry.area.left() + x_share * geometry.area.width()
    return QPointF(x, geometry.y_of(chart.plot.share(value)))


def handle_of(chart: TtftChart | TpotChart) -> QPointF:
    """The place of the handle while there is no limit."""
    geometry = chart.plot.geometry_now
    return QPointF(geometry.area.right() + 8, geometry.y_of(1.04))


def moved_by(at: QPointF, up_px: float) -> QPointF:
    return QPointF(at.x(), at.y() - up_px)


def set_limits(panel: LivePanel, ttft_s: float | None, tpot_s: float | None) -> None:
    panel.set_limits(ttft_s, tpot_s)
    settle()


# --- Mouse --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ttft", "tpot"])
def test_that_a_limit_is_dragged_and_time_stays_where_it_is(
    qtbot: QtBot, panel: LivePanel, name: str
) -> None:
    set_limits(panel, 0.3, 0.02)
    chart: TtftChart | TpotChart = getattr(panel, name)
    place = int(chart is panel.tpot)
    begin = panel.limits[place]
    told: list[None] = []
    panel.limits_changed.connect(lambda: told.append(None))
    until_s = chart.plot.timeline.stretch.until_s
    at = line_of(chart)
    hover(chart, at)
    assert chart.plot.cursor().shape() == Qt.CursorShape.SizeVerCursor
    take(chart, at)
    drag(chart, moved_by(at, 22))
    held = panel.limits[place]
    wanted = chart.plot.geometry_now.share_at(at.y() - 22) / chart.plot.share(1.0)
    assert held == pytest.approx(chart.grip._scale.rounded(wanted))
    assert begin is not None
    assert held is not None
    assert held > begin
    assert told == []  # nothing is kept before it is let go
    drag(chart, QPointF(at.x() - 90, at.y() - 22))  # sideways: no pan
    drop(chart, moved_by(at, 22))
    assert panel.limits[place] == held
    assert panel.limits[1 - place] == (0.3, 0.02)[1 - place]
    assert len(told) == 1
    assert panel.time_view.is_following
    assert chart.plot.timeline.stretch.until_s == until_s
    hover(chart, moved_by(at, -30))
    assert chart.plot.cursor().shape() == Qt.CursorShape.ArrowCursor


def test_that_beside_the_line_the_mouse_pans_as_ever(panel: LivePanel) -> None:
    set_limits(panel, 0.3, None)
    panel.time_view.show_length(30.0)
    settle()
    at = moved_by(line_of(panel.ttft), 25)
    take(panel.ttft, at)
    drag(panel.ttft, QPointF(at.x() + 60, at.y() + 25))
    drop(panel.ttft, at)
    assert not panel.time_view.is_following
    assert panel.limits == (0.3, None)


def test_that_a_click_by_a_hand_that_shakes_moves_nothing(panel: LivePanel) -> None:
    set_limits(panel, 0.333, None)
    at = line_of(panel.ttft)
    take(panel.ttft, at)
    drag(panel.ttft, moved_by(at, 3))
    drop(panel.ttft, moved_by(at, 3))
    assert panel.limits == (0.333, None)


def test_that_a_thin_handle_makes_the_first_limit(panel: LivePanel) -> None:
    chart = panel.tpot
    card = chart.plot.card_at(handle_of(chart))
    assert card.startswith("No limit.")
    assert "press L" in card
    at = handle_of(chart)
    take(chart, at)
    drag(chart, moved_by(at, -40))
    drop(chart, moved_by(at, -40))
    limit_s = panel.limits[1]
    assert limit_s is not None
    assert 0 < chart.plot.share(limit_s) < 1
    # Without a limit nothing but the handle takes the mouse.
    set_limits(panel, None, None)
    area = chart.plot.geometry_now.area
    hover(chart, QPointF(area.center().x(), handle_of(chart).y()))
    assert chart.plot.cursor().shape() == Qt.CursorShape.ArrowCursor


def test_that_the_axis_stands_still_below_a_hand(panel: LivePanel) -> None:
    set_limits(panel, 0.3, None)
    chart = panel.ttft
    top = chart.plot.top
    at = line_of(chart)
    take(chart, at)
    for up_px in (30, 90, 200):
        drag(chart, moved_by(at, up_px))
        assert chart.plot.top == top
    limit_s = panel.limits[0]
    assert limit_s is not None
    assert limit_s > top
    drop(chart, moved_by(at, 200))
    if limit_s <= 3 * top:
        assert chart.plot.top > top


def test_that_dragging_down_ends_at_the_lowest(panel: LivePanel) -> None:
    set_limits(panel, 0.3, None)
    at = line_of(panel.ttft)
    take(panel.ttft, at)
    drag(panel.ttft, moved_by(at, -500))
    drop(panel.ttft, moved_by(at, -500))
    assert panel.limits[0] == 0.01


@pytest.mark.parametrize("before", [0.3, None])
def test_that_escape_gives_a_drag_up(panel: LivePanel, before: float | None) -> None:
    set_limits(panel, before, None)
    chart = panel.ttft
    at = handle_of(chart) if before is None else line_of(chart)
    take(chart, at)
    drag(chart, moved_by(at, -30))
    assert panel.limits[0] != before
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    settle()
    assert panel.limits[0] == before
    drag(chart, moved_by(at, -60))  # the button is down yet, and holds nothing
    drop(chart, moved_by(at, -60))
    assert panel.limits[0] == before
    assert panel.time_view.is_following


def test_that_a_button_let_go_elsewhere_ends_the_drag(panel: LivePanel) -> None:
    set_limits(panel, 0.3, None)
    at = line_of(panel.ttft)
    take(panel.ttft, at)
    drag(panel.ttft, moved_by(at, 20))
    held = panel.limits[0]
    hover(panel.ttft, moved_by(at, 60))
    assert not panel.ttft.grip.is_dragged
    assert panel.limits[0] == held


def test_that_the_value_stands_at_the_line_and_on_its_card(panel: LivePanel) -> None:
    chart = panel.ttft
    without = np.asarray(painted(chart, DARK.warning)).sum()
    assert without == 0
    set_limits(panel, 0.3, None)
    ink = painted(chart, DARK.warning)
    row, left = round(line_of(chart).y()), round(chart.plot.geometry_now.area.left())
    tag = ink[row - 6 : row + 6, left - 30 : left - 4]
    assert 0.3 < tag.mean() < 0.95  # a ground with letters on it
    card = chart.plot.card_at(line_of(chart))
    assert card.startswith("Limit of TTFT: 0.3 s.<br>")
    assert "Alt+Up" in card


def test_that_a_double_click_on_the_line_asks_for_a_number(qtbot: QtBot, panel: LivePanel) -> None:
    set_limits(panel, 0.3, None)
    panel.time_view.show_length(30.0)
    settle()
    mouse(panel.ttft, QEvent.Type.MouseButtonDblClick, line_of(panel.ttft), is_down=True)
    assert panel.time_view.length_s == 30.0
    (dialog,) = panel.findChildren(LimitDialog)
    dialog.reject()
    qtbot.waitUntil(lambda: not panel.findChildren(LimitDialog))


# --- Keyboard -----------------------------------------------------------------------------


def test_that_keys_set_move_and_take_away_a_limit(panel: LivePanel) -> None:
    chart = panel.tpot
    QTest.keyClick(chart, Qt.Key.Key_Up, ALT)
    settle()
    first = panel.limits[1]
    assert first is not None
    tpots = np.concatenate([s.tpot_s for s in panel._meters.view(NOW_NS).tpot.streams])
    assert first > np.nanmax(tpots)
    QTest.keyClick(chart, Qt.Key.Key_Up, ALT)
    settle()
    higher = panel.limits[1]
    assert higher is not None
    assert 1.02 < higher / first < 1.21
    QTest.keyClick(chart, Qt.Key.Key_Down, ALT)
    settle()
    assert panel.limits[1] == pytest.approx(first)
    chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_L, SHIFT)
    settle()
    assert panel.limits == (None, None)
    assert panel.time_view.is_following


def test_that_without_anything_measured_keys_begin_at_the_usual_limit(qtbot: QtBot) -> None:
    chart = TtftChart()
    qtbot.addWidget(chart)
    asked: list[object] = []
    chart.limit_changed.connect(asked.append)
    QTest.keyClick(chart, Qt.Key.Key_Down, ALT)
    assert asked == [1.0]
    chart.set_data(TtftView(limit_s=1.0), (), Timeline())
    assert chart.text().endswith("appears here with its first token. Limit: 1 s.")


def test_that_the_description_tells_limit_and_keys(panel: LivePanel) -> None:
    chart = panel.ttft
    assert "No limit is set; L or Alt+Up sets one." in chart.accessibleDescription()
    ttft_s = panel._meters.view(NOW_NS).ttft.ttft_s
    set_limits(panel, 0.3, None)
    above = int((ttft_s > 0.3).sum())
    assert 0 < above < ttft_s.size
    said = chart.accessibleDescription()
    assert f"Limit 0.3 s, {above} of {ttft_s.size} requests above it" in said
    assert "Alt+Up and Alt+Down move it" in said
    assert "Space pauses" in said


# --- Dialog and menu ----------------------------------------------------------------------


def open_dialog(qtbot: QtBot, panel: LivePanel, chart: TtftChart | TpotChart) -> LimitDialog:
    with qtbot.waitActive(panel):  # an earlier dialog had the keyboard
        panel.activateWindow()
    chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_L)
    (dialog,) = panel.findChildren(LimitDialog)
    assert isinstance(dialog, LimitDialog)
    return dialog


def test_that_a_number_can_be_typed(qtbot: QtBot, panel: LivePanel) -> None:
    dialog = open_dialog(qtbot, panel, panel.tpot)
    assert not dialog.none_button.isEnabled()
    assert "1 to 10000 ms" in dialog.fault.text()
    dialog.field.setText("33.5")
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert panel.limits[0] is None
    assert panel.limits[1] == pytest.approx(0.0335)
    qtbot.waitUntil(lambda: not panel.findChildren(LimitDialog))
    settle()
    assert panel.tpot.grip.value == pytest.approx(0.0335)
    again = open_dialog(qtbot, panel, panel.tpot)
    assert again.field.text() == "33.5"
    QTest.mouseClick(again.none_button, Qt.MouseButton.LeftButton)
    assert panel.limits == (None, None)
    qtbot.waitUntil(lambda: not panel.findChildren(LimitDialog))


def test_that_what_is_no_limit_is_refused_with_the_reason(qtbot: QtBot, panel: LivePanel) -> None:
    dialog = open_dialog(qtbot, panel, panel.ttft)
    for text in ("soon", "0", "9999"):
        dialog.field.setText(text)
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)
        assert dialog.isVisible()
        assert "a limit of TTFT is 0.01 to 600 s" in dialog.fault.text()
    assert panel.limits == (None, None)
    QTest.keyClicks(dialog.field, "0.5")  # the refused text was selected
    assert dialog.field.text() == "0.5"
    assert dialog.fault.text() == "From 0.01 to 600 s."
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert panel.limits == (None, None)
    qtbot.waitUntil(lambda: not panel.findChildren(LimitDialog))


def test_that_the_menu_offers_both_with_their_keys(panel: LivePanel) -> None:
    set_limits(panel, None, 0.05)
    for chart, has_limit in ((panel.ttft, False), (panel.tpot, True)):
        ask, none = chart.menu.actions()[:2]
        assert (ask.text(), ask.shortcut().toString()) == ("Set &limit…", "L")
        assert (none.text(), none.shortcut().toString()) == ("&No limit", "Shift+L")
        assert none.isEnabled() is has_limit
        assert chart.menu.actions()[2].isSeparator()
    panel.tpot.menu.actions()[1].trigger()
    assert panel.limits == (None, None)
    assert "limit" in panel.ttft._more.toolTip().lower()
    assert "limit" not in panel.memory._more.toolTip().lower()


# --- What it looks like -------------------------------------------------------------------


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
