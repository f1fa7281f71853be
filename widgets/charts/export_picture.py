"""Charts as a picture (PNG) or a drawing (SVG), made on any thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QImageWriter, QPainter, QPen
from PySide6.QtSvg import QSvgGenerator

from resources.tokens import PANEL_PADDING_PX, STEP_PX, Palette
from widgets.charts.axes import Axes, label_room, plot_area
from widgets.charts.brush import DOT_PX, Brush
from widgets.charts.geometry import HEADROOM, Geometry
from widgets.charts.marks import changes, paint_changes
from widgets.charts.scale import ticks
from widgets.charts.sheet import Sheet, stretch_text
from widgets.theme import small_font

# Of a picture, in device-independent pixels: fits a page and a slide.
_WIDTH_PX, _PLOT_PX = 200 * STEP_PX, 50 * STEP_PX
_SCALE = 2
_DOTS_PER_INCH = 96

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Look:
    """How a file looks: as the window does.

    Attributes:
        palette: Colours.
        font: The window's font.
    """

    palette: Palette
    font: QFont


def png_bytes(sheets: Sequence[Sheet], look: Look) -> bytes:
    """Charts below each other as a PNG, twice as fine as a plain screen."""
    page = _Page(sheets, look)
    image = QImage(page.size() * _SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_SCALE)
    painter = QPainter(image)
    page.paint(painter)
    painter.end()
    buffer = _Memory()
    QImageWriter(buffer.device, QByteArray(b"PNG")).write(image)
    return buffer.content()


def svg_bytes(sheets: Sequence[Sheet], look: Look) -> bytes:
    """Charts below each other as an SVG."""
    page = _Page(sheets, look)
    buffer = _Memory()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer.device)
    generator.setResolution(_DOTS_PER_INCH)
    generator.setSize(page.size())
    generator.setViewBox(QRectF(QPointF(), page.size().toSizeF()))
    generator.setTitle(", ".join(sheet.title for sheet in sheets))
    generator.setDescription(stretch_text(sheets[0].timeline) if sheets else "")
    painter = QPainter(generator)
    page.paint(painter)
    painter.end()
    return buffer.content()


class _Memory:
    """Bytes that Qt writes."""

    def __init__(self) -> None:
        self._bytes = QByteArray()
        self.device = QBuffer(self._bytes)
        self.device.open(QIODevice.OpenModeFlag.WriteOnly)

    def content(self) -> bytes:
        """All that was written."""
        self.device.close()
        return bytes(self._bytes.data())


class _Page:
    """Where everything stands."""

    def __init__(self, sheets: Sequence[Sheet], look: Look) -> None:
        # Files are read on another day: the time of day, not seconds before now.
        self._sheets = [
            replace(sheet, timeline=replace(sheet.timeline, is_following=False)) for sheet in sheets
        ]
        self._palette = look.palette
        self._font, self._small = look.font, small_font(look.font)
        self._heading = QFont(look.font)
        self._heading.setBold(True)
        self._row_px = round(QFontMetricsF(look.font).height()) + STEP_PX
        self._small_row_px = round(QFontMetricsF(self._small).height()) + STEP_PX // 2
        self._width_px = _WIDTH_PX - 2 * PANEL_PADDING_PX

    def size(self) -> QSize:
        """Of the whole page."""
        charts = sum(self._height_of(sheet) for sheet in self._sheets)
        below = self._small_row_px * (1 + len(self._change_lines()))
        return QSize(_WIDTH_PX, charts + below + 2 * PANEL_PADDING_PX)

    def paint(self, painter: QPainter) -> None:
        """Everything, from the top."""
        painter.fillRect(QRectF(QPointF(), self.size().toSizeF()), QColor(self._palette.panel))
        painter.translate(PANEL_PADDING_PX, PANEL_PADDING_PX)
        for sheet in self._sheets:
            self._paint_sheet(painter, sheet)
            painter.translate(0, self._height_of(sheet))
        painter.setFont(self._small)
        painter.setPen(QColor(self._palette.muted))
        when = stretch_text(self._sheets[0].timeline) if self._sheets else ""
        for number, line in enumerate((f"TuneDeck · {when}", *self._change_lines())):
            top = number * self._small_row_px
            painter.drawText(QRectF(0, top, self._width_px, self._small_row_px), _LEFT, line)

    def _height_of(self, sheet: Sheet) -> int:
        legend = self._small_row_px * len(self._legend_rows(sheet))
        return self._row_px + self._small_row_px + legend + _PLOT_PX + 2 * STEP_PX

    def _change_lines(self) -> list[str]:
        if not self._sheets:
            return []
        timeline = self._sheets[0].timeline
        return [
            f"{timeline.day(marker.at_s):%H:%M:%S} · {' · '.join(marker.text.splitlines())}"
            for marker in self._sheets[0].markers
        ]

    def _paint_sheet(self, painter: QPainter, sheet: Sheet) -> None:
        row = QRectF(0, 0, self._width_px, self._row_px)
        painter.setFont(self._heading)
        painter.setPen(QColor(self._palette.text))
        painter.drawText(row, _LEFT, f"{sheet.title}, {sheet.unit.name}")
        painter.drawText(row, _RIGHT, sheet.value)
        painter.setFont(self._small)
        painter.setPen(QColor(self._palette.muted))
        top = float(self._row_px)
        painter.drawText(QRectF(0, top, self._width_px, self._small_row_px), _LEFT, sheet.note)
        for entries in self._legend_rows(sheet):
            top += self._small_row_px
            self._paint_legend(painter, entries, top)
        top += self._small_row_px
        painter.save()
        painter.translate(0, top)
        self._paint_plot(painter, sheet)
        painter.restore()

    def _paint_plot(self, painter: QPainter, sheet: Sheet) -> None:
        metrics = QFontMetricsF(self._small)
        area = plot_area(QRectF(0, 0, self._width_px, _PLOT_PX), metrics, has_labels=True)
        geometry = Geometry(area, sheet.timeline.length_s, sheet.unit.per_value / sheet.axis_top)
        room = label_room(metrics, area.width(), is_relative=False)
        axes = Axes(tuple(ticks(sheet.axis_top)), tuple(sheet.timeline.labels(room)))
        painter.setFont(self._small)
        axes.paint(painter, geometry, self._palette)
        paint_changes(painter, geometry, changes(sheet.markers, geometry.px_per_s), self._palette)
        Brush(painter, geometry, is_exact=True).picture(sheet.picture)

    def _legend_rows(self, sheet: Sheet) -> list[list[tuple[str, str, float]]]:
        """Names with their colours and places, in as many rows as they need."""
        metrics = QFontMetricsF(self._small)
        named = [(series.name, series.colour) for series in sheet.picture.named()]
        top = HEADROOM * sheet.axis_top / sheet.unit.per_value
        across = sheet.picture.lines_across
        named += [(level.name, level.colour) for level in across if level.value <= top]
        rows: list[list[tuple[str, str, float]]] = []
        left = float(self._width_px)
        for name, colour in named:
            width = DOT_PX + 4 * STEP_PX + metrics.horizontalAdvance(name)
            if left + width > self._width_px:
                rows.append([])
                left = 0.0
            rows[-1].append((name, colour, left))
            left += width
        return rows

    def _paint_legend(
        self, painter: QPainter, entries: Sequence[tuple[str, str, float]], top: float
    ) -> None:
        for name, colour, left in entries:
            middle = top + self._small_row_px / 2
            swatch = QRectF(left, middle - DOT_PX / 2, DOT_PX, DOT_PX)
            painter.fillRect(swatch, QColor(colour))
            painter.setPen(QPen(QColor(self._palette.muted)))
            words = QRectF(left + DOT_PX + STEP_PX, top, self._width_px, self._small_row_px)
            painter.drawText(words, _LEFT, name)
