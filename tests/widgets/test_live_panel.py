"""The live column: when it draws, how often, and that it survives doing so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.meters import LiveView, Meters
from engine_bridge.metrics.stretch import Stretch
from resources.tokens import LIGHT
from tests.widgets.synthetic import SECOND, desk_at_work
from widgets.live_panel import RATE_HZ, SLOW_RATE_HZ, LivePanel

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


@pytest.mark.timeout(600)
def test_that_all_charts_survive_five_thousand_repaints(qtbot: QtBot, clock: Clock) -> None:
    panel = LivePanel(desk_at_work(clock.now_ns, streams=1), clock_ns=clock)
    qtbot.addWidget(panel)
    panel.resize(300, 560)  # smaller than life: the crash is in the calls, not in the pixels
    with qtbot.waitExposed(panel):
        panel.show()
    panel._timer.stop()
    counters = [Counter() for _ in panel.charts]
    for chart, counter in zip(panel.charts, counters, strict=True):
        chart.plot.installEventFilter(counter)
    for _ in range(REPAINTS):
        clock.now_ns += SECOND // 100
        panel.redraw(has_words=False)
        for chart in panel.charts:
            chart.plot.repaint()
    assert min(counter.paints for counter in counters) >= REPAINTS
    panel.close()
