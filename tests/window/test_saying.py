"""What the window says for a moment lies over nothing that is pressed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QWidget

from app.window import Window

pytestmark = pytest.mark.gui


def area_of(window: Window, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint()), widget.size())


@pytest.mark.parametrize("width", [1024, 1440])
def test_that_a_sentence_covers_no_tab_and_nothing_that_is_written(
    make_window: Callable[..., Window], width: int
) -> None:
    window = make_window()
    window.resize(width, 900)
    QApplication.processEvents()
    window.say("A sentence about what could not be done, and about what can be done instead. " * 2)
    QApplication.processEvents()
    view = window.chat.conversation(window.chat.current_id())
    toast = window.toast.geometry()
    for widget in (window.top, window.chat.bar, view.header, view.composer, window.tune):
        assert not toast.intersects(area_of(window, widget)), widget
    assert window.rect().contains(toast)


def test_that_a_sentence_is_seen_while_the_charts_are_in_front(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    window.resize(1024, 900)
    QApplication.processEvents()
    window.show_live()
    window.say("Saved.")
    assert window.toast.isVisible()
    assert window.rect().contains(window.toast.geometry())
