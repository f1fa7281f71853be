"""The live column: when it draws, how often, and that it survives doing so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.meters import LiveView, Meters
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.protocol import MemoryMeasured, StepsMeasured
from resources.tokens import DARK, LIGHT
from tests.widgets.synthetic import SECOND, desk_at_work
from widgets.live_panel import RATE_HZ, SLOW_RATE_HZ, LivePanel
from widgets.theme import apply_theme

pytestmark = pytest.mark.gui

# Of all charts in one process: an earlier drawing library aborted after a few hundred.
REPAINTS = 5000


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_ns = 5000 * SECOND

    def __call__(self) -> int:
        return self.now_ns


class Counter(QObject):
    """Counts the paint events of what it watches."""

    def __init__(self) -> None:
        super().__init__()
        self.paints = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        self.paints += event.type() == QEvent.Type.Paint
        return False


class Counting(Meters):
    """Meters that count how often they are looked at."""

    views = 0

    def view(self, now_ns: int, stretch: Stretch | None = None) -> LiveView:
        self.views += 1
        return super().view(now_ns, stretch)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def meters() -> Counting:
    return Counting()


@pytest.fixture
def panel(qtbot: QtBot, meters: Counting, clock: Clock) -> Iterator[LivePanel]:
    made = LivePanel(meters, clock_ns=clock)
    qtbot.addWidget(made)
    made.resize(430, 800)
    yield made
    made.close()


def test_that_it_draws_while_shown_and_stops_when_hidden(
    qtbot: QtBot, panel: LivePanel, meters: Counting, clock: Clock
) -> None:
    assert meters.views == 0
    panel.set_rate_hz(60)
    panel.show()
    assert meters.views == 1
    clock.now_ns += SECOND
    qtbot.waitUntil(lambda: meters.views == 2)
    panel.hide()
    assert not panel._timer.isActive()
    panel.show()
    assert meters.views == 3


def test_that_a_minimised_window_is_not_drawn(
    panel: LivePanel, meters: Counting, clock: Clock
) -> None:
    panel.show()
    panel.setWindowState(Qt.WindowState.WindowMinimized)
    drawn = meters.views
    clock.now_ns += SECOND
    panel._timer.timeout.emit()
    assert meters.views == drawn
    panel.setWindowState(Qt.WindowState.WindowNoState)
    panel._timer.timeout.emit()
    assert meters.views > drawn


def test_that_without_news_it_only_scrolls_twice_a_second(
    panel: LivePanel, meters: Counting, clock: Clock
) -> None:
    panel.show()
    drawn = meters.views
    for _ in range(10):
        clock.now_ns += SECOND // 10
        panel._timer.timeout.emit()
    assert meters.views - drawn == 2
    for _ in range(10):
        clock.now_ns += SECOND // 10
        meters.note_plan(None)
        panel._timer.timeout.emit()
    assert meters.views - drawn == 12


def test_that_figures_change_at_most_four_times_a_second(
    panel: LivePanel, meters: Counting, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.show()
    with_words = []
    monkeypatch.setattr(panel, "redraw", lambda has_words=True: with_words.append(has_words))
    for step_ns in (SECOND // 10, SECOND // 5):
        clock.now_ns += step_ns
        meters.note_plan(None)
        panel._timer.timeout.emit()
    assert with_words == [False, True]


def test_that_it_slows_down_while_no_core_is_free(panel: LivePanel) -> None:
    assert panel.rate_hz == RATE_HZ
    panel.note_idle_cores(0.1)
    assert panel.rate_hz == SLOW_RATE_HZ
    panel.note_idle_cores(0.5)  # between the two nothing changes
    assert panel.rate_hz == SLOW_RATE_HZ
    panel.note_idle_cores(1.2)
    assert panel.rate_hz == RATE_HZ


@pytest.mark.parametrize(("asked", "got"), [(0.0, 0.1), (1000.0, 60.0), (4.0, 4.0)])
def test_that_the_rate_stays_in_bounds(panel: LivePanel, asked: float, got: float) -> None:
    panel.set_rate_hz(asked)
    assert panel.rate_hz == pytest.approx(got, rel=0.03)


@pytest.mark.parametrize("height", [700, 800, 1200])
def test_that_all_plots_are_equally_high_at_any_height(panel: LivePanel, height: int) -> None:
    panel.resize(430, height)
    panel.show()
    panel.redraw()
    QApplication.processEvents()
    assert panel.height() == height
    heights = [chart.plot.geometry_now.area.height() for chart in panel.charts]
    assert max(heights) - min(heights) <= 2
    assert min(heights) > 60


def test_that_only_the_lowest_chart_labels_the_time(panel: LivePanel) -> None:
    shown = [chart.plot.axis_height() > 12 for chart in panel.charts]
    assert shown == [False, False, False, True]


def test_that_nothing_moves_when_figures_grow(qtbot: QtBot, clock: Clock) -> None:
    panel = LivePanel(Meters(), clock_ns=clock)
    qtbot.addWidget(panel)
    panel.resize(430, 800)
    panel.show()
    QApplication.processEvents()
    before = [chart.plot.geometry() for chart in panel.charts]
    panel._meters = desk_at_work(clock.now_ns, streams=8)
    panel.redraw()
    QApplication.processEvents()
    assert [chart.plot.geometry() for chart in panel.charts] == before
    panel.close()


def test_that_a_palette_reaches_every_chart(panel: LivePanel) -> None:
    panel.show()
    panel.set_palette(LIGHT)
    for chart in panel.charts:
        image = chart.plot.grab().toImage()
        assert image.pixelColor(image.width() - 1, 0).name().upper() == LIGHT.panel


# --- Time ---------------------------------------------------------------------------------


@pytest.fixture
def working(qtbot: QtBot, themed: QApplication, clock: Clock) -> Iterator[LivePanel]:
    """A panel with two minutes of four streams, its timer stopped."""
    made = LivePanel(desk_at_work(clock.now_ns), clock_ns=clock)
    qtbot.addWidget(made)
    made.resize(430, 800)
    made.show()
    made._timer.stop()
    yield made
    made.close()


def settle() -> None:
    """Let what was asked for be drawn, and what that asked for be laid out."""
    for _ in range(3):
        QApplication.processEvents()


def wheel(
    panel: LivePanel,
    share: float,
    angle: QPoint,
    pixels: QPoint = QPoint(),  # noqa: B008
    held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """Turn the wheel over the memory chart, at a share of its width."""
    plot = panel.memory.plot
    area = plot.geometry_now.area
    at = QPointF(area.left() + share * area.width(), area.center().y())
    event = QWheelEvent(
        at, QPointF(plot.mapToGlobal(at.toPoint())), pixels, angle, Qt.MouseButton.NoButton, held,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(plot, event)
    settle()


def mouse(panel: LivePanel, kind: QEvent.Type, share: float, is_down: bool) -> None:
    plot = panel.memory.plot
    area = plot.geometry_now.area
    at = QPointF(area.left() + share * area.width(), area.center().y())
    moved = kind == QEvent.Type.MouseMove
    button = Qt.MouseButton.NoButton if moved else Qt.MouseButton.LeftButton
    down = Qt.MouseButton.LeftButton if is_down else Qt.MouseButton.NoButton
    where = QPointF(plot.mapToGlobal(at.toPoint()))
    event = QMouseEvent(kind, at, where, button, down, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(plot, event)
    settle()


def lengths(panel: LivePanel) -> set[float]:
    return {round(chart.plot.timeline.length_s, 3) for chart in panel.charts}


def rights(panel: LivePanel) -> set[float]:
    return {chart.plot.timeline.stretch.until_s for chart in panel.charts}


def test_that_the_wheel_zooms_all_charts_around_the_pointer(working: LivePanel) -> None:
    wheel(working, 0.25, QPoint(0, 120))
    assert lengths(working) == {96.0}
    assert len(rights(working)) == 1
    since_s = working.memory.plot.timeline.stretch.since_s
    assert since_s + 0.25 * 96 == pytest.approx(5000 - 90, abs=0.5)
    for _ in range(60):
        wheel(working, 0.25, QPoint(0, 120))
    assert lengths(working) == {1.0}
    for _ in range(60):
        wheel(working, 0.25, QPoint(0, -120))
    assert lengths(working) == {3600.0}


def test_that_a_touchpad_zooms_finely_and_pans_sideways(working: LivePanel) -> None:
    wheel(working, 0.5, QPoint(0, 12), QPoint(0, 10))
    (length_s,) = lengths(working)
    assert 117 < length_s < 120
    working.time_view.reset()
    working.time_view.show_length(30.0)
    settle()
    wheel(working, 0.5, QPoint(24, 0), QPoint(20, 0))
    (until_s,) = rights(working)
    width = working.memory.plot.geometry_now.area.width()
    assert until_s == pytest.approx(5000 - 20 / width * 30, abs=0.2)
    wheel(working, 0.5, QPoint(0, 120), held=Qt.KeyboardModifier.ShiftModifier)
    assert max(rights(working)) == pytest.approx(until_s - 3.0, abs=0.2)


def test_that_dragging_pans_and_a_double_click_resets(working: LivePanel) -> None:
    working.time_view.show_length(30.0)
    settle()
    mouse(working, QEvent.Type.MouseButtonPress, 0.5, is_down=True)
    mouse(working, QEvent.Type.MouseMove, 0.503, is_down=True)  # a hand that shakes
    assert working.time_view.is_following
    mouse(working, QEvent.Type.MouseMove, 0.75, is_down=True)
    mouse(working, QEvent.Type.MouseButtonRelease, 0.75, is_down=False)
    (until_s,) = rights(working)
    assert until_s == pytest.approx(5000 - 7.5, abs=0.2)
    assert working.time_bar.pause_button.text() == "Follow"
    mouse(working, QEvent.Type.MouseMove, 0.2, is_down=False)
    assert rights(working) == {until_s}  # the button is up
    mouse(working, QEvent.Type.MouseButtonDblClick, 0.5, is_down=True)
    assert lengths(working) == {120.0}
    assert working.time_view.is_following


def test_that_the_presets_show_what_they_say(working: LivePanel) -> None:
    for button in working.time_bar.findChildren(QPushButton)[:4]:
        button.click()
        settle()
        assert button.isChecked()
        (length_s,) = lengths(working)
        assert length_s == {"30 s": 30, "2 min": 120, "10 min": 600, "1 h": 3600}[button.text()]
        button.click()  # again: it stays chosen
        assert button.isChecked()


@pytest.mark.parametrize("font_scale", [1.0, 1.5, 2.0])
def test_that_the_bar_has_room_for_its_words_in_any_font(
    working: LivePanel, themed: QApplication, font_scale: float
) -> None:
    apply_theme(themed, DARK, font_scale)
    settle()
    for button in working.time_bar.findChildren(QPushButton):
        bold = QFont(button.font())
        bold.setBold(True)
        needed = QFontMetrics(bold).horizontalAdvance(button.text())
        assert button.width() > needed
        assert button.width() < 2 * needed + 40


def test_that_a_pause_stands_still_while_figures_and_recording_go_on(
    working: LivePanel, clock: Clock
) -> None:
    working.time_bar.pause_button.click()
    settle()
    before = [chart.plot.grab().toImage() for chart in working.charts]
    for _ in range(3):
        clock.now_ns += SECOND
        working._meters.fold(MemoryMeasured(clock.now_ns, 0, 0, ()), clock.now_ns)
        span = StepsMeasured(
            clock.now_ns - SECOND // 10, clock.now_ns, 0.1, 1, 1, 0.1, 77 * 10**8, 9, 0, 0.0, 0.0,
            1, (),
        )  # fmt: skip
        working._meters.fold(span, clock.now_ns)
        working._timer.timeout.emit()
        settle()
    assert [chart.plot.grab().toImage() for chart in working.charts] == before
    assert working.bandwidth.text().startswith("77.0 GB/s")
    working.time_bar.pause_button.click()
    settle()
    series, _ = working.bandwidth.plot.picture.series
    assert series.values[-1] == pytest.approx(77e9)
    assert [chart.plot.grab().toImage() for chart in working.charts] != before


def test_that_the_crosshair_tells_the_figures_of_all_charts(working: LivePanel) -> None:
    mouse(working, QEvent.Type.MouseMove, 5 / 6, is_down=False)
    notes = [chart._note.full_text() for chart in working.charts]
    assert all(note.startswith("20 s ago") for note in notes[:2])
    assert "KV 2.10" in notes[0]
    assert "MBU" in notes[1]
    assert "TPOT by slot 1: 1" in notes[3]
    assert "p99 ITL up to" in notes[3]
    for chart in working.charts:
        image = chart.plot.grab().toImage()
        column = round(chart.plot.geometry_now.x_of(-20.0))
        inks = [image.pixelColor(column, row).name().upper() for row in range(image.height())]
        assert inks.count(DARK.text) > chart.plot.geometry_now.area.height() / 3
    QApplication.sendEvent(working.memory.plot, QEvent(QEvent.Type.Leave))
    settle()
    assert "unexplained" in working.memory._note.full_text()


def test_that_the_crosshair_is_read_out(qtbot: QtBot, working: LivePanel) -> None:
    for _ in range(11):
        QTest.keyClick(working.bandwidth, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    settle()
    description = working.bandwidth.accessibleDescription()
    assert description.startswith("12 s ago. no decoding at this time.")
    QTest.keyClick(working.bandwidth, Qt.Key.Key_Escape)
    assert "ago" not in working.bandwidth.accessibleDescription().split("(read")[0]


def test_that_changes_are_visited_one_after_the_other_by_keyboard(working: LivePanel) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(working.tpot, Qt.Key.Key_Left, control)
    settle()
    for chart in working.charts:
        note = chart._note.full_text()
        assert "Context per slot: 4,096 → 8,192 · new context, 0.31 s" in note
        assert "4,096 → 8,192" in chart.accessibleDescription()
    QTest.keyClick(working.tpot, Qt.Key.Key_Left, control)
    settle()
    assert "Loaded" in working.tpot._note.full_text()
    QTest.keyClick(working.tpot, Qt.Key.Key_Left, control)  # there is none before: it stays
    QTest.keyClick(working.tpot, Qt.Key.Key_Right, control)
    settle()
    assert "4,096 → 8,192" in working.tpot._note.full_text()


def test_that_times_are_the_time_of_day_where_nobody_counts_back(working: LivePanel) -> None:
    texts = [text for _, text in working.tpot.plot.axes.times]
    assert texts[-1] == "now"
    working.toggle_pause()
    settle()
    assert all(text.count(":") == 2 for _, text in working.tpot.plot.axes.times)
    working.time_view.follow()
    working.time_view.show_length(3600.0)
    settle()
    assert all(text.count(":") == 1 for _, text in working.tpot.plot.axes.times)


def test_that_an_empty_stretch_says_so(working: LivePanel, clock: Clock) -> None:
    clock.now_ns += 600 * SECOND
    working.redraw()
    assert "No request in this stretch; the last was 10 min ago" in working.ttft.text()
    assert "appear" in working.memory._empty.text()
    working.time_view.pan(-100.0)
    settle()
    assert "No request in this stretch; the last was 10 min ago" in working.ttft.text()
    assert "Nothing was measured" in working.memory._empty.text()
    working.time_view.pan(-420.0)
    settle()
    assert "queue" in working.ttft.text()


@pytest.mark.parametrize("length_s", [1.0, 3600.0])
def test_that_zooming_far_and_back_leaves_everything_as_it_was(
    working: LivePanel, length_s: float
) -> None:
    before = [chart.plot.grab().toImage() for chart in working.charts]
    working.time_view.hold()
    working.time_view.zoom(length_s / 120.0, 0.3)
    settle()
    for chart in working.charts:
        chart.grab()
    working.time_view.reset()
    settle()
    assert [chart.plot.grab().toImage() for chart in working.charts] == before


def test_that_an_hour_costs_no_more_drawings_than_can_be_seen(
    working: LivePanel, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    working.time_view.show_length(3600.0)
    settle()
    drawn = []
    redraw = working.redraw

    def count(has_words: bool = True) -> None:
        drawn.append(has_words)
        redraw(has_words)

    monkeypatch.setattr(working, "redraw", count)
    for _ in range(100):
        clock.now_ns += SECOND // 10
        working._meters.fold(MemoryMeasured(clock.now_ns, 0, 0, ()), clock.now_ns)
        working._timer.timeout.emit()
    assert len(drawn) <= 7  # of a hundred


@pytest.mark.timeout(600)
def test_that_all_charts_survive_five_thousand_repaints(qtbot: QtBot, clock: Clock) -> None:
    panel = LivePanel(desk_at_work(clock.now_ns, streams=1), clock_ns=clock)
    qtbot.addWidget(panel)
    panel.resize(300, 560)  # smaller than life: the crash is in the calls, not in the pixels
    with qtbot.waitExposed(panel):
        panel.show()
    panel._timer.stop()
    counters = [Counter() for _ in panel.charts]
    plots = [chart.plot for chart in panel.charts]
    for plot, counter in zip(plots, counters, strict=True):
        plot.installEventFilter(counter)
    for _ in range(REPAINTS):
        clock.now_ns += SECOND // 100
        panel.redraw(has_words=False)
        for chart in panel.charts:
            chart.plot.repaint()
    assert min(counter.paints for counter in counters) >= REPAINTS
    panel.close()
