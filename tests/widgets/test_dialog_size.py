"""How large dialogs open beside the window."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from app.dialog_size import fit_dialog

pytestmark = pytest.mark.gui


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1000, 700)
    return window


@pytest.fixture
def dialog(window: QWidget) -> QDialog:
    dialog = QDialog(window)
    dialog.setMinimumSize(300, 200)
    return dialog


def test_that_a_dialog_is_as_large_as_it_wants_and_leaves_something_of_the_window(
    window: QWidget, dialog: QDialog
) -> None:
    fit_dialog(dialog, window, (800, 900))
    assert (dialog.width(), dialog.height()) == (800, 658)


def test_that_a_dialog_is_never_smaller_than_it_can_be(window: QWidget, dialog: QDialog) -> None:
    window.resize(100, 100)
    fit_dialog(dialog, window, (800, 900))
    assert (dialog.width(), dialog.height()) == (300, 200)


def test_that_the_size_that_a_person_chose_stays(window: QWidget, dialog: QDialog) -> None:
    fit_dialog(dialog, window, (800, 600))
    dialog.resize(444, 333)
    fit_dialog(dialog, window, (800, 600))
    assert (dialog.width(), dialog.height()) == (444, 333)
