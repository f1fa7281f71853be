"""A way on for whoever wants a draft model: no engine is needed for that."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.draft_words import FILE
from app.window import Window
from widgets.draft_button import DraftButton

pytestmark = [
    pytest.mark.gui,
    # Said by the offscreen platform of menus that pop up.
    pytest.mark.qt_log_ignore("This plugin does not support"),
]


def choose_button(window: Window) -> QPushButton | None:
    buttons = window.tune.findChildren(QPushButton)
    return next((b for b in buttons if b.text() == "Choose a draft model…"), None)


def test_that_drafts_without_a_model_offer_to_choose_one(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    assert choose_button(window) is None
    window.desk.session.want({"spec_types": ("draft-simple",)})
    qtbot.waitUntil(lambda: choose_button(window) is not None)
    texts = [b.text() for b in window.tune.findChildren(QPushButton)]
    assert "Set Drafts to off" in texts
    button = choose_button(window)
    assert button is not None
    button.click()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    qtbot.waitUntil(lambda: "Choose a file…" in [action.text() for action in menu.actions()])
    menu.close()


def test_that_a_file_can_be_chosen_to_draft(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    button = window.top.findChild(DraftButton)
    assert button is not None
    button.chosen.emit(FILE)
    dialog = window.top.findChild(QFileDialog)
    assert dialog is not None
    qtbot.waitUntil(dialog.isVisible)
    dialog.fileSelected.emit("/models/small.gguf")
    dialog.reject()
    wanted = window.desk.session.wanted
    assert (wanted.spec_types, wanted.draft_model_path) == (
        ("draft-simple",),
        "/models/small.gguf",
    )
    assert choose_button(window) is None
