"""Paints one plot of a result between its axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from resources.tokens import STEP_PX, Palette
from widgets.experiments.result_geometry import Geometry
from widgets.experiments.result_marks import RADIUS_PX, colour_of, line_pen, stamp
from widgets.experiments.result_scale import Scale
from widgets.experiments.result_sheet import Line, Mark, Plot

# Half the width of the ends of an error bar.
_CAP_PX = 3.0
# Two labels of an axis keep so far apart.
_APART_PX = 2 * STEP_PX


class ResultPainter:
    """Paints in a palette and a size of type."""

    def __init__(
        self,
        palette: Palette,
        metrics: QFontMetricsF,
        scales: tuple[Scale, Scale],
        axis_px: float = 0.0,
    ) -> None:
        """Paint nothing yet.

        Args:
            palette: Colours.
            metrics: Of the font that axes are labelled in.
            scales: The horizontal and the vertical axis.
            axis_px: Room for labels of the vertical axis, where its own need less.
        """
        self._palette = palette
        self._metrics = metrics
        self._x, self._y = scales
        self._axis_px = axis_px

    def axis_px(self) -> float:
        """Width of the widest label of the vertical axis."""
        widths = (self._metrics.horizontalAdvance(text) for _, text in self._y.ticks)
        return max(widths, default=0.0)

    def area(self, size: QRectF) -> QRectF:
        """What titles and labels leave of a rectangle."""
        height = self._metrics.height()
        widest = max(self._axis_px, self.axis_px())
        area = size.adjusted(
            widest + 2 * STEP_PX, 2 * height + 2 * STEP_PX, -2 * STEP_PX, -2 * height - STEP_PX
        )
        return QRectF(area.left(), area.top(), max(1.0, area.width()), max(1.0, area.height()))

    def paint(self, painter: QPainter, geometry: Geometry, plot: Plot) -> None:
        """Paint ``plot`` in the painter's font."""
        self._titles(painter, geometry, plot)
        self._rows(painter, geometry)
        self._columns(painter, geometry)
        painter.save()
        painter.setClipRect(
            geometry.area.adjusted(-RADIUS_PX, -RADIUS_PX, 2 * RADIUS_PX, 2 * RADIUS_PX)
        )
        for mark in plot.marks:
            self._mark(painter, geometry, mark)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, line in enumerate(plot.lines):
            self._line(painter, geometry, line, number)
        for number, line in enumerate(plot.lines):
            if line.has_marks:
                self._bars(painter, geometry, line, number)
                self._points(painter, geometry, line, number)
        painter.restore()

    # --- Axes ---------------------------------------------------------------------------

    def _titles(self, painter: QPainter, geometry: Geometry, plot: Plot) -> None:
        metrics = self._metrics
        plain, bold = painter.font(), QFont(painter.font())
        bold.setWeight(QFont.Weight.DemiBold)
        painter.setFont(bold)
        painter.setPen(QColor(self._palette.text))
        width = geometry.area.right() + 2 * STEP_PX
        title = QFontMetricsF(bold).elidedText(plot.title, Qt.TextElideMode.ElideRight, width)
        painter.drawText(QPointF(0, metrics.ascent()), title)
        painter.setFont(plain)
        painter.setPen(QColor(self._palette.muted))
        # Of a plot that is called as its axis the unit is left to say.
        below_title = plot.y.unit if plot.title == plot.y.title else plot.y.words
        words = metrics.elidedText(below_title, Qt.TextElideMode.ElideRight, width)
        painter.drawText(QPointF(0, metrics.height() + metrics.ascent()), words)
        below = QRectF(
            geometry.area.left(),
            geometry.area.bottom() + metrics.height() + STEP_PX,
            geometry.area.width(),
            metrics.height(),
        )
        words = metrics.elidedText(plot.x.words, Qt.TextElideMode.ElideRight, below.width())
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, words)

    def _rows(self, painter: QPainter, geometry: Geometry) -> None:
        """Lines across with the labels of the vertical axis."""
        area, metrics = geometry.area, self._metrics
        line, muted = QPen(QColor(self._palette.line)), QPen(QColor(self._palette.muted))
        align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        last_y = area.bottom() + 2 * metrics.height()
        for value, text in self._y.ticks:
            y = geometry.y_of(value)
            painter.setPen(line)
            painter.drawLine(QLineF(area.left(), y, area.right(), y))
            if last_y - y >= metrics.height():
                last_y = y
                row = QRectF(0, y - metrics.height() / 2, area.left() - STEP_PX, metrics.height())
                painter.setPen(muted)
                painter.drawText(row, align, text)
        painter.setPen(line)
        painter.drawLine(QLineF(area.topLeft(), area.bottomLeft()))
        painter.drawLine(QLineF(area.bottomLeft(), area.bottomRight()))

    def _columns(self, painter: QPainter, geometry: Geometry) -> None:
        """Labels of the horizontal axis, those left out that have no room."""
        area, metrics = geometry.area, self._metrics
        names = self._short_names(geometry)
        end = -1.0
        for (value, _), text in zip(self._x.ticks, names, strict=True):
            x, width = geometry.x_of(value), metrics.horizontalAdvance(text)
            left = max(0.0, min(x - width / 2, area.right() + 2 * STEP_PX - width))
            if left < end + _APART_PX and end >= 0:
                continue
            end = left + width
            painter.setPen(QColor(self._palette.line))
            painter.drawLine(QLineF(x, area.bottom(), x, area.bottom() + STEP_PX / 2))
            painter.setPen(QColor(self._palette.muted))
            painter.drawText(QPointF(left, area.bottom() + STEP_PX + metrics.ascent()), text)

    def _short_names(self, geometry: Geometry) -> list[str]:
        """The labels; long ones are cut to their share of the width."""
        texts = [text for _, text in self._x.ticks]
        each_px = geometry.area.width() / max(1, len(texts)) - _APART_PX
        least_px = self._metrics.horizontalAdvance("q8_0, q8…")
        return [
            self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(each_px, least_px))
            for text in texts
        ]

    # --- What stands between them -------------------------------------------------------

    def _mark(self, painter: QPainter, geometry: Geometry, mark: Mark) -> None:
        area, metrics = geometry.area, self._metrics
        colour = QColor(self._palette.warning if mark.is_limit else self._palette.muted)
        painter.setPen(QPen(colour, 1.0, Qt.PenStyle.DotLine))
        width = metrics.horizontalAdvance(mark.text)
        if mark.is_upright:
            x = geometry.x_of(mark.at)
            painter.drawLine(QLineF(x, area.top(), x, area.bottom()))
            left = x + STEP_PX if x + STEP_PX + width < area.right() else x - STEP_PX - width
            # Low: curves rise, or begin high.
            at = QPointF(left, area.bottom() - STEP_PX)
        else:
            y = geometry.y_of(mark.at)
            painter.drawLine(QLineF(area.left(), y, area.right(), y))
            at = QPointF(area.left() + STEP_PX, y - STEP_PX / 2)
        painter.setPen(colour)
        painter.drawText(at, mark.text)

    def _line(self, painter: QPainter, geometry: Geometry, line: Line, number: int) -> None:
        if not (line.is_joined or line.is_stepped) or len(line.points) < 2:
            return
        places = [geometry.place(point) for point in line.points]
        if line.is_stepped:
            places = _stepped(places)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(line_pen(self._palette, number))
        painter.drawPolyline(QPolygonF(places))

    def _bars(self, painter: QPainter, geometry: Geometry, line: Line, number: int) -> None:
        painter.setPen(QPen(QColor(colour_of(self._palette, number)), 1.0))
        for point in line.points:
            if point.low is None or point.high is None:
                continue
            x, low, high = (
                geometry.x_of(point.x),
                geometry.y_of(point.low),
                geometry.y_of(point.high),
            )
            # One that is hidden by its point would look like a fault beside those that are not.
            if low - high <= 2 * RADIUS_PX:
                continue
            painter.drawLine(QLineF(x, low, x, high))
            for end in (low, high):
                painter.drawLine(QLineF(x - _CAP_PX, end, x + _CAP_PX, end))

    def _points(self, painter: QPainter, geometry: Geometry, line: Line, number: int) -> None:
        ratio = painter.device().devicePixelRatioF()
        # Filled ones lie above outlined ones.
        for is_hollow in (True, False):
            points = [point for point in line.points if point.is_hollow is is_hollow]
            if not points:
                continue
            picture, middle = stamp(self._palette, number, is_hollow=is_hollow, pixel_ratio=ratio)
            for point in points:
                painter.drawPixmap(geometry.place(point) - middle, picture)


def _stepped(places: Sequence[QPointF]) -> list[QPointF]:
    made = [places[0]]
    for before, place in pairwise(places):
        made += [QPointF(place.x(), before.y()), place]
    return made
