"""The axes of a chart: grid, ticks, labels. What does not change while data scrolls by."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from resources.tokens import STEP_PX, Palette
from widgets.charts.geometry import Geometry

HANDLE_PX = 2 * STEP_PX
"""Height of the strip above the plot in which the handles of changes stand."""

# The widest label of any chart, so that the plots of all begin at the same place.
_WIDEST_TICK = "00,000"
_WIDEST_TIME, _WIDEST_AGO = "00:00:00", "−00 min"


@dataclass(frozen=True)
class Axes:
    """Labels of both axes.

    Attributes:
        ticks: Shares of the value axis with their texts, above 0; empty leaves the grid out.
        times: Seconds before the right edge with their texts; empty for an axis without labels.
        tag_px: Row of the middle of a tag that stands over the labels of the value axis, as a limit
            has one; None for none.
    """

    ticks: tuple[tuple[float, str], ...] = ()
    times: tuple[tuple[float, str], ...] = ()
    tag_px: float | None = None

    def labels(self, geometry: Geometry, metrics: QFontMetricsF) -> list[tuple[float, str]]:
        """Rows of the value axis with their texts, without those that the tag would cover."""
        if not self.ticks:
            return []
        labels = [(geometry.y_of(share), text) for share, text in ((0.0, "0"), *self.ticks)]
        if self.tag_px is None:
            return labels
        # Half the tag and half a figure: one that is touched cannot be read beside it.
        reach_px = (metrics.height() + metrics.capHeight()) / 2 + 1
        return [(row, text) for row, text in labels if abs(row - self.tag_px) >= reach_px]

    def paint(self, painter: QPainter, geometry: Geometry, palette: Palette) -> None:
        """Paint in the painter's font."""
        metrics = QFontMetricsF(painter.font())
        area = geometry.area
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(QColor(palette.line)))
        painter.drawLine(QLineF(area.topLeft(), area.bottomLeft()))
        painter.drawLine(QLineF(area.bottomLeft(), area.bottomRight()))
        for share, _ in self.ticks:
            y = geometry.y_of(share)
            painter.drawLine(QLineF(area.left(), y, area.right(), y))
        painter.setPen(QPen(QColor(palette.muted)))
        for middle_px, text in self.labels(geometry, metrics):
            row = QRectF(0, middle_px - metrics.height() / 2, 1, metrics.height())
            row.setRight(area.left() - STEP_PX)
            painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        self._paint_times(painter, geometry, metrics)

    def _paint_times(self, painter: QPainter, geometry: Geometry, metrics: QFontMetricsF) -> None:
        area = geometry.area
        for time_s, text in self.times:
            width = metrics.horizontalAdvance(text)
            left = geometry.x_of(time_s) - width / 2
            # Whole at the edges, where the middle would leave half of it outside.
            left = max(area.left() - STEP_PX, min(left, area.right() + 3 * STEP_PX - width))
            place = QRectF(left, area.bottom() + STEP_PX / 2, width + 1, metrics.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft, text)


def axis_width(metrics: QFontMetricsF) -> int:
    """Pixels left of the plot that the value axis takes."""
    return round(metrics.horizontalAdvance(_WIDEST_TICK)) + 2 * STEP_PX


def axis_height(metrics: QFontMetricsF, has_labels: bool) -> int:
    """Pixels below the plot that the time axis takes: without labels half of the 0 beside it."""
    return round(metrics.height()) + STEP_PX if has_labels else 2 * STEP_PX


def label_room(metrics: QFontMetricsF, width_px: float, is_relative: bool) -> int:
    """How many labels of time fit into a width, seconds before now or times of day."""
    widest = _WIDEST_AGO if is_relative else _WIDEST_TIME
    return int(width_px / (1.4 * metrics.horizontalAdvance(widest)))


def plot_area(size: QRectF, metrics: QFontMetricsF, has_labels: bool) -> QRectF:
    """What the axes leave of a rectangle."""
    below = axis_height(metrics, has_labels)
    area = size.adjusted(axis_width(metrics), HANDLE_PX, -4 * STEP_PX, -below)
    return QRectF(area.left(), area.top(), max(1.0, area.width()), max(1.0, area.height()))
