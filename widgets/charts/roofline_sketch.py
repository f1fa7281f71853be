"""What a roofline will look like, while there is nothing to draw: a sketch without any number."""

from __future__ import annotations

import math

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from resources.theme import mixed
from resources.tokens import DARK, STEP_PX, Palette
from widgets.theme import set_role, small_font

MEMORY, COMPUTE, PREFILL = "what memory delivers", "what compute delivers", "prompts"
# A lower plot has room for the words alone.
_LOWEST_PX = 50 * STEP_PX

# All in shares of the plot, from its lower left corner.
_LEFT, _CORNER, _RIGHT = (0.04, 0.3), (0.5, 0.84), (1.0, 0.84)
_DECODING = ((0.1, 0.24, "1 stream"), (0.2, 0.34, "2"), (0.3, 0.43, "4"))
_PREFILL = (0.8, 0.74)
_WORDS = QRectF(0.4, 0.06, 0.58, 0.46)
_RADIUS_PX = STEP_PX
# Between the grid and what is written: seen, and not taken for a measurement.
_INK_SHARE = 0.3


class RooflineSketch(QWidget):
    """Both roofs and some points, little stronger than a grid, and words below the roofs.

    Lies over the plot as long as that is empty; the mouse does not see it.
    """

    def __init__(self, text: str, parent: QWidget) -> None:
        """Say ``text``."""
        super().__init__(parent)
        self._colours = DARK
        self._words = QLabel(text, self)
        set_role(self._words, "hint")
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._words.setWordWrap(True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def text(self) -> str:
        """What it says."""
        return self._words.text()

    def setText(self, text: str) -> None:
        """Say ``text``."""
        if text != self._words.text():
            self._words.setText(text)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self.update()

    def words_place(self) -> QRectF:
        """Where the words stand: below the roofs, or in the middle where nothing is drawn."""
        area = QRectF(self.rect())
        if not self._has_room:
            return area.adjusted(2 * STEP_PX, 0, -2 * STEP_PX, 0)
        return QRectF(
            area.left() + _WORDS.left() * area.width(),
            area.bottom() - _WORDS.bottom() * area.height(),
            _WORDS.width() * area.width(),
            _WORDS.height() * area.height(),
        )

    @property
    def _has_room(self) -> bool:
        return self.height() >= _LOWEST_PX

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the words where they do not lie over the lines."""
        super().resizeEvent(event)
        self._words.setGeometry(self.words_place().toRect())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Lines, points, and what they stand for."""
        if not self._has_room:
            return
        painter = QPainter(self)
        painter.setFont(small_font(self.font()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _paint(painter, QRectF(self.rect()), self._colours)
        painter.end()


def _paint(painter: QPainter, area: QRectF, colours: Palette) -> None:
    ink = QColor(mixed(colours.line, colours.muted, _INK_SHARE))
    faint = QPen(ink, 2)
    memory = QLineF(_at(area, *_LEFT), _at(area, *_CORNER))
    painter.setPen(faint)
    painter.drawLine(memory)
    painter.drawLine(QLineF(_at(area, *_CORNER), _at(area, *_RIGHT)))
    points = [_at(area, x, y) for x, y, _ in _DECODING]
    painter.setPen(QPen(ink, 1))
    painter.drawPolyline(points)
    painter.setPen(faint)
    painter.setBrush(QColor(colours.panel))
    for point in points:
        painter.drawEllipse(point, _RADIUS_PX, _RADIUS_PX)
    prefill = _at(area, *_PREFILL)
    corners = ((0, -_RADIUS_PX), (_RADIUS_PX, 0), (0, _RADIUS_PX), (-_RADIUS_PX, 0))
    painter.drawPolygon([prefill + QPointF(x, y) for x, y in corners])
    painter.setPen(QColor(colours.muted))
    _write(painter, area, memory)


def _write(painter: QPainter, area: QRectF, memory: QLineF) -> None:
    """The words beside what is drawn."""
    metrics = QFontMetricsF(painter.font())
    flat = _at(area, *_CORNER)
    room = area.right() - flat.x() - 2 * STEP_PX
    shown = metrics.elidedText(COMPUTE, Qt.TextElideMode.ElideRight, room)
    painter.drawText(flat + QPointF(STEP_PX, -STEP_PX), shown)
    beside = QPointF(2 * STEP_PX, metrics.height())
    for x, y, text in _DECODING:
        painter.drawText(_at(area, x, y) + beside, text)
    painter.drawText(_at(area, *_PREFILL) + beside, PREFILL)
    # Along the roof, as its name will stand.
    angle = math.degrees(math.atan2(-memory.dy(), memory.dx()))
    if metrics.horizontalAdvance(MEMORY) + 4 * STEP_PX > memory.length():
        return
    painter.translate(memory.p1())
    painter.rotate(-angle)
    painter.drawText(QPointF(2 * STEP_PX, -STEP_PX), MEMORY)


def _at(area: QRectF, x: float, y: float) -> QPointF:
    return QPointF(area.left() + x * area.width(), area.bottom() - y * area.height())
