"""The pages of the live column, and what feeds those beside the charts."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.ceiling_wiring import CeilingWiring
from app.desk import Desk
from app.prediction_wiring import PredictionWiring
from app.room_wiring import RoomWiring
from resources.tokens import Palette
from widgets.ceiling_panel import CeilingPanel
from widgets.live_pages import LivePages
from widgets.live_panel import LivePanel
from widgets.room_panel import RoomPanel
from widgets.tall_page import TallPage


class Gauges(QObject):
    """Charts over time, how far the machine is from its limits, and what memory still holds."""

    def __init__(self, desk: Desk, live: LivePanel, parent: QObject) -> None:
        """Put ``live`` in front of the pages that follow ``desk``."""
        super().__init__(parent)
        self.ceiling = CeilingPanel()
        self.room = RoomPanel()
        charts = TallPage(live)
        self.pages = LivePages((("Charts", charts), ("Ceiling", self.ceiling), ("Room", self.room)))
        self.ceiling_wiring = CeilingWiring(desk, self.ceiling, self)
        self.room_wiring = RoomWiring(desk, self.room, self)
        self.prediction_wiring = PredictionWiring(desk, self)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.ceiling.set_palette(palette)
        self.room.set_palette(palette)
