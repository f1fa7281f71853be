"""A label whose width is that of its widest text, whatever stands in it."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


class SteadyLabel(QLabel):
    """What is beside it stays where it is when the text changes.

    The width is measured whenever a layout asks. Measured once, it would be that of whichever font
    the label had by then: Qt styles what is folded away only when it is unfolded.
    """

    def __init__(self, widest: str, parent: QWidget | None = None) -> None:
        """Make an empty label with room for ``widest``."""
        super().__init__(parent)
        self._widest = widest
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        """As wide as the widest text."""
        self.ensurePolished()
        margins = self.contentsMargins()
        width = self.fontMetrics().horizontalAdvance(self._widest) + 2 * self.margin()
        return QSize(width + margins.left() + margins.right(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """No narrower than that."""
        return QSize(self.sizeHint().width(), super().minimumSizeHint().height())
