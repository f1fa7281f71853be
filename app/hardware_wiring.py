"""From the sampler to the live column: the boards, and how much the processor has left."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk import Desk
from widgets.live_panel import LivePanel


class HardwareWiring(QObject):
    """Tells the live column what was read of the hardware."""

    def __init__(self, desk: Desk, live: LivePanel, parent: QObject) -> None:
        """Follow ``desk``."""
        super().__init__(parent)
        self._desk = desk
        self._live = live
        desk.hardware_measured.connect(self._on_hardware_measured)

    def _on_hardware_measured(self, _: object) -> None:
        self._live.boards.set_boards(self._desk.boards)
        idle = self._desk.idle_cores
        if idle is not None:
            self._live.note_idle_cores(idle)
