"""How large a dialog opens that stands beside the window and goes on with it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

# Something of the window is seen around it.
_SHARE = 0.94


def fit_dialog(dialog: QDialog, window: QWidget, wanted_px: tuple[int, int]) -> None:
    """Size a dialog that has none yet; what a person made of it is left alone.

    Args:
        dialog: Not smaller than its minimum size.
        window: Whom it stands before; it takes at most 94 % of that.
        wanted_px: Width and height where there is room.
    """
    if dialog.testAttribute(Qt.WidgetAttribute.WA_Resized):
        return
    width, height = wanted_px
    dialog.resize(
        min(width, round(_SHARE * window.width())), min(height, round(_SHARE * window.height()))
    )
