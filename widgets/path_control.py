"""The control of a file's path: a field over the whole width below the name."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine_bridge.settings.domain import PathDomain, Value
from engine_bridge.settings.row import Setting
from resources.tokens import STEP_PX
from widgets.control import Control
from widgets.elided_label import ElidedLabel
from widgets.items_control import WideField, end_of
from widgets.theme import set_role


class PathControl(Control):
    """A field for the path, typed or pasted, and whether there is one beside the name."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        """Make the field."""
        super().__init__(setting, parent)
        assert isinstance(setting.domain, PathDomain)
        self.field = WideField(setting.domain.parse, parent)
        self.field.setPlaceholderText("the whole path of a file")
        self.label = ElidedLabel("", parent)
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.label.setContentsMargins(0, 0, STEP_PX + 1, 0)
        set_role(self.label, "value")
        self.value_widget = self.label
        self.body = self.main = self.field
        self.field.value_entered.connect(self._on_entered)
        self.field.refused.connect(self.refused)
        self.field.settled.connect(lambda: self.refused.emit(""))
        self.refresh()

    def refresh(self) -> None:
        """Show the path, its end where there is no room for all of it."""
        path = str(self._value)
        self.field.set_texts(path, path, end_of(path))
        self.field.setToolTip(path)
        self.label.set_text("a file" if path else "none")  # the field ends with its name

    def _on_entered(self, value: Value) -> None:
        if value != self._value:
            self._value = value
            self._effective = None
            self.refresh()
            self.committed.emit(value)
