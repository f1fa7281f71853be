"""What can be done and how: the action list, the view of all keys, and what this program is."""

from __future__ import annotations

import platform

import PySide6
from PySide6.QtCore import QObject, Qt, qVersion
from PySide6.QtWidgets import QMessageBox, QWidget

from app.actions import Action, Actions
from resources.tokens import Palette
from widgets.action_list import ActionList
from widgets.action_search import ActionEntry
from widgets.keys_view import KeysView

# Opens the list; in the list itself it would be the way to where one is.
_THE_LIST = "help.actions"


class Help(QObject):
    """Opens the views that tell of all actions."""

    def __init__(self, actions: Actions, window: QWidget) -> None:
        """Tell of ``actions`` over ``window``."""
        super().__init__(window)
        self._actions = actions
        self._window = window
        self.list = ActionList(window)
        self.list.chosen.connect(actions.run)
        self.keys: KeysView | None = None

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.list.set_palette(palette)

    def show_actions(self) -> None:
        """Open the searchable list; a second time closes it."""
        if self.list.isVisible():
            self.list.close_list()
            return
        others = [_entry(each) for each in self._actions.all() if each.id != _THE_LIST]
        self.list.open(others, self._actions.recent())

    def show_keys(self) -> None:
        """Open the view of all keys."""
        if self.keys is None:
            self.keys = KeysView([_entry(each) for each in self._actions.all()], self._window)
        self.keys.show()
        self.keys.raise_()
        self.keys.activateWindow()
        self.keys.field.setFocus()

    def show_about(self, versions: list[tuple[str, str]]) -> None:
        """Say what this program is and of which parts.

        Args:
            versions: Name and version of what is not known here.
        """
        own = [
            ("Python", platform.python_version()),
            ("Qt", qVersion()),
            ("PySide6", PySide6.__version__),
        ]
        box = QMessageBox(self._window)
        box.setWindowTitle("About TuneDeck")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText("TuneDeck: a mixing desk for a local model.")
        box.setInformativeText("\n".join(f"{name} {what}" for name, what in [*versions, *own]))
        box.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        box.setStandardButtons(QMessageBox.StandardButton.Close)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()


def _entry(action: Action) -> ActionEntry:
    return ActionEntry(
        action.id, action.text, action.group, action.keys_text, action.why_not(), action.words
    )
