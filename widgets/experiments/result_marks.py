"""How the lines of a result chart are told apart: colour, dashes and shape of points together."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from resources.tokens import STEP_PX, Palette
from widgets.charts.brush import CORNERS
from widgets.charts.picture import Mark

RADIUS_PX = STEP_PX
_SHAPES: tuple[Mark, ...] = ("circle", "square", "triangle", "diamond", "triangle down", "star")
_DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)
_LINE_PX = 1.5
# Corners of a star lie farther out than its radius, and have a line around them.
_STAMP_SHARE = 2


def colour_of(palette: Palette, number: int) -> str:
    """Of the line of that number."""
    return palette.streams[number % len(palette.streams)]


def line_pen(palette: Palette, number: int) -> QPen:
    """For the line of that number."""
    return QPen(QColor(colour_of(palette, number)), _LINE_PX, _DASHES[number % len(_DASHES)])


def draw_mark(
    painter: QPainter, at: QPointF, palette: Palette, number: int, *, is_hollow: bool
) -> None:
    """A point of the line of that number, filled or as an outline."""
    colour = QColor(colour_of(palette, number))
    painter.setPen(QPen(colour, _LINE_PX))
    painter.setBrush(QColor(palette.panel) if is_hollow else colour)
    # After all colours were used the shapes go on with the next, so that pairs stay unlike.
    shape = _SHAPES[(number + number // len(palette.streams)) % len(_SHAPES)]
    if shape not in CORNERS:
        painter.drawEllipse(at, RADIUS_PX, RADIUS_PX)
        return
    painter.drawPolygon(
        QPolygonF(
            [
                at
                + QPointF(
                    RADIUS_PX * size * math.cos(math.tau * turn),
                    -RADIUS_PX * size * math.sin(math.tau * turn),
                )
                for turn, size in CORNERS[shape]
            ]
        )
    )


def stamp(
    palette: Palette, number: int, *, is_hollow: bool, pixel_ratio: float
) -> tuple[QPixmap, QPointF]:
    """The same as a picture to be painted many times, and the way from its corner to its middle.

    Painting hundreds of shapes takes ten times as long as painting pictures of them.

    Args:
        palette: Colours.
        number: Of the line.
        is_hollow: Whether it is an outline.
        pixel_ratio: Of the screen or picture that it is for.
    """
    half = round(_STAMP_SHARE * RADIUS_PX)
    picture = QPixmap(QSize(2 * half, 2 * half) * pixel_ratio)
    picture.setDevicePixelRatio(pixel_ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    middle = QPointF(half, half)
    draw_mark(painter, middle, palette, number, is_hollow=is_hollow)
    painter.end()
    return picture, middle
