"""The thin strip by which a panel is taken and moved.

While docked it lies in the gap above its panel and shows a short line only; a panel that floats has
no frame of the system, so there it also shows the panel's name.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QContextMenuEvent,
    QEnterEvent,
    QFocusEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from resources.tokens import DARK, PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.theme import small_font

_LINE_PX = 6 * STEP_PX
_THICKNESS_PX = STEP_PX // 2
_MENU_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Menu}
_TIP = "Drag to move this panel; double click to let it float; right click or Enter for more"


class DockGrip(QWidget):
    """Title bar of a dock; Qt moves the dock by the mouse events that are not taken here.

    Signals:
        menu_requested: Its menu is wanted, at this place (global ``QPoint``).
    """

    menu_requested = Signal(QPoint)

    accessible_role = QAccessible.Role.ButtonMenu

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        """Make the grip of the panel ``title``."""
        super().__init__(parent)
        self._title = title
        self._colours = DARK
        self._is_floating = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{title}: move or close this panel")
        self.setAccessibleDescription(_TIP)
        self.setToolTip(_TIP)

    def set_floating(self, is_floating: bool) -> None:
        """Show the name too, since no frame does."""
        if is_floating != self._is_floating:
            self._is_floating = is_floating
            self.updateGeometry()
            self.update()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self.update()

    def sizeHint(self) -> QSize:
        """As tall as the gap between two panels, or as a line of text."""
        if not self._is_floating:
            return QSize(_LINE_PX, PANEL_GAP_PX)
        return QSize(_LINE_PX, self.fontMetrics().height() + 2 * STEP_PX)

    def minimumSizeHint(self) -> QSize:
        """The same: it is never crushed."""
        return self.sizeHint()

    def paintEvent(self, _: QPaintEvent) -> None:
        """Draw the line, in the accent while it has the focus."""
        colours = self._colours
        is_hot = self.hasFocus() or self.underMouse()
        ink = colours.accent if self.hasFocus() else colours.muted if is_hot else colours.line
        width = (2 if is_hot else 1) * _LINE_PX
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ink))
        left, top = (self.width() - width) / 2, (self.height() - _THICKNESS_PX) / 2
        painter.drawRoundedRect(
            QRectF(left, top, width, _THICKNESS_PX), _THICKNESS_PX / 2, _THICKNESS_PX / 2
        )
        if self._is_floating:
            painter.setFont(small_font(self.font()))
            painter.setPen(QColor(colours.muted))
            area = self.rect().adjusted(PANEL_PADDING_PX, 0, -PANEL_PADDING_PX, 0)
            painter.drawText(
                area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._title
            )
        painter.end()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu where the pointer is."""
        self.menu_requested.emit(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter, Space and the menu key ask for the menu."""
        if event.key() in _MENU_KEYS:
            self.menu_requested.emit(self.mapToGlobal(QPoint(self.width() // 2, self.height())))
            return
        super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show that it can be taken."""
        super().enterEvent(event)
        self.setCursor(Qt.CursorShape.SizeAllCursor)
        self.update()

    def leaveEvent(self, event: object) -> None:
        """Be calm again."""
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Be calm again."""
        super().focusOutEvent(event)
        self.update()
