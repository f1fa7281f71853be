from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from widgets.toast import Toast

LONG = "The settings could not be saved, because the disk is full: make room and go on. " * 3


def test_that_a_sentence_lies_over_the_window_and_moves_nothing(
    shown: Callable[[QWidget], None],
) -> None:
    window = QWidget()
    window.resize(600, 400)
    toast = Toast(window)
    shown(window)
    toast.say(LONG)
    assert toast.isVisible()
    assert window.rect().contains(toast.geometry())
    assert toast.heightForWidth(toast.width()) <= toast.height()
    assert toast.accessibleName() == LONG
    window.resize(1000, 400)
    middle = toast.geometry().center().x()
    assert abs(middle - window.rect().center().x()) <= 1
    QTest.mouseClick(toast, Qt.MouseButton.LeftButton)
    assert not toast.isVisible()


def test_that_a_toast_ends_with_its_window(shown: Callable[[QWidget], None]) -> None:
    window = QWidget()
    toast = Toast(window)
    shown(window)
    toast.say("Saved.")
    window.close()
    assert not toast._end.isActive()


def test_that_a_toast_lies_where_nothing_is_pressed(shown: Callable[[QWidget], None]) -> None:
    window = QWidget()
    window.resize(1000, 600)
    free = QRect(400, 150, 500, 400)
    toast = Toast(window, lambda: free)
    shown(window)
    toast.say(LONG)
    assert free.contains(toast.geometry())
    assert abs(toast.geometry().center().x() - free.center().x()) <= 1
    free.setSize(QSize())  # nothing can be said of where is room
    toast.say("Saved.")
    assert window.rect().contains(toast.geometry())
