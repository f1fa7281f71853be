"""Puts text and panels on a picture: one type, sizes by role, nothing beyond its place."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPainter, QPen

from resources.card_tokens import LINE_PX, RADIUS_PX
from resources.tokens import Palette

LEFT = Qt.AlignmentFlag.AlignLeft
RIGHT = Qt.AlignmentFlag.AlignRight
CENTRE = Qt.AlignmentFlag.AlignHCenter


class CardPainter:
    """A painter with the colours and the type of a card."""

    def __init__(self, painter: QPainter, palette: Palette) -> None:
        """Paint with ``painter``, which stays open, in the colours of ``palette``."""
        self.painter = painter
        self.palette = palette
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing
        )

    def text(
        self,
        place: QRectF,
        words: str,
        size_px: int,
        colour: str,
        *,
        is_bold: bool = False,
        align: Qt.AlignmentFlag = LEFT,
    ) -> float:
        """Write ``words`` on one line in the middle of the height of ``place``.

        Args:
            place: What does not fit into its width ends in an ellipsis.
            words: Plain text.
            size_px: Height of the type.
            colour: ``#RRGGBB``.
            is_bold: Values and headings.
            align: Within the width.

        Returns:
            Width of what was written, px.
        """
        font = _font(size_px, is_bold)
        metrics = QFontMetricsF(font)
        line = " ".join(words.split())
        shown = metrics.elidedText(line, Qt.TextElideMode.ElideRight, place.width())
        self.painter.setFont(font)
        self.painter.setPen(QColor(colour))
        self.painter.drawText(place, align | Qt.AlignmentFlag.AlignVCenter, shown)
        return metrics.horizontalAdvance(shown)

    def width(self, words: str, size_px: int, *, is_bold: bool = False) -> float:
        """Width of ``words``, px."""
        return QFontMetricsF(_font(size_px, is_bold)).horizontalAdvance(words)

    def panel(self, place: QRectF) -> None:
        """A surface with a border."""
        # A line in the middle of pixels is sharp.
        inner = place.adjusted(0.5, 0.5, -0.5, -0.5)
        self.painter.setPen(QPen(QColor(self.palette.line), 1))
        self.painter.setBrush(QColor(self.palette.panel))
        self.painter.drawRoundedRect(inner, RADIUS_PX, RADIUS_PX)

    def fill(self, place: QRectF, colour: str, radius_px: float) -> None:
        """A shape without a border."""
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(QColor(colour))
        radius = min(radius_px, place.width() / 2, place.height() / 2)
        self.painter.drawRoundedRect(place, radius, radius)

    def stroke(self, x1: float, y1: float, x2: float, y2: float, colour: str) -> None:
        """A straight line."""
        self.painter.setPen(QPen(QColor(colour), LINE_PX))
        self.painter.drawLine(QPointF(x1, y1), QPointF(x2, y2))


def _font(size_px: int, is_bold: bool) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(size_px)
    font.setWeight(QFont.Weight.DemiBold if is_bold else QFont.Weight.Normal)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font
