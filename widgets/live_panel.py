"""The live column: the four charts, drawn from the meters at a steady rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSize, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine_bridge.metrics.meters import LiveView, Meters
from resources.tokens import LIVE_WIDTH_PX, PANEL_GAP_PX, STEP_PX, Palette
from widgets.board_strip import BoardStrip
from widgets.charts.bandwidth import BandwidthChart
from widgets.charts.frame import ChartFrame
from widgets.charts.memory import MemoryChart
from widgets.charts.table_dialog import TableDialog
from widgets.charts.time_bar import TimeBar
from widgets.charts.time_view import TimeView
from widgets.charts.timeline import Timeline
from widgets.charts.tpot import TpotChart
from widgets.charts.ttft import TtftChart
from widgets.figure_strip import BRIEF, FULL, NONE, FigureStrip

RATE_HZ = 10.0
SLOW_RATE_HZ = 4.0
"""While no core is free: a repaint then takes its time from decoding."""

# Below the first a core counts as busy, above the second as free again; between them nothing moves.
_NO_CORE_FREE, _CORE_FREE = 0.25, 0.75
# Figures that change ten times a second cannot be read.
_WORDS_EVERY_S = 0.25
# News that is narrower than a pixel waits so long.
_NEWS_EVERY_S, _SLOWEST_NEWS_S = 0.25, 2.0
# Without news the charts only scroll: 3 pixels a second at 370 pixels for two minutes.
_SCROLL_EVERY_S = 0.5
_CHANGES_HEIGHT = (QEvent.Type.Resize, QEvent.Type.ShowToParent, QEvent.Type.HideToParent)
# Pictures in files are finer than the window.
_FILE_BUCKETS = 1000
# Room that a chart keeps before figures above it go: with its muted line, and at least.
_LEAST_PX = {FULL: 26 * STEP_PX, BRIEF: 20 * STEP_PX}


class LivePanel(QWidget):
    """Memory, bandwidth, TTFT and TPOT over the same time, the last two minutes at first.

    Draws only while it can be seen.

    Signals:
        export_requested: A file is wanted: its kind (``png``, ``svg``, ``csv``) and the list of
            ``Sheet`` it is to be made of.
        limits_changed: The user set or took away a limit; see ``limits``.
    """

    export_requested = Signal(str, list)
    limits_changed = Signal()

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
        self._drawn_revision = self._drawn_changes = -1
        self._drawn_s = self._words_s = self._drawn_until_s = float("-inf")
        self.time_view = TimeView(self, time.time() - clock_ns() / 1e9)
        self.time_bar = TimeBar(self.time_view)
        self.memory = MemoryChart(self.time_view)
        self.bandwidth = BandwidthChart(self.time_view)
        self.ttft = TtftChart(self.time_view)
        self.tpot = TpotChart(self.time_view)
        self.charts = (self.memory, self.bandwidth, self.ttft, self.tpot)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(PANEL_GAP_PX)
        self._column.addWidget(self.time_bar)
        self.figures, self.boards = FigureStrip(), BoardStrip()
        for strip in (self.figures, self.boards):
            strip.installEventFilter(self)
            self._column.addWidget(strip)
        for chart in self.charts:
            self._column.addWidget(chart, 1)
            self._connect(chart)
            chart.plot.show_time_labels(chart is self.tpot)  # one time axis, below them all
        self.ttft.limit_dragged.connect(self._limit_setter(0, is_kept=False))
        self.tpot.limit_dragged.connect(self._limit_setter(1, is_kept=False))
        self.ttft.limit_changed.connect(self._limit_setter(0, is_kept=True))
        self.tpot.limit_changed.connect(self._limit_setter(1, is_kept=True))
        self.setAccessibleName("Live charts")
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timer_timeout)
        # Several moves of the pointer become one drawing.
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self.redraw)
        self.time_view.moved.connect(self._soon.start)
        self.set_rate_hz(RATE_HZ)

    def _connect(self, chart: MemoryChart | BandwidthChart | TtftChart | TpotChart) -> None:
        chart.change_requested.connect(self.show_change)
        chart.table_requested.connect(lambda: self.show_table(chart))
        chart.export_requested.connect(
            lambda kind, is_all: self.request_export(kind, None if is_all else chart)
        )

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
        now_ns, timeline = self._look()
        view = self._meters.view(now_ns, timeline.stretch)
        self.memory.set_data(view.memory, view.markers, timeline, has_words)
        self.bandwidth.set_data(view.bandwidth, view.markers, timeline, has_words)
        self.ttft.set_data(view.ttft, view.markers, timeline, has_words)
        self.tpot.set_data(view.tpot, view.markers, timeline, has_words)
        if has_words:
            self.figures.show_figures(self._meters.figures(now_ns, timeline.stretch))
        self._drawn_revision, self._drawn_changes = self._meters.revision, self._meters.changes
        self._drawn_s, self._drawn_until_s = timeline.now_s, timeline.stretch.until_s
        if has_words:
            self._words_s = timeline.now_s

    # --- What can be asked of it ----------------------------------------------------------

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The longest TTFT and TPOT that count as good, seconds; None where none was set."""
        return self._meters.requests.ttft_limit_s, self._meters.requests.tpot_limit_s

    def set_limits(self, ttft_s: float | None, tpot_s: float | None) -> None:
        """Use these limits."""
        self._meters.set_limits(ttft_s, tpot_s)
        if self.isVisible():
            self._soon.start()

    def toggle_pause(self) -> None:
        """Pause or follow."""
        self._look()
        self.time_view.toggle()

    def show_change(self, direction: int) -> None:
        """Put the crosshair at the next change (1) or the one before (−1)."""
        _, timeline = self._look()
        cursor_s = self.time_view.cursor_s
        from_s = timeline.stretch.until_s if cursor_s is None else cursor_s
        # Several changes that share a handle are one stop.
        reach_s = timeline.stretch.bucket_s if cursor_s is not None else 0.0
        marker = self._meters.marker_near(from_s + direction * reach_s, direction)
        if marker is not None:
            self.time_view.put_cursor(marker.at_s)

    def show_table(self, chart: ChartFrame[Any]) -> None:
        """Show the figures of a chart as a table."""
        dialog = TableDialog(chart.sheet(), self)
        dialog.open()

    def request_export(self, kind: str, chart: ChartFrame[Any] | None = None) -> None:
        """Ask for a file of a chart, or of all of them.

        Args:
            kind: ``png``, ``svg`` or ``csv``.
            chart: Which; None for all.
        """
        now_ns, timeline = self._look()
        bucket_s = 0.0 if kind == "csv" else timeline.length_s / _FILE_BUCKETS
        stretch = replace(timeline.stretch, bucket_s=bucket_s)
        view = self._meters.view(now_ns, stretch)
        sheets = (
            self.memory.sheet(view.memory),
            self.bandwidth.sheet(view.bandwidth),
            self.ttft.sheet(view.ttft),
            self.tpot.sheet(view.tpot),
        )
        shown = [s for s, each in zip(sheets, self.charts, strict=True) if chart in (None, each)]
        now = replace(timeline, stretch=stretch)
        self.export_requested.emit(
            kind, [replace(s, timeline=now, markers=view.markers) for s in shown]
        )

    def say(self, sentence: str) -> None:
        """Tell what became of a file, above the charts."""
        self.time_bar.say(sentence)

    # --- Qt -------------------------------------------------------------------------------

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
        self._soon.stop()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the chart with the time labels the room they take, so that all plots are equal."""
        super().resizeEvent(event)
        self._share_height()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Share the height anew when what is above the charts comes, goes or takes more of it."""
        if watched in (self.boards, self.figures) and event.type() in _CHANGES_HEIGHT:
            self._share_height()
        return super().eventFilter(watched, event)

    def _share_height(self) -> None:
        labels = self.tpot.plot.axis_height() - self.memory.plot.axis_height()
        gaps = PANEL_GAP_PX * len(self.charts) + self.time_bar.sizeHint().height()
        if not self.boards.isHidden():
            gaps += PANEL_GAP_PX + self.boards.height()
        room = self.height() - gaps - labels
        detail = self._detail_in(room)
        self.figures.set_detail(detail)
        left = room - self._figures_px(detail)
        legend = self.memory.legend_px
        if not self.memory.is_tall((left - legend) // len(self.charts)):
            legend = 0
        each = max(1, (left - legend) // len(self.charts))
        more = {self.memory: legend, self.tpot: labels}
        for chart in self.charts:
            self._column.setStretchFactor(chart, each + more.get(chart, 0))

    def _detail_in(self, room_px: int) -> int:
        """How much of the figures leaves the charts enough of their room."""
        needed = max(chart.least_px() for chart in self.charts)
        for detail, least_px in _LEAST_PX.items():
            each = (room_px - self._figures_px(detail)) // len(self.charts)
            if each >= max(least_px, needed):
                return detail
        return NONE

    def _figures_px(self, detail: int) -> int:
        height = self.figures.height_for(detail, self.width())
        return height + PANEL_GAP_PX if height else 0

    # --- Inside ---------------------------------------------------------------------------

    def _look(self) -> tuple[int, Timeline]:
        """The present, and the time axis there."""
        now_ns = self._clock_ns()
        self.time_view.note_present(now_ns / 1e9, self._meters.first_s)
        return now_ns, self.time_view.timeline(self.memory.plot.geometry_now.area.width())

    def _on_timer_timeout(self) -> None:
        if self.window().isMinimized():
            return
        now_ns, timeline = self._look()
        now_s = timeline.now_s
        is_news = self._meters.revision != self._drawn_revision
        has_words = now_s - self._words_s >= _WORDS_EVERY_S
        if not timeline.is_following:
            if is_news and has_words:
                self.figures.show_figures(self._meters.figures(now_ns, timeline.stretch))
                self._say(self._meters.view(now_ns, timeline.stretch), now_s)
            return
        age_s = now_s - self._drawn_s
        is_moved = timeline.stretch.until_s != self._drawn_until_s
        # Over an hour a pixel is ten seconds: nobody sees more than a row or two of it.
        news_every_s = min(max(_NEWS_EVERY_S, timeline.stretch.bucket_s), _SLOWEST_NEWS_S)
        if (
            self._meters.changes != self._drawn_changes
            or (is_news and (is_moved or age_s >= news_every_s))
            or (is_moved and age_s >= _SCROLL_EVERY_S)
        ):
            self.redraw(has_words)

    def _limit_setter(self, place: int, is_kept: bool) -> Callable[[float | None], None]:
        def set_limit(limit_s: float | None) -> None:
            limits = list(self.limits)
            limits[place] = limit_s
            self.set_limits(*limits)
            if is_kept:
                self.limits_changed.emit()

        return set_limit

    def _say(self, view: LiveView, now_s: float) -> None:
        """Bring the present figures up to date while the drawings stand still."""
        self.memory.say(view.memory)
        self.bandwidth.say(view.bandwidth)
        self.ttft.say(view.ttft)
        self.tpot.say(view.tpot)
        self._drawn_revision, self._words_s = self._meters.revision, now_s
