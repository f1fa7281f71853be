"""A button with a menu is calm once the menu is closed, and grows with the type."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QCursor, QEnterEvent, QFont
from PySide6.QtWidgets import QApplication, QMenu, QToolButton, QVBoxLayout, QWidget

from widgets.menu_button import MenuButton, forget_hover_after
from widgets.toggle import Toggle

pytestmark = [
    pytest.mark.gui,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]


def test_that_a_button_forgets_the_pointer_that_left_while_its_menu_was_open(
    shown: Callable[[QWidget], None],
) -> None:
    page = QWidget()
    page.resize(300, 200)
    button = QToolButton(page)
    menu = QMenu(button)
    menu.addAction("One")
    forget_hover_after(menu, button)
    shown(page)
    at = QPointF(button.rect().center())
    QApplication.sendEvent(button, QEnterEvent(at, at, button.mapToGlobal(at)))
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))
    QCursor.setPos(page.mapToGlobal(page.rect().bottomRight()))
    menu.close()
    assert not button.underMouse()


def test_that_switch_and_arrow_grow_with_the_type(shown: Callable[[QWidget], None]) -> None:
    page = QWidget()
    layout = QVBoxLayout(page)
    button, toggle = MenuButton(page), Toggle(page)
    layout.addWidget(button)
    layout.addWidget(toggle)
    shown(page)
    before = (button._arrow_px(), toggle.sizeHint().height())
    large = QFont(page.font())
    large.setPointSizeF(2 * large.pointSizeF())
    for widget in (button, toggle):
        widget.setFont(large)
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
    after = (button._arrow_px(), toggle.sizeHint().height())
    assert after[0] > before[0]
    assert after[1] > before[1]
    assert toggle.height() == toggle.sizeHint().height()
