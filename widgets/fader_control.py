"""Controls with a fader: for numbers, with a field beside it, and for many words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from engine_bridge.settings.domain import ChoiceDomain, IntDomain, Value
from engine_bridge.settings.row import Setting
from resources.tokens import Palette
from widgets.control import Control
from widgets.fader import Fader
from widgets.fader_scale import FaderScale
from widgets.menu_button import MenuButton
from widgets.theme import set_role
from widgets.value_field import ValueField
from widgets.value_text import value_text, value_with_unit


class FaderControl(Control):
    """A fader; base of those for numbers and words."""

    def __init__(self, setting: Setting, scale: FaderScale, parent: QWidget) -> None:
        """Make the fader on ``scale``; subclasses add the value's widget."""
        super().__init__(setting, parent)
        self.fader = Fader(scale, parent)
        self.body = self.main = self.fader
        self.fader.stop_dragged.connect(lambda stop: self._on_moved(stop, self.dragged.emit))
        self.fader.stop_released.connect(lambda stop: self._on_moved(stop, self.committed.emit))
        self.fader.stop_stepped.connect(lambda stop: self._on_moved(stop, self.stepped.emit))

    def refresh(self) -> None:
        """Put the handle where the value belongs."""
        if not self.fader.isSliderDown():
            self.fader.set_place(self.fader.scale.place_of(self._value))

    def describe(self) -> None:
        """Let the fader say its value as well."""
        super().describe()
        self.fader.set_spoken(value_with_unit(self.setting, self._value))

    def set_applied(self, value: Value | None) -> None:
        """Mark the place of ``value``."""
        self._applied = value
        self.fader.set_ghost(None if value is None else self.fader.scale.place_of(value))

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.fader.set_palette(palette)

    def _on_moved(self, stop: int, emit: Callable[[Value], None]) -> None:
        self._value = value = self.fader.scale.stops[stop]
        self._effective = None
        try:
            self.refresh()
        finally:
            # Whatever fails to show: what the handle stands at is what the engine must get.
            emit(value)


class NumberControl(FaderControl):
    """A fader and a field for exact numbers."""

    def __init__(self, setting: Setting, scale: FaderScale, parent: QWidget) -> None:
        """Make fader and field."""
        super().__init__(setting, scale, parent)
        self.field = ValueField(setting.domain.parse, parent)
        self.value_widget = self.field
        self.listen_to(self.field)
        self._measure()
        self.refresh()

    def set_stops(self, stops: Sequence[int]) -> None:
        """Rest on ``stops`` instead of the domain's own."""
        domain = self.setting.domain
        if isinstance(domain, IntDomain):
            self.fader.set_scale(FaderScale.of_int(domain, stops))
            self.set_applied(self._applied)
            self._measure()
            self.refresh()

    def refresh(self) -> None:
        """Show the value in both."""
        super().refresh()
        editable = value_text(self.setting, self._value)
        self.field.set_texts(self.shown_text(), editable, self.brief_text())

    def _measure(self) -> None:
        values = list(self.fader.scale.stops)
        if isinstance(self.setting.domain, IntDomain):
            values += [self.setting.domain.minimum, self.setting.domain.maximum]
        widest = max((value_text(self.setting, v) for v in values), key=len)
        is_int = isinstance(self.setting.domain, IntDomain)
        # The engine rounds and caps whole numbers only.
        self.field.set_widest(widest, f"{widest} → {widest}" if is_int else widest)


class ChoiceFaderControl(FaderControl):
    """A fader over words, and the word itself as a menu of all of them."""

    leaves_room_for_unit = False  # the menu's arrow stands there

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        """Make fader and menu."""
        domain = setting.domain
        assert isinstance(domain, ChoiceDomain)
        super().__init__(setting, FaderScale.of_choice(domain), parent)
        # Its arrow stands behind the word, where other rows have their unit.
        self.button = MenuButton(parent)
        set_role(self.button, "value-menu")
        self.button.setMenu(self._menu(domain))
        self.value_widget = self.button
        self.refresh()

    def refresh(self) -> None:
        """Show the value in both."""
        super().refresh()
        self.button.setText(self.shown_text())
        for action in self._actions:
            action.setChecked(action.text() == self._value)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        super().set_palette(palette)
        self.button.set_palette(palette)

    def _menu(self, domain: ChoiceDomain) -> QMenu:
        menu = QMenu(self.button)
        group = QActionGroup(menu)
        # Made here, not by the menu: PySide may declare dead what Qt made, as soon as a widget goes
        # that it takes for the owner of this row (one that Qt's focus chain named before it).
        self._actions = [QAction(word, menu) for word in domain.choices]
        for action in self._actions:
            action.setCheckable(True)
            group.addAction(action)
            menu.addAction(action)
        group.triggered.connect(self._on_picked)
        return menu

    def _on_picked(self, action: QAction) -> None:
        if action.text() != self._value:
            self._value = action.text()
            self._effective = None
            self.refresh()
            self.committed.emit(self._value)
