"""Controls that are pressed: words side by side, and a switch."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from engine_bridge.settings.domain import Value
from engine_bridge.settings.row import Setting
from resources.tokens import Palette
from widgets.control import Control
from widgets.segmented import Segmented
from widgets.toggle import Toggle
from widgets.value_label import ValueLabel
from widgets.value_text import value_text


class SegmentControl(Control):
    """Words side by side."""

    def __init__(self, setting: Setting, values: Sequence[Value], parent: QWidget) -> None:
        """Offer ``values``."""
        super().__init__(setting, parent)
        self._values = tuple(values)
        words = [value_text(setting, value) for value in values]
        self.segments = Segmented([_as_button(word) for word in words], parent)
        self.label = ValueLabel(parent)
        self.value_widget = self.label
        self.body = self.main = self.segments
        self.segments.index_chosen.connect(self._on_chosen)
        self.refresh()

    def refresh(self) -> None:
        """Press the button of the value; write it out where the engine made another of it."""
        if self._value in self._values:
            self.segments.set_index(self._values.index(self._value))
        self.label.set_text(self.shown_text())

    def _on_chosen(self, index: int) -> None:
        self._value = self._values[index]
        self._effective = None
        self.refresh()
        self.committed.emit(self._value)


class FlagControl(Control):
    """A switch."""

    leaves_room_for_unit = False

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        """Make the switch."""
        super().__init__(setting, parent)
        self.toggle = Toggle(parent)
        self.value_widget = self.main = self.toggle
        self.body = None
        self.toggle.clicked.connect(self._on_clicked)
        self.refresh()

    def refresh(self) -> None:
        """Show the value."""
        self.toggle.setChecked(bool(self._value))

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.toggle.set_palette(palette)

    def _on_clicked(self, is_on: bool) -> None:
        self._value = is_on
        self._effective = None
        self.committed.emit(is_on)


def _as_button(word: str) -> str:
    return word.replace("&", "&&")
