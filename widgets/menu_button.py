"""A push button with a menu, its arrow flush right."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QCursor, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QMenu,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from resources.tokens import DARK, STEP_PX, Palette
from widgets.theme import icon

# The arrow's size by the height of a line of the button's type.
_ARROW_SHARE = 0.75
# No larger than the stylesheet leaves room for.
_ARROW_LEAST_PX, _ARROW_MOST_PX = 3 * STEP_PX, 4 * STEP_PX


def forget_hover_after(menu: QMenu, button: QAbstractButton) -> None:
    """Let ``button`` look calm again once its ``menu`` is closed with the pointer elsewhere.

    While a menu is open Qt tells no other widget that the pointer has left it.
    """

    def look_again() -> None:
        is_over = button.rect().contains(button.mapFromGlobal(QCursor.pos()))
        button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, is_over)
        button.update()

    menu.aboutToHide.connect(look_again)


class MenuButton(QPushButton):
    """Opens its menu when pressed; the stylesheet's padding has to leave room for the arrow."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a button without text or menu."""
        self._colours = DARK  # before Qt tells of a change of the font
        super().__init__(parent)
        self.set_palette(DARK)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours for the arrow."""
        self._colours = palette
        self._arrow = icon("chevron-down", palette.muted, self._arrow_px())
        self.update()

    def setMenu(self, menu: QMenu) -> None:
        """Open ``menu`` when pressed."""
        super().setMenu(menu)
        forget_hover_after(menu, self)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as a button without a menu: with one, Qt's stylesheets forget the padding."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.features &= ~QStyleOptionButton.ButtonFeature.HasMenu
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        size = self._arrow_px()
        left = self.width() - size - self.arrow_margin_px()
        top = (self.height() - size) // 2
        self._arrow.paint(painter, QRect(left, top, size, size))

    def changeEvent(self, event: QEvent) -> None:
        """Larger type, larger arrow."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.set_palette(self._colours)

    def _arrow_px(self) -> int:
        wanted = round(self.fontMetrics().height() * _ARROW_SHARE)
        return max(_ARROW_LEAST_PX, min(wanted, _ARROW_MOST_PX))

    def arrow_margin_px(self) -> int:
        """Room between the arrow and the right edge."""
        return 2 * STEP_PX
