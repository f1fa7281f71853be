"""The drawing area of the roofline: grid, roofs and points, painted by Qt when they change."""

from __future__ import annotations

import math
from html import escape

from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from resources.tokens import STEP_PX
from widgets.charts.axes import axis_width, plot_area
from widgets.charts.kept_plot import KeptPlot
from widgets.charts.log_axis import LogAxis
from widgets.charts.roofline_picture import RooflineGeometry, RooflinePicture, RooflinePoint
from widgets.theme import small_font

X_TITLE, Y_TITLE = "operations per byte", "operations per second"
_RADIUS_PX, _PRESENT_RADIUS_PX = STEP_PX, 1.5 * STEP_PX
_NEAR_PX, _NEAR_ROOF_PX = 4 * STEP_PX, 2 * STEP_PX
# A label takes this many times its height before the next one may follow.
_LABEL_ROOM = 2.2


class RooflinePlot(KeptPlot):
    """Points below two roofs, both axes logarithmic."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty plot."""
        super().__init__(parent)
        self._picture = RooflinePicture()
        self._x_axis, self._y_axis = LogAxis(0.1, 1e3), LogAxis(1e8, 1e12)
        self._selected: int | None = None
        self.setMinimumHeight(36 * STEP_PX)

    # --- What is in it ------------------------------------------------------------------

    @property
    def picture(self) -> RooflinePicture:
        """What is shown."""
        return self._picture

    def show_picture(self, picture: RooflinePicture) -> None:
        """Show other points; the axes stay as long as they will do."""
        if picture == self._picture:
            return
        self._picture = picture
        x, y = picture.extent()
        self._x_axis = self._x_axis.following(x)
        self._y_axis = self._y_axis.following(y)
        if self._selected is not None and self._selected >= len(picture.points):
            self._selected = None
        self._renew()
        self._card.renew()

    def set_selected(self, number: int | None) -> None:
        """Put a ring around a point, by its number; None around none."""
        self._selected = number
        self.update()

    @property
    def geometry_now(self) -> RooflineGeometry:
        """Where everything lies now."""
        area = plot_area(QRectF(self.rect()), self._metrics(), has_labels=True)
        # The name of the value axis stands above it, on a line of its own.
        area.setTop(self._metrics().height() + STEP_PX)
        return RooflineGeometry(area, self._x_axis, self._y_axis)

    def card_at(self, place: QPointF) -> str:
        """What the card at a place says, as HTML; empty away from points and roofs."""
        number = self.geometry_now.nearest(self._picture, place, _NEAR_PX)
        if number is not None:
            return escape(self._picture.points[number].text)
        text = self.geometry_now.roof_text(self._picture, place, _NEAR_ROOF_PX)
        return "<br>".join(escape(line) for line in text.splitlines())

    # --- Qt -----------------------------------------------------------------------------

    def minimumSizeHint(self) -> QSize:
        """Room for two roofs and a handful of points."""
        return QSize(axis_width(self._metrics()) + 40 * STEP_PX, 36 * STEP_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """What was drawn last, and what the keyboard is at."""
        layer = self._kept()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, layer)
        geometry = self.geometry_now
        self._paint_focus(painter, geometry.area)
        if self._selected is not None and self._selected < len(self._picture.points):
            point = self._picture.points[self._selected]
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self._colours.text), 1.5))
            radius = _PRESENT_RADIUS_PX + STEP_PX
            painter.drawEllipse(_place(geometry, point), radius, radius)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the focus."""
        self.pressed.emit()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """What was said is not true of another place."""
        self._card.pointer_moved(event.position().toPoint())

    def leaveEvent(self, event: QEvent) -> None:
        """Take the card away."""
        self._card.leave()
        super().leaveEvent(event)

    # --- Painting -----------------------------------------------------------------------

    def _drawn(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        layer = QPixmap(self.size() * ratio)
        layer.setDevicePixelRatio(ratio)
        layer.fill(QColor(self._colours.panel))
        painter = QPainter(layer)
        painter.setFont(small_font(self.font()))
        geometry = self.geometry_now
        if self._picture.points:
            self._paint_axes(painter, geometry)
            painter.setClipRect(geometry.area.adjusted(0, -_RADIUS_PX, _RADIUS_PX, _RADIUS_PX))
            self._paint_roofs(painter, geometry)
            self._paint_points(painter, geometry)
        else:
            painter.setPen(QPen(QColor(self._colours.line)))
            painter.drawLine(QLineF(geometry.area.topLeft(), geometry.area.bottomLeft()))
            painter.drawLine(QLineF(geometry.area.bottomLeft(), geometry.area.bottomRight()))
        painter.end()
        return layer

    def _paint_axes(self, painter: QPainter, geometry: RooflineGeometry) -> None:
        metrics, area = self._metrics(), geometry.area
        height = metrics.height()
        line, muted = QPen(QColor(self._colours.line)), QPen(QColor(self._colours.muted))
        widest = metrics.horizontalAdvance("500 G")
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for value, text in geometry.y_axis.ticks(area.height() / (_LABEL_ROOM * height)):
            y = geometry.y_of(value)
            painter.setPen(line)
            painter.drawLine(QLineF(area.left(), y, area.right(), y))
            painter.setPen(muted)
            painter.drawText(QRectF(0, y - height / 2, area.left() - STEP_PX, height), right, text)
        for value, text in geometry.x_axis.ticks(area.width() / (1.6 * widest)):
            x = geometry.x_of(value)
            painter.setPen(line)
            painter.drawLine(QLineF(x, area.top(), x, area.bottom()))
            painter.setPen(muted)
            width = metrics.horizontalAdvance(text)
            left = max(area.left() - STEP_PX, min(x - width / 2, area.right() + STEP_PX - width))
            painter.drawText(QPointF(left, area.bottom() + STEP_PX / 2 + metrics.ascent()), text)
        painter.drawText(QPointF(0, metrics.ascent()), Y_TITLE)
        below = QRectF(area.left(), area.bottom() - height - STEP_PX / 2, area.width(), height)
        painter.drawText(
            below.adjusted(0, 0, -STEP_PX, 0), Qt.AlignmentFlag.AlignRight, f"{X_TITLE} →"
        )
        painter.setPen(line)
        painter.drawLine(QLineF(area.topLeft(), area.bottomLeft()))
        painter.drawLine(QLineF(area.bottomLeft(), area.bottomRight()))

    def _paint_roofs(self, painter: QPainter, geometry: RooflineGeometry) -> None:
        memory, compute = geometry.memory_roof(self._picture), geometry.compute_roof(self._picture)
        roof_pen, muted = QPen(QColor(self._colours.warning), 1.5), QColor(self._colours.muted)
        roof_pen.setStyle(Qt.PenStyle.DotLine)
        metrics = self._metrics()
        if compute is not None:
            # Dots that lie between two pixels would be pale.
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(roof_pen)
            painter.drawLine(compute)
            width = metrics.horizontalAdvance(self._picture.compute_label)
            left = min(compute.x1(), geometry.area.right() - width) + STEP_PX
            painter.setPen(muted)
            painter.drawText(QPointF(left, compute.y2() - STEP_PX), self._picture.compute_label)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if memory is not None:
            painter.setPen(roof_pen)
            painter.drawLine(memory)
            painter.setPen(muted)
            self._paint_memory_label(painter, memory)

    def _paint_memory_label(self, painter: QPainter, roof: QLineF) -> None:
        """Along the roof where all of it is inside of the plot; else the muted line has it."""
        metrics, text = self._metrics(), self._picture.memory_label
        slope = -roof.dy() / max(1.0, roof.dx())
        start = metrics.height() * slope + STEP_PX
        if start + metrics.horizontalAdvance(text) > roof.length():
            return
        painter.save()
        painter.translate(roof.p1())
        painter.rotate(-math.degrees(math.atan(slope)))
        painter.drawText(QPointF(start, -STEP_PX), text)
        painter.restore()

    def _paint_points(self, painter: QPainter, geometry: RooflineGeometry) -> None:
        decoding = [point for point in self._picture.points if point.kind == "decode"]
        path = QPolygonF([_place(geometry, point) for point in decoding])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._colours.accent), 1.0))
        painter.drawPolyline(path)
        taken = list[QRectF]()
        # The present one last: it lies above all others, and its label gets room first.
        order = sorted(self._picture.points, key=lambda point: point.is_present)
        for point in order:
            self._paint_mark(painter, _place(geometry, point), point)
        for point in reversed(order):
            self._paint_label(painter, geometry, point, taken)

    def _paint_mark(self, painter: QPainter, at: QPointF, point: RooflinePoint) -> None:
        colours = self._colours
        radius = _PRESENT_RADIUS_PX if point.is_present else _RADIUS_PX
        if point.kind == "decode":
            painter.setPen(
                QPen(QColor(colours.text), 1.5) if point.is_present else Qt.PenStyle.NoPen
            )
            painter.setBrush(QColor(colours.accent))
            painter.drawEllipse(at, radius, radius)
            return
        is_best = point.kind == "best"
        painter.setPen(QPen(QColor(colours.compute), 1.5))
        painter.setBrush(QColor(colours.panel if is_best else colours.compute))
        corners = ((0, -radius), (radius, 0), (0, radius), (-radius, 0))
        painter.drawPolygon([at + QPointF(x, y) for x, y in corners])

    def _paint_label(
        self,
        painter: QPainter,
        geometry: RooflineGeometry,
        point: RooflinePoint,
        taken: list[QRectF],
    ) -> None:
        """The label below right of its point, or left of it at the edge; left out without room."""
        metrics, at = self._metrics(), _place(geometry, point)
        width, height = metrics.horizontalAdvance(point.label), metrics.height()
        left = at.x() + _PRESENT_RADIUS_PX
        if left + width > geometry.area.right():
            left = at.x() - _PRESENT_RADIUS_PX - width
        room = QRectF(left, at.y() + STEP_PX / 2, width, height)
        if any(room.intersects(other) for other in taken):
            return
        taken.append(room)
        painter.setPen(QPen(QColor(self._colours.text)))
        painter.drawText(QPointF(room.left(), room.top() + metrics.ascent()), point.label)


def _place(geometry: RooflineGeometry, point: RooflinePoint) -> QPointF:
    return geometry.place(point.operations_per_byte, point.operations_per_s)
