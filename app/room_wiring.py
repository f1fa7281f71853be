"""To be written."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk import Desk
from widgets.room_panel import RoomPanel


class RoomWiring(QObject):
    """To be written."""

    def __init__(self, desk: Desk, panel: RoomPanel, parent: QObject) -> None:
        """Follow ``desk``."""
        super().__init__(parent)
        self._desk = desk
        self._panel = panel
