"""What the widget tests share: the theme on the application, and a way to show a widget."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from resources.tokens import DARK
from widgets.theme import apply_theme


@pytest.fixture
def themed(qapp: QApplication) -> Iterator[QApplication]:
    """The application in the dark theme, bare again afterwards."""
    font, palette = qapp.font(), qapp.palette()
    apply_theme(qapp, DARK)
    yield qapp
    qapp.setStyleSheet("")
    qapp.setFont(font)
    qapp.setPalette(palette)


@pytest.fixture
def shown(qtbot: QtBot, themed: QApplication) -> Callable[[QWidget], None]:
    """Show a widget, themed, as the active window."""

    def show(widget: QWidget) -> None:
        qtbot.addWidget(widget)
        with qtbot.waitActive(widget):
            widget.show()
            widget.activateWindow()

    return show
