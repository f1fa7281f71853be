"""A muted line of entries, each with a swatch of its series' colour where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.theme import set_role

_SWATCH_PX = 2 * STEP_PX
_GAP_PX = 2 * STEP_PX


@dataclass(frozen=True)
class Entry:
    """One entry of a legend.

    Attributes:
        text: Its words.
        colour: Of its swatch, ``#RRGGBB``; None for none.
        ink: Of its words where they are not muted, ``#RRGGBB``.
    """

    text: str
    colour: str | None = None
    ink: str | None = None


class LegendLine(QWidget):
    """One line; what does not fit ends in an ellipsis and stands in the tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty line."""
        super().__init__(parent)
        self._entries: tuple[Entry, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        set_role(self, "hint")

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Show ``entries``."""
        if tuple(entries) == self._entries:
            return
        self._entries = tuple(entries)
        self.setAccessibleName(self.text())
        self.setToolTip(self.text())
        self.update()

    def text(self) -> str:
        """The entries as plain text."""
        return " · ".join(entry.text for entry in self._entries)

    def sizeHint(self) -> QSize:
        """One line of text, as wide as there is room."""
        return QSize(40 * STEP_PX, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Swatches and words from the left."""
        painter = QPainter(self)
        muted = self.palette().windowText().color()
        metrics, x = self.fontMetrics(), 0
        for entry in self._entries:
            if entry.colour is not None:
                top = (self.height() - _SWATCH_PX) / 2
                swatch = QRectF(x, top, _SWATCH_PX, _SWATCH_PX)
                painter.fillRect(swatch, QColor(entry.colour))
                x += _SWATCH_PX + STEP_PX
            painter.setPen(QColor(entry.ink) if entry.ink else muted)
            room = max(0, self.width() - x)
            shown = metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, room)
            area = QRectF(x, 0, room, self.height())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, shown)
            x += metrics.horizontalAdvance(entry.text) + _GAP_PX
            if shown != entry.text:
                break

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
