"""The live column: the four charts, drawn from the meters at a steady rate."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QSize, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine_bridge.metrics.meters import Meters
from resources.tokens import LIVE_WIDTH_PX, PANEL_GAP_PX, Palette
from widgets.charts.bandwidth import BandwidthChart
from widgets.charts.memory import MemoryChart
from widgets.charts.tpot import TpotChart
from widgets.charts.ttft import TtftChart

RATE_HZ = 10.0
SLOW_RATE_HZ = 4.0
"""While no core is free: a repaint then takes its time from decoding."""

# Below the first a core counts as busy, above the second as free again; between them nothing moves.
_NO_CORE_FREE, _CORE_FREE = 0.25, 0.75
# Figures that change ten times a second cannot be read.
_WORDS_EVERY_S = 0.25
# Without news the charts only scroll: 3 pixels a second at 370 pixels for two minutes.
_SCROLL_EVERY_S = 0.5


class LivePanel(QWidget):
    """Memory, bandwidth, TTFT and TPOT over the same two minutes.

    Draws only while it can be seen.
    """

    def __init__(
        self,
        meters: Meters,
        parent: QWidget | None = None,
        clock_ns: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """Show ``meters``.

        Args:
            meters: Where the views come from.
            parent: The parent widget.
            clock_ns: The meters' clock.
        """
        super().__init__(parent)
        self._meters = meters
        self._clock_ns = clock_ns
        self._drawn_revision = -1
        self._drawn_s = self._words_s = float("-inf")
        self.memory = MemoryChart()
        self.bandwidth = BandwidthChart()
        self.ttft = TtftChart()
        self.tpot = TpotChart()
        self.charts = (self.memory, self.bandwidth, self.ttft, self.tpot)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(PANEL_GAP_PX)
        for chart in self.charts:
            self._column.addWidget(chart, 1)
            chart.plot.show_time_labels(chart is self.tpot)  # one time axis, below them all
        self.setAccessibleName("Live charts")
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timer_timeout)
        self.set_rate_hz(RATE_HZ)

    @property
    def rate_hz(self) -> float:
        """Looks at the meters per second."""
        return 1000 / self._timer.interval()

    def set_rate_hz(self, rate_hz: float) -> None:
        """Look at the meters so often, 0.1 to 60 a second."""
        self._timer.setInterval(round(1000 / min(60.0, max(0.1, rate_hz))))

    def note_idle_cores(self, idle_cores: float) -> None:
        """Draw more slowly while no processor core is free."""
        if idle_cores < _NO_CORE_FREE:
            self.set_rate_hz(SLOW_RATE_HZ)
        elif idle_cores > _CORE_FREE:
            self.set_rate_hz(RATE_HZ)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        for chart in self.charts:
            chart.set_palette(palette)
        self.redraw()

    def redraw(self, has_words: bool = True) -> None:
        """Draw what the meters say now."""
        now_ns = self._clock_ns()
        now_s = now_ns / 1e9
        view = self._meters.view(now_ns)
        self.memory.set_data(view.memory, view.markers, now_s, has_words)
        self.bandwidth.set_data(view.bandwidth, view.markers, now_s, has_words)
        self.ttft.set_data(view.ttft, view.markers, now_s, has_words)
        self.tpot.set_data(view.tpot, view.markers, now_s, has_words)
        self._drawn_revision, self._drawn_s = self._meters.revision, now_s
        if has_words:
            self._words_s = now_s

    def sizeHint(self) -> QSize:
        """As wide as the live column is meant to be."""
        return QSize(LIVE_WIDTH_PX, super().sizeHint().height())

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to draw."""
        super().showEvent(event)
        self.redraw()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop: nobody can see it."""
        self._timer.stop()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the chart with the time labels the room they take, so that all plots are equal."""
        super().resizeEvent(event)
        labels = self.tpot.plot.axis_height() - self.memory.plot.axis_height()
        gaps = PANEL_GAP_PX * (len(self.charts) - 1)
        each = max(1, (self.height() - gaps - labels) // len(self.charts))
        for chart in self.charts:
            self._column.setStretchFactor(chart, each + (labels if chart is self.tpot else 0))

    def _on_timer_timeout(self) -> None:
        if self.window().isMinimized():
            return
        now_s = self._clock_ns() / 1e9
        is_news = self._meters.revision != self._drawn_revision
        if is_news or now_s - self._drawn_s >= _SCROLL_EVERY_S:
            self.redraw(has_words=now_s - self._words_s >= _WORDS_EVERY_S)
