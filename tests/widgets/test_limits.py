"""The limits of TTFT and TPOT: dragged, moved with keys, typed and taken away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QFontMetricsF, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.request_meter import TtftView
from resources.tokens import DARK, STEP_PX
from tests.widgets.synthetic import SECOND, desk_at_work
from tests.widgets.test_charts import painted
from widgets.charts.geometry import HEADROOM
from widgets.charts.limit_dialog import LimitDialog
from widgets.charts.timeline import Timeline
from widgets.charts.tpot import TpotChart
from widgets.charts.ttft import TtftChart
from widgets.live_panel import LivePanel
from widgets.theme import small_font

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


def test_that_labels_which_the_tag_of_a_limit_covers_are_left_out(panel: LivePanel) -> None:
    chart = panel.ttft
    geometry = chart.plot.geometry_now
    metrics = QFontMetricsF(small_font(chart.plot.font()))
    tick = chart.plot.axes.ticks[0][0]
    tick_s, height_px = tick * chart.plot.top, metrics.height()
    per_px = 1 / (geometry.share_per_value * geometry.area.height() / HEADROOM)

    def axis_ink() -> npt.NDArray[np.bool_]:
        """What is neither ground nor tag in the rows of the label, left of the axis."""
        row, width_px = round(geometry.y_of(tick)), round(geometry.area.left()) - STEP_PX
        rows = slice(row - round(height_px) // 2, row + round(height_px) // 2)
        return np.asarray(painted(chart, DARK.muted)[rows, :width_px])

    assert axis_ink().any()
    for away_px in (0.0, 0.7 * height_px, -0.7 * height_px):
        set_limits(panel, tick_s + away_px * per_px, None)
        assert not axis_ink().any(), away_px
    set_limits(panel, tick_s + 1.2 * height_px * per_px, None)
    assert axis_ink().any()
    # While it is dragged the tag is beside the pointer, and the label is there again.
    set_limits(panel, tick_s, None)
    take(chart, line_of(chart))
    drag(chart, moved_by(line_of(chart), 20))
    drag(chart, moved_by(line_of(chart), -20))
    assert chart.grip.is_dragged
    assert axis_ink().any()
    drop(chart, line_of(chart))


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
