"""To be written."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from resources.tokens import Palette


class CeilingPanel(QWidget):
    """To be written."""

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
