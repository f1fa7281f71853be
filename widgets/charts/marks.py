"""Handles of the moments at which settings changed; those that stand too close share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from engine_bridge.metrics.meters import Marker
from resources.theme import mixed
from resources.tokens import STEP_PX, Palette
from widgets.charts.axes import HANDLE_PX
from widgets.charts.geometry import Geometry

# Closer than this two handles would cover each other.
_APART_PX = 3 * STEP_PX


@dataclass(frozen=True)
class Change:
    """One handle: a change, or several close to each other.

    Attributes:
        time_s: Of the first of them, seconds before the right edge.
        markers: What changed, oldest first.
    """

    time_s: float
    markers: tuple[Marker, ...]

    def lines(self) -> list[str]:
        """What changed, a line each."""
        return [line for marker in self.markers for line in marker.text.splitlines()]


def changes(markers: Sequence[Marker], px_per_s: float) -> list[Change]:
    """Markers by handle.

    Args:
        markers: Ascending in time.
        px_per_s: Pixels a second is wide.
    """
    groups: list[list[Marker]] = []
    for marker in markers:
        if groups and (marker.at_s - groups[-1][0].at_s) * px_per_s < _APART_PX:
            groups[-1].append(marker)
        else:
            groups.append([marker])
    return [Change(group[0].at_s, tuple(group)) for group in groups]


def paint_changes(
    painter: QPainter, geometry: Geometry, shown: Sequence[Change], palette: Palette
) -> None:
    """A dashed line for each, below a handle that says how many there are."""
    area = geometry.area
    line = QPen(QColor(mixed(palette.muted, palette.panel, 0.3)), 1.0, Qt.PenStyle.DashLine)
    metrics = QFontMetricsF(painter.font())
    for change in shown:
        x = geometry.x_of(change.time_s)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(line)
        painter.drawLine(QLineF(x, area.top(), x, area.bottom()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette.muted))
        painter.drawPolygon(_handle(x, area.top()))
        if len(change.markers) > 1:
            painter.setPen(QPen(QColor(palette.muted)))
            count = f"{len(change.markers)}"
            top = area.top() - metrics.height() + STEP_PX
            place = QRectF(x + STEP_PX, top, 1, metrics.height())
            place.setWidth(metrics.horizontalAdvance(count) + 1)
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft, count)


def _handle(x: float, bottom: float) -> QPolygonF:
    """A triangle that points at its line."""
    top = bottom - HANDLE_PX + 1
    return QPolygonF([QPointF(x - STEP_PX, top), QPointF(x + STEP_PX, top), QPointF(x, bottom)])
