"""A panel: a surface of its own with the usual room at its edges."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX
from widgets.theme import set_role


def new_panel() -> tuple[QFrame, QVBoxLayout]:
    """An empty panel, and the column that what stands in it is added to."""
    panel = QFrame()
    set_role(panel, "panel")
    column = QVBoxLayout(panel)
    column.setContentsMargins(*(PANEL_PADDING_PX,) * 4)
    column.setSpacing(PANEL_GAP_PX)
    return panel, column
