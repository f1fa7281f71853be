"""What memory still holds: what fits, what the slots hold, and memory by use."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from resources.tokens import LIVE_WIDTH_PX, PANEL_GAP_PX, Palette
from widgets.fits_view import FitsView
from widgets.memory_table_view import MemoryTableView
from widgets.slots_view import SlotsView
from widgets.theme import set_role


class RoomPanel(QWidget):
    """Three panels, one below the other; what does not fit is scrolled.

    Signals:
        seen_changed: Whether it can be seen now (bool).
    """

    seen_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a page without figures."""
        super().__init__(parent)
        self.fits = FitsView()
        self.slots = SlotsView()
        self.memory = MemoryTableView()
        page = QWidget()
        page.setProperty("role", "scrolled")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(PANEL_GAP_PX)
        for panel in (self.fits, self.slots, self.memory):
            inner.addWidget(panel)
        inner.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidget(page)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setAccessibleName("What fits, slots, and memory by use")
        set_role(self.area, "ringed")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.area)
        self.setAccessibleName("Room")

    @property
    def is_seen(self) -> bool:
        """Whether anybody can see it."""
        return self.isVisible() and not self.window().isMinimized()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.slots.set_palette(palette)

    def sizeHint(self) -> QSize:
        """As wide as the live column is meant to be."""
        return QSize(LIVE_WIDTH_PX, super().sizeHint().height())

    def showEvent(self, event: QShowEvent) -> None:
        """Somebody looks."""
        super().showEvent(event)
        self.seen_changed.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks any more."""
        super().hideEvent(event)
        self.seen_changed.emit(False)
