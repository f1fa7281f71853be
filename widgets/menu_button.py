"""A push button with a menu, its arrow flush right."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter, QWidget

from resources.tokens import DARK, STEP_PX, Palette
from widgets.theme import icon

_ARROW_PX = 3 * STEP_PX


class MenuButton(QPushButton):
    """Opens its menu when pressed; the stylesheet's padding has to leave room for the arrow."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a button without text or menu."""
        super().__init__(parent)
        self.set_palette(DARK)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours for the arrow."""
        self._arrow = icon("chevron-down", palette.muted, _ARROW_PX)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as a button without a menu: with one, Qt's stylesheets forget the padding."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.features &= ~QStyleOptionButton.ButtonFeature.HasMenu
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        left = self.width() - _ARROW_PX - self.arrow_margin_px()
        top = (self.height() - _ARROW_PX) // 2
        self._arrow.paint(painter, QRect(left, top, _ARROW_PX, _ARROW_PX))

    def arrow_margin_px(self) -> int:
        """Room between the arrow and the right edge."""
        return 2 * STEP_PX
