"""Which line of a result chart is which: its mark and its name, in as many rows as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QLineF, QPointF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from resources.tokens import DARK, STEP_PX, Palette
from widgets.experiments.result_marks import draw_mark, line_pen
from widgets.experiments.result_sheet import Line
from widgets.plain_tip import plain_tip
from widgets.theme import set_role

_SWATCH_PX = 5 * STEP_PX
_GAP_PX = 4 * STEP_PX


class ResultLegend(QWidget):
    """Names of lines, from left to right and down."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty legend, which is not shown."""
        super().__init__(parent)
        self._lines: tuple[Line, ...] = ()
        self._colours = DARK
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        set_role(self, "hint")
        self.hide()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self.update()

    def set_lines(self, lines: Sequence[Line]) -> None:
        """Name these; one without a name needs no legend."""
        # While it is measured their points change, and nothing that is seen here.
        shown = tuple(replace(line, points=()) for line in lines)
        if shown != self._lines:
            self._lines = shown
            names = " · ".join(line.name for line in self._lines if line.name)
            self.setAccessibleName(f"Lines: {names}" if names else "")
            self.setToolTip(plain_tip(names.replace(" · ", "\n")))
            self.setVisible(bool(names))
            self.updateGeometry()
            self.update()

    def names(self) -> list[str]:
        """The names that are shown, in their order."""
        return [line.name for line in self._lines if line.name]

    def hasHeightForWidth(self) -> bool:
        """Names that do not fit beside each other stand below each other."""
        return True

    def heightForWidth(self, width: int) -> int:
        """As many rows as the names take."""
        rows = max((row for _, _, row, _ in self._places(width)), default=0) + 1
        return round(rows * (QFontMetricsF(self.font()).height() + STEP_PX / 2))

    def sizeHint(self) -> QSize:
        """For the width there is."""
        width = max(self.width(), 50 * STEP_PX)
        return QSize(50 * STEP_PX, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Long names are cut."""
        return QSize(20 * STEP_PX, round(QFontMetricsF(self.font()).height()))

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A piece of each line with its mark, and its name."""
        painter = QPainter(self)
        metrics = QFontMetricsF(self.font())
        each_px = metrics.height() + STEP_PX / 2
        ink = self.palette().windowText().color()
        for number, left, row, text in self._places(self.width()):
            line = self._lines[number]
            middle = row * each_px + metrics.height() / 2
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if line.is_joined or line.is_stepped:
                painter.setPen(line_pen(self._colours, number))
                painter.drawLine(QLineF(left, middle, left + _SWATCH_PX, middle))
            if line.has_marks:
                at = QPointF(left + _SWATCH_PX / 2, middle)
                draw_mark(painter, at, self._colours, number, is_hollow=False)
            painter.setPen(ink)
            baseline = row * each_px + metrics.ascent()
            painter.drawText(QPointF(left + _SWATCH_PX + STEP_PX, baseline), text)

    def _places(self, width: int) -> list[tuple[int, float, int, str]]:
        """For each name its line's number, its left edge, its row and what of it is shown."""
        metrics = QFontMetricsF(self.font())
        made, x, row = [], 0.0, 0
        for number, line in enumerate(self._lines):
            if not line.name:
                continue
            room = max(1.0, width - _SWATCH_PX - STEP_PX)
            text = metrics.elidedText(line.name, Qt.TextElideMode.ElideMiddle, room)
            taken = _SWATCH_PX + STEP_PX + metrics.horizontalAdvance(text)
            if x > 0 and x + taken > width:
                x, row = 0.0, row + 1
            made.append((number, x, row, text))
            x += taken + _GAP_PX
        return made
