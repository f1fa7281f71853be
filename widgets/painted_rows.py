"""Lists whose rows a delegate paints whole: how they are set up, their keys, what a row lies on."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QFrame, QStyle, QStyleOptionViewItem

from resources.theme import selected_ground
from resources.tokens import CONTROL_RADIUS_PX, Palette
from widgets.theme import set_role

_UNMODIFIED = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


def set_up_painted_rows(view: QAbstractItemView) -> None:
    """No frame; scrolled by pixels and never sideways; the row below the mouse is known."""
    set_role(view, "bare")
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setMouseTracking(True)
    view.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)


def takes_key(
    event: QEvent, keys: Collection[int], standard: Iterable[QKeySequence.StandardKey]
) -> bool:
    """Take a key of the list's own before a shortcut of the whole window does.

    Args:
        event: Any that the list gets.
        keys: Keys without modifiers.
        standard: Keys that are called otherwise on other systems.

    Returns:
        Whether it was one, which comes to the list as a press then.
    """
    if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    is_own = event.modifiers() in _UNMODIFIED and event.key() in keys
    if is_own or any(event.matches(key) for key in standard):
        event.accept()
        return True
    return False


def paint_ground(painter: QPainter, option: QStyleOptionViewItem, palette: Palette) -> None:
    """What a row lies on: chosen, below the mouse, with the keyboard."""
    state = option.state
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if state & QStyle.StateFlag.State_Selected:
        painter.setBrush(QColor(selected_ground(palette)))
    elif state & QStyle.StateFlag.State_MouseOver:
        painter.setBrush(QColor(palette.raised))
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QPen(QColor(palette.accent), 1))
    ground = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5)
    painter.drawRoundedRect(ground, CONTROL_RADIUS_PX, CONTROL_RADIUS_PX)
