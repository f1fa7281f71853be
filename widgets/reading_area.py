"""Words read in less height than they take: scrolled with the keyboard, told as a document."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from resources.tokens import STEP_PX
from widgets.theme import set_role


class ReadingArea(QScrollArea):
    """Widgets below each other, none of which takes the keyboard."""

    accessible_role = QAccessible.Role.Document

    def __init__(self, name: str, *widgets: QWidget, parent: QWidget | None = None) -> None:
        """Show ``widgets`` under ``name``."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        set_role(self, "ringed")
        page = QWidget()
        page.setProperty("role", "scrolled")
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 2 * STEP_PX, 0)
        column.setSpacing(2 * STEP_PX)
        for widget in widgets:
            column.addWidget(widget)
        column.addStretch(1)
        self.setWidget(page)
