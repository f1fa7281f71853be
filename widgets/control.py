"""What moves one setting: the part of a row that depends on the kind of domain.

A control speaks values. It knows its setting's row and nothing of other settings or the engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from engine_bridge.settings.domain import Value
from engine_bridge.settings.row import Setting
from resources.tokens import Palette
from widgets.value_field import ValueField
from widgets.value_text import value_text, value_with_unit


class Control(QObject):
    """What moves one setting.

    Attributes:
        value_widget: Stands flush right in the row's header.
        body: Stands below the header, or None.
        main: The widget that the row's name is a buddy of.
        leaves_room_for_unit: Whether the unit's column stands behind the value widget.

    Signals:
        dragged: A value (object) passed while dragging.
        stepped: A value (object) reached by a key; more may follow at once.
        committed: A value (object) that was chosen.
        refused: The sentence (str) why typed text is no value; empty once it is gone.
    """

    dragged = Signal(object)
    stepped = Signal(object)
    committed = Signal(object)
    refused = Signal(str)

    value_widget: QWidget
    body: QWidget | None
    main: QWidget
    leaves_room_for_unit = True

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        """Hold the row; subclasses build the widgets."""
        super().__init__(parent)
        self.setting = setting
        self._value: Value = setting.default
        self._effective: str | None = None
        self._applied: Value | None = None

    def value(self) -> Value:
        """The value shown."""
        return self._value

    def set_value(self, value: Value) -> None:
        """Show ``value``, without a signal."""
        self._value = value
        self.refresh()

    def set_effective(self, text: str | None) -> None:
        """Show what the engine made of the value, ``on`` as ``auto → on``; None shows it alone."""
        if text != self._effective:
            self._effective = text
            self.refresh()

    def refresh(self) -> None:
        """Show the value again."""
        raise NotImplementedError

    def set_applied(self, value: Value | None) -> None:
        """Mark what the engine runs now, where the control has a scale."""

    def set_stops(self, stops: Sequence[int]) -> None:
        """Rest on other numbers, where the control has a scale of them."""

    def set_palette(self, palette: Palette) -> None:
        """Use these colours, where the control paints."""

    def describe(self) -> None:
        """Tell screen readers the value and what the setting is for."""
        text = f"{value_with_unit(self.setting, self._value)}. {self.setting.help}"
        for widget in (self.main, self.value_widget):
            widget.setAccessibleDescription(text)

    def listen_to(self, field: ValueField) -> None:
        """Take what is entered into ``field``, and pass on what it refuses."""
        field.value_entered.connect(self._on_entered)
        field.refused.connect(self.refused)
        field.settled.connect(lambda: self.refused.emit(""))

    def _on_entered(self, value: Value) -> None:
        if value != self._value:
            self._value = value
            self._effective = None
            self.refresh()
            self.committed.emit(value)

    def shown_text(self) -> str:
        """The value, and what the engine made of it."""
        asked = value_text(self.setting, self._value)
        if self._effective is None or "→" in self._effective:
            return self._effective or asked
        return f"{asked} → {self._effective}"

    def brief_text(self) -> str:
        """What the engine made of the value, for where both do not fit; else the value."""
        asked, arrow, made = self.shown_text().rpartition("→")
        return f"{arrow}{made}" if asked else self.shown_text()
