"""The drawing area that all live charts share: a picture between its axes, and a crosshair.

Painted in three layers, each kept until it changes: axes, data, crosshair. A chart that nobody
touches and whose time has not moved on by a pixel costs one copy of its pixels at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QWheelEvent
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.meters import Marker
from resources.tokens import STEP_PX
from widgets.charts.axes import Axes, axis_height, axis_width, label_room, plot_area
from widgets.charts.brush import Brush
from widgets.charts.geometry import HEADROOM, Geometry
from widgets.charts.kept_plot import KeptPlot
from widgets.charts.limit_grip import LimitGrip
from widgets.charts.marks import Change, changes, paint_changes
from widgets.charts.picture import Picture, value_near
from widgets.charts.scale import SteadyTop, ticks
from widgets.charts.time_pointer import TimePointer
from widgets.charts.time_view import TimeView
from widgets.charts.timeline import Timeline
from widgets.theme import small_font

LINE_PX = 1.5
"""Width of a line that shows a measurement."""

# How near the pointer has to be, in pixels.
_NEAR_PX = 6

LinesAt = Callable[[float, float | None], list[str]]


class TimePlot(KeptPlot):
    """Some series over time."""

    def __init__(
        self,
        time_view: TimeView,
        floor: float,
        unit_per_value: float = 1.0,
        parent: QWidget | None = None,
    ) -> None:
        """Make an empty plot.

        Args:
            time_view: What its pointer moves and whose crosshair it shows.
            floor: The top of the axis is never below this, in units of the axis.
            unit_per_value: Units of the axis per unit of the data, e.g. 1000 for ms of seconds.
            parent: The parent widget.
        """
        super().__init__(parent)
        self._steady = SteadyTop(floor)
        self._unit_per_value = unit_per_value
        self._lines_at: LinesAt = lambda time_s, share: []
        self._picture = Picture()
        self._timeline = Timeline()
        self._markers: tuple[Marker, ...] = ()
        self._has_time_labels = True
        self._is_blank = False
        self._time_view = time_view
        self._pointer = TimePointer(time_view)
        self._grip: LimitGrip | None = None
        self._axes_key: object = None
        self._axes_layer = QPixmap()
        time_view.cursor_moved.connect(self.update)
        self.setMinimumHeight(12 * STEP_PX)

    # --- What is in it ------------------------------------------------------------------

    def show_picture(
        self, picture: Picture, timeline: Timeline, markers: Sequence[Marker] = ()
    ) -> None:
        """Show other data; the value axis follows the highest value."""
        highest = None if picture.top is None else picture.top * self._unit_per_value
        # An axis that moved below a hand would take the line out of it.
        if self._grip is None or not self._grip.is_dragged:
            self._steady.follow(highest, timeline.now_s, is_still=not timeline.is_following)
        self._picture, self._timeline, self._markers = picture, timeline, tuple(markers)
        self._renew()
        self._card.renew()

    def set_lines_at(self, lines_at: LinesAt) -> None:
        """What there is to say at a time (seconds) and a share of the axis, a line each."""
        self._lines_at = lines_at

    def set_grip(self, grip: LimitGrip) -> None:
        """Show a limit that the mouse can move."""
        self._grip = grip
        grip.changed.connect(self._on_grip_changed)

    def show_time_labels(self, is_shown: bool) -> None:
        """Whether the labels of the time axis are shown; the axis itself always is."""
        self._has_time_labels = is_shown
        self._renew()

    def set_blank(self, is_blank: bool) -> None:
        """Whether all but the axes is left out, since there is nothing to hold against them."""
        self._is_blank = is_blank
        self._renew()

    def share(self, value: float) -> float:
        """Where ``value`` stands on the axis: 0 at the bottom, 1 at the top tick."""
        return value * (self._unit_per_value / self._steady.top)

    @property
    def axes(self) -> Axes:
        """The labels of both axes."""
        between_px = self.geometry_now.area.height() / HEADROOM
        label_px = self._metrics().height()
        shown = () if self._is_blank else tuple(ticks(self._steady.top, between_px / label_px))
        tag_px = None if self._grip is None else self._grip.tag_px(self.geometry_now)
        if not self._has_time_labels:
            return Axes(shown, tag_px=tag_px)
        width = self.geometry_now.area.width()
        room = label_room(self._metrics(), width, self._timeline.is_relative)
        return Axes(shown, tuple(self._timeline.labels(room)), tag_px)

    @property
    def geometry_now(self) -> Geometry:
        """Where times and values lie now."""
        area = plot_area(QRectF(self.rect()), self._metrics(), self._has_time_labels)
        return Geometry(area, self._timeline.length_s, self._unit_per_value / self._steady.top)

    @property
    def picture(self) -> Picture:
        """What is shown between the axes."""
        return self._picture

    @property
    def timeline(self) -> Timeline:
        """The time axis."""
        return self._timeline

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The changes shown."""
        return self._markers

    @property
    def top(self) -> float:
        """The top tick of the value axis, in its unit."""
        return self._steady.top

    @property
    def edge_value(self) -> float:
        """The value at the upper edge, just above the top tick."""
        return self.geometry_now.edge_value

    def axis_width(self) -> int:
        """Pixels left of the plot that the value axis takes."""
        return axis_width(self._metrics())

    def axis_height(self) -> int:
        """Pixels below the plot that the time axis takes."""
        return axis_height(self._metrics(), self._has_time_labels)

    def labels_height(self) -> int:
        """How many of them are for labels: 0 where those are left out."""
        return self.axis_height() - axis_height(self._metrics(), has_labels=False)

    # --- What it says -------------------------------------------------------------------

    def lines_at_cursor(self) -> list[str]:
        """When the crosshair stands and what is there; empty where it does not stand here."""
        time_s = self._cursor_time_s()
        if time_s is None:
            return []
        return self._lines(time_s, None) or [self._timeline.moment(time_s), "nothing at this time"]

    def card_at(self, place: QPointF) -> str:
        """What the card at a place of the plot says, as HTML; empty outside of it."""
        geometry = self.geometry_now
        if self._is_blank:
            return ""
        about_limit = "" if self._grip is None else self._grip.tip_at(place, geometry)
        if about_limit:
            return "<br>".join(escape(line) for line in about_limit.splitlines())
        if not geometry.area.adjusted(0, -2 * STEP_PX, 0, 0).contains(place):
            return ""
        lines = self._lines(geometry.time_at(place.x()), geometry.share_at(place.y()))
        # Names of models and files come from outside: shown as text, whatever they hold.
        return "<br>".join(escape(line) for line in lines)

    def near(self) -> tuple[float, float]:
        """Seconds and shares of the axis that count as near the pointer."""
        geometry = self.geometry_now
        top_share = geometry.share_at(geometry.area.bottom() - _NEAR_PX)
        return _NEAR_PX / geometry.px_per_s, top_share

    def _lines(self, time_s: float, share: float | None) -> list[str]:
        change = self._change_near(time_s)
        if change is not None:
            return [self._timeline.moment(change.time_s), *change.lines()]
        lines = self._lines_at(time_s, share)
        return [self._timeline.moment(time_s), *lines] if lines else []

    def _change_near(self, time_s: float) -> Change | None:
        reach_s, _ = self.near()
        shown = changes(self._markers, self.geometry_now.px_per_s)
        near = min(shown, key=lambda change: abs(change.time_s - time_s), default=None)
        return near if near is not None and abs(near.time_s - time_s) <= reach_s else None

    def _cursor_time_s(self) -> float | None:
        """Seconds before the right edge at which the crosshair stands."""
        return None if self._is_blank else self._time_view.cursor_in(self._timeline.stretch)

    # --- Qt: painting -------------------------------------------------------------------

    def minimumSizeHint(self) -> QSize:
        """Any size will do."""
        return QSize(self.axis_width() + 12 * STEP_PX, 12 * STEP_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The data as it was drawn last, and the crosshair over it."""
        layer = self._kept()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, layer)
        self._paint_focus(painter, self.geometry_now.area)
        time_s = self._cursor_time_s()
        if time_s is not None:
            self._paint_cursor(painter, time_s)
        if self._grip is not None and not self._is_blank:
            painter.setFont(small_font(self.font()))
            self._grip.paint(painter, self.geometry_now, self._colours)

    def _measure_again(self) -> None:
        self._axes_key = None
        super()._measure_again()

    def _drawn(self) -> QPixmap:
        """Axes and data."""
        layer = self._axes_drawn().copy()
        geometry = self.geometry_now
        painter = QPainter(layer)
        painter.setFont(small_font(self.font()))
        if not self._is_blank:
            shown = changes(self._markers, geometry.px_per_s)
            paint_changes(painter, geometry, shown, self._colours)
            Brush(painter, geometry).picture(self._picture)
        painter.end()
        return layer

    def _axes_drawn(self) -> QPixmap:
        """Background, grid and labels; drawn anew only where one of them changed."""
        ratio, axes = self.devicePixelRatioF(), self.axes
        key = (self.size().toTuple(), ratio, self._colours, axes, self._timeline.length_s)
        if key != self._axes_key:
            layer = QPixmap(self.size() * ratio)
            layer.setDevicePixelRatio(ratio)
            layer.fill(QColor(self._colours.panel))
            painter = QPainter(layer)
            painter.setFont(small_font(self.font()))
            axes.paint(painter, self.geometry_now, self._colours)
            painter.end()
            self._axes_layer, self._axes_key = layer, key
        return self._axes_layer

    def _paint_cursor(self, painter: QPainter, time_s: float) -> None:
        geometry = self.geometry_now
        x = geometry.x_of(time_s)
        painter.setPen(QPen(QColor(self._colours.text)))
        painter.drawLine(QLineF(x, geometry.area.top(), x, geometry.area.bottom()))
        brush = Brush(painter, geometry)
        reach_s, _ = self.near()
        for series in self._picture.series:
            if series.look == "line" and not series.is_broken:
                value = value_near(series, time_s, reach_s)
                if value is not None:
                    y = float(geometry.y(np.array([value]))[0])
                    brush.mark("circle", x, y, series.colour)

    # --- Qt: pointer --------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom or pan."""
        self._pointer.turn(event, self.geometry_now)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the focus; perhaps a drag begins."""
        self.pressed.emit()
        if not self._takes_limit(event):
            self._pointer.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan or move the limit while dragged; the crosshair is below the pointer."""
        self._card.pointer_moved(event.position().toPoint())
        grip = None if self._is_blank else self._grip
        if grip is not None and grip.move(event, self.geometry_now):
            self._pointer.leave()
        else:
            self._pointer.move(event, self.geometry_now)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End dragging."""
        if self._grip is not None:
            self._grip.release()
        self._pointer.release()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ask for the limit at its line; elsewhere back to the last two minutes."""
        if self._takes_limit(event) and self._grip is not None:
            self._grip.release()
            self._grip.opened.emit()
        else:
            self._time_view.reset()

    def leaveEvent(self, event: QEvent) -> None:
        """Take the crosshair away."""
        self._card.leave()
        self._pointer.leave()
        if self._grip is not None:
            self._grip.leave()
        super().leaveEvent(event)

    def _takes_limit(self, event: QMouseEvent) -> bool:
        grip = None if self._is_blank else self._grip
        return grip is not None and grip.press(event, self.geometry_now)

    def _on_grip_changed(self) -> None:
        assert self._grip is not None
        if self._grip.is_near:
            self.setCursor(Qt.CursorShape.SizeVerCursor)
        else:
            self.unsetCursor()
        self._renew()  # its tag may cover other labels
