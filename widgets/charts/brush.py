"""Paints a picture between its axes, on a screen or into a file.

Thin lines are Qt's fastest by far (0.05 ms for 400 points, 1.3 ms for a line one and a half pixels
wide), so on a screen a wider line is several thin ones side by side; files get true ones.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QByteArray, QDataStream, QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from resources.tokens import STEP_PX
from widgets.charts.geometry import EDGE, HEADROOM, Geometry
from widgets.charts.line import Floats, cropped, runs, strokes
from widgets.charts.picture import Level, Mark, Picture, Series, Spike

DOT_PX = 2 * STEP_PX
"""Size of a dot that stands for one event."""

CORNERS: dict[Mark, tuple[tuple[float, float], ...]] = {
    "square": tuple((turn / 8, 1.15) for turn in (1, 3, 5, 7)),
    "triangle": tuple((turn / 12, 1.25) for turn in (3, 7, 11)),
    "triangle down": tuple((turn / 12, 1.25) for turn in (9, 1, 5)),
    "diamond": tuple((turn / 4, 1.25) for turn in range(4)),
    "star": tuple(((turn + 2.5) / 10, 1.35 if turn % 2 == 0 else 0.6) for turn in range(10)),
}
"""Corners of the marks on a circle of radius 1, by angle in turns and radius; a circle has none."""

# How much thicker a line is with its seam.
_SEAM_PX = 3.0
_ELEMENT = np.dtype([("kind", ">i4"), ("x", ">f8"), ("y", ">f8")])


def polygon(x: Floats, y: Floats) -> QPolygonF:
    """Points for Qt by way of its own data format: ten times as fast as one by one."""
    points = np.empty((x.size, 2), dtype=">f8")
    points[:, 0], points[:, 1] = x, y
    result = QPolygonF()
    QDataStream(QByteArray(struct.pack(">I", x.size) + points.tobytes())) >> result
    return result


def pen_path(x: Floats, y: Floats) -> QPainterPath:
    """A line with its gaps, for Qt; as ``polygon``, by way of its data format."""
    is_lifted, x, y = strokes(x, y)
    elements = np.empty(x.size, dtype=_ELEMENT)
    elements["kind"] = ~is_lifted  # 0 moves to, 1 draws to
    elements["x"], elements["y"] = x, y
    path = QPainterPath()
    if x.size:
        content = struct.pack(">i", x.size) + elements.tobytes() + struct.pack(">ii", 0, 0)
        QDataStream(QByteArray(content)) >> path
    return path


class Brush:
    """Paints with one painter into one geometry."""

    def __init__(self, painter: QPainter, geometry: Geometry, is_exact: bool = False) -> None:
        """Paint with ``painter``.

        Args:
            painter: An active painter.
            geometry: Where times and values lie.
            is_exact: Whether lines have their true width; slower, and what a file wants.
        """
        self._painter = painter
        self._geometry = geometry
        self._is_exact = is_exact

    def picture(self, picture: Picture) -> None:
        """Paint everything inside the axes; nothing outside of them is touched."""
        self._painter.save()
        self._painter.setClipRect(self._geometry.area.adjusted(0, 0, DOT_PX / 2, DOT_PX / 2))
        self._bands([series for series in picture.series if series.look == "area"])
        lines = [series for series in picture.series if series.look == "line"]
        if picture.limit is not None:
            for series in lines:
                if series.is_judged:
                    self._line_above(series, picture.limit)
        for series in lines:
            self._line(series)
        for series in picture.series:
            if series.look == "dots":
                self._dots(series, picture.limit if series.is_judged else None)
            elif series.mark:
                self._end(series)
        self._levels(picture.lines_across)
        self._spikes(picture.spikes)
        self._painter.restore()

    def mark(self, shape: Mark, x: float, y: float, colour: str) -> None:
        """One mark, ``DOT_PX`` wide."""
        self._ink(colour)
        radius = DOT_PX / 2
        if shape not in CORNERS:
            self._painter.drawEllipse(QPointF(x, y), radius, radius)
            return
        self._painter.drawPolygon(
            [
                QPointF(
                    x + radius * size * math.cos(math.tau * turn),
                    y - radius * size * math.sin(math.tau * turn),
                )
                for turn, size in CORNERS[shape]
            ]
        )

    def _ink(self, colour: str) -> None:
        """Filled shapes in one colour from here on."""
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(QColor(colour))

    def _bands(self, bands: Sequence[Series]) -> None:
        """Series stacked on each other; one whose values are 0 all along is left out."""
        if not bands:
            return
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._painter.setPen(Qt.PenStyle.NoPen)
        below = np.zeros_like(bands[0].values)
        for band in bands:
            with np.errstate(all="ignore"):  # a sum beyond all numbers is a gap
                above = below + band.values
            if np.any(band.values != 0):
                self._painter.setBrush(QColor(band.colour))
                self._band(band.times_s, below, above)
            below = above

    def _band(self, times_s: Floats, below: Floats, above: Floats) -> None:
        geometry = self._geometry
        times, tops = cropped(times_s, above, geometry.length_s)
        _, bottoms = cropped(times_s, below, geometry.length_s)
        x, upper, lower = geometry.x(times), geometry.y(tops), geometry.y(bottoms)
        # Where the upper edge has a gap the lower one must have it too, to pair them.
        lower = np.where(np.isfinite(upper), lower, np.nan)
        for (run_x, run_top), (_, run_low) in zip(runs(x, upper), runs(x, lower), strict=False):
            outline_x = np.concatenate((run_x, run_x[::-1]))
            outline_y = np.concatenate((run_top, run_low[::-1]))
            self._painter.drawPolygon(polygon(outline_x, outline_y))

    def _line(self, series: Series) -> None:
        geometry = self._geometry
        times, values = cropped(series.times_s, series.values, geometry.length_s)
        path = pen_path(geometry.x(times), geometry.y(values))
        style = Qt.PenStyle.SolidLine
        if series.is_broken or series.is_dotted:
            style = Qt.PenStyle.DashLine if series.is_broken else Qt.PenStyle.DotLine
        self._stroke(path, series.colour, series.width_px, style)

    def _line_above(self, series: Series, limit: Level) -> None:
        """A seam below what of a line is above the limit, so that it is thicker there."""
        geometry = self._geometry
        times, values = cropped(series.times_s, series.values, geometry.length_s)
        is_above = values > limit.value
        if not is_above.any():
            return
        # With the neighbours, so that the seam begins where the line crosses the limit.
        is_near = is_above.copy()
        is_near[1:] |= is_above[:-1]
        is_near[:-1] |= is_above[1:]
        shown = np.where(is_near, np.maximum(values, limit.value), np.nan)
        path = pen_path(geometry.x(times), geometry.y(shown))
        width_px = series.width_px + _SEAM_PX
        self._stroke(path, limit.colour, width_px, Qt.PenStyle.SolidLine)

    def _stroke(self, path: QPainterPath, colour: str, width_px: float, style: Qt.PenStyle) -> None:
        painter = self._painter
        # Dots that lie between two pixels would be pale.
        is_dotted = style is Qt.PenStyle.DotLine
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._is_exact or not is_dotted)
        pen = QPen(QColor(colour), width_px if self._is_exact else 1.0, style)
        pen.setCosmetic(not self._is_exact)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        ratio = painter.device().devicePixelRatioF()
        thick = 1 if self._is_exact else max(1, math.ceil(width_px * ratio))
        for number in range(thick):
            painter.save()
            painter.translate(0, (number - (thick - 1) / 2) / (2 * ratio if thick == 2 else ratio))
            painter.drawPath(path)
            painter.restore()

    def _dots(self, series: Series, limit: Level | None) -> None:
        """A circle for each value, and above the limit a triangle in its colour."""
        is_shown = (series.times_s >= -self._geometry.length_s) & (series.times_s <= 0)
        is_shown &= np.isfinite(series.values)
        is_above = np.zeros_like(is_shown) if limit is None else series.values > limit.value
        self._ink(series.colour)
        for column, row in self._places(series, is_shown & ~is_above):
            self._painter.drawEllipse(QPointF(column, row), DOT_PX / 2, DOT_PX / 2)
        if limit is not None:
            for column, row in self._places(series, is_shown & is_above):
                self.mark("triangle", column, row, limit.colour)

    def _places(self, series: Series, is_shown: npt.NDArray[np.bool_]) -> list[list[float]]:
        """Columns and rows of values; values on the same pixel are one."""
        if not is_shown.any():
            return []
        geometry = self._geometry
        x, y = geometry.x(series.times_s[is_shown]), geometry.y(series.values[is_shown])
        places: list[list[float]] = np.unique(np.stack([x, y]).round(), axis=1).T.tolist()
        return places

    def _end(self, series: Series) -> None:
        """The mark at the newest value."""
        is_shown = np.isfinite(series.values) & (series.times_s <= 0)
        places = np.flatnonzero(is_shown & (series.times_s >= -self._geometry.length_s))
        if places.size:
            last = places[-1:]
            x = float(self._geometry.x(series.times_s[last])[0])
            self.mark(
                series.mark, x, float(self._geometry.y(series.values[last])[0]), series.colour
            )

    def _levels(self, levels: Sequence[Level]) -> None:
        area = self._geometry.area
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for level in levels:
            share = level.value * self._geometry.share_per_value
            if 0 <= share <= HEADROOM:
                pen = QPen(QColor(level.colour), 1.0, Qt.PenStyle.DotLine)
                pen.setCosmetic(not self._is_exact)
                self._painter.setPen(pen)
                y = self._geometry.y_of(share)
                self._painter.drawLine(QLineF(area.left(), y, area.right(), y))

    def _spikes(self, spikes: Sequence[Spike]) -> None:
        """What lies beyond the axis, told below the edge along which its line runs."""
        metrics = QFontMetricsF(self._painter.font())
        for place, text, spike in spike_places(spikes, self._geometry, metrics):
            self._painter.fillRect(place, QColor(spike.ground))
            self._painter.setPen(QColor(spike.colour))
            self._painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)


def spike_places(
    spikes: Sequence[Spike], geometry: Geometry, metrics: QFontMetricsF
) -> list[tuple[QRectF, str, Spike]]:
    """Where each spike beyond the axis is told, and how; what one before it would hide is not.

    Args:
        spikes: The most telling first.
        geometry: Where times and values lie.
        metrics: Of the type.
    """
    begin_s = -geometry.length_s
    beyond = [s for s in spikes if s.value > geometry.edge_value and begin_s <= s.time_s <= 0]
    columns = [geometry.x_of(spike.time_s) for spike in beyond]
    found: list[tuple[QRectF, str, Spike]] = []
    for spike, column in zip(beyond, columns, strict=True):
        text = f"↑ {spike.text}"
        size = QSizeF(metrics.horizontalAdvance(text) + STEP_PX, metrics.height())
        free = [
            place
            for place in _beside(column, size, geometry)
            if not any(place.intersects(other) for other, _, _ in found)
        ]
        # Where there is a choice, not over the line of another one.
        free.sort(key=lambda place: sum(place.left() <= x <= place.right() for x in columns))
        if free:
            found.append((free[0], text, spike))
    return found


def _beside(column: float, size: QSizeF, geometry: Geometry) -> list[QRectF]:
    """Places for words right and left of a column, as far as they are in the plot."""
    area, top = geometry.area, geometry.y_of(EDGE) + 2
    lefts = (column + STEP_PX, column - STEP_PX - size.width())
    places = [QRectF(QPointF(left, top), size) for left in lefts]
    return [place for place in places if area.left() <= place.left() <= area.right() - size.width()]
