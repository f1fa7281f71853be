"""A label whose text changes many times a second without moving, or measuring, anything else.

Qt lays out a whole window anew whenever a label in it says something else, however little room that
takes: with docks some milliseconds each time, and what lies around the label is painted again.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QWidget

_UNKNOWN = QSize()


class CalmLabel(QLabel):
    """One line that asks for another layout only where its text takes other room."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        """Show ``text``."""
        super().__init__(parent)
        self._room = _UNKNOWN
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show another text."""
        if text == self.text():
            return
        super().setText(text)
        self._take_room()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._take_room()

    def showEvent(self, event: QShowEvent) -> None:
        """Measure again: Qt styles some widgets only now."""
        super().showEvent(event)
        self._take_room()

    def _take_room(self) -> None:
        self.ensurePolished()
        # Of its own hint Qt makes no less than the least size that it was given before.
        metrics, margins = self.fontMetrics(), self.contentsMargins()
        beside = 2 * self.margin()
        room = QSize(
            metrics.horizontalAdvance(self.text()) + 1 + margins.left() + margins.right() + beside,
            metrics.lineSpacing() + margins.top() + margins.bottom() + beside,
        )
        if room != self._room:
            self._room = room
            # Of a size that nothing can change Qt asks no layout.
            self.setFixedSize(room)
