"""The control of a file's path: a field over the whole width below the name."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from engine_bridge.settings.domain import PathDomain
from engine_bridge.settings.row import Setting
from widgets.control import Control
from widgets.items_control import WideField, end_of
from widgets.value_label import ValueLabel


class PathControl(Control):
    """A field for the path, typed or pasted, and whether there is one beside the name."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        """Make the field."""
        super().__init__(setting, parent)
        assert isinstance(setting.domain, PathDomain)
        self.field = WideField(setting.domain.parse, parent)
        self.field.setPlaceholderText("the whole path of a file")
        self.label = ValueLabel(parent)
        self.value_widget = self.label
        self.body = self.main = self.field
        self.listen_to(self.field)
        self.refresh()

    def refresh(self) -> None:
        """Show the path, its end where there is no room for all of it."""
        path = str(self._value)
        self.field.set_texts(path, path, end_of(path))
        self.field.setToolTip(path)
        self.label.set_text("a file" if path else "none")  # the field ends with its name
