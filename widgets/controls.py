"""One control per kind of domain: what stands in a row's header, what below it.

A control speaks values. It knows its setting's row and nothing of other settings or the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QLabel, QMenu, QWidget

from engine_bridge.settings.domain import (
    ChoiceDomain,
    FlagDomain,
    FloatDomain,
    IntDomain,
    ListDomain,
    Value,
)
from engine_bridge.settings.row import Setting
from resources.tokens import STEP_PX, Palette
from widgets.fader import Fader
from widgets.fader_scale import FaderScale
from widgets.menu_button import MenuButton
from widgets.segmented import Segmented
from widgets.theme import set_role
from widgets.toggle import Toggle
from widgets.value_field import ValueField
from widgets.value_text import value_text, value_with_unit

# Up to this many words stand side by side; more become a fader with a menu.
_MAX_SEGMENTS = 4


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

    def shown_text(self) -> str:
        """The value, and what the engine made of it."""
        asked = value_text(self.setting, self._value)
        if self._effective is None or "→" in self._effective:
            return self._effective or asked
        return f"{asked} → {self._effective}"


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

    def set_applied(self, value: Value | None) -> None:
        """Mark the place of ``value``."""
        self._applied = value
        self.fader.set_ghost(None if value is None else self.fader.scale.place_of(value))

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.fader.set_palette(palette)

    def _on_moved(self, stop: int, emit: Callable[[Value], None]) -> None:
        self._value = self.fader.scale.stops[stop]
        self._effective = None
        self.refresh()
        emit(self._value)


class NumberControl(FaderControl):
    """A fader and a field for exact numbers."""

    def __init__(self, setting: Setting, scale: FaderScale, parent: QWidget) -> None:
        """Make fader and field."""
        super().__init__(setting, scale, parent)
        self.field = ValueField(setting.domain.parse, parent)
        self.value_widget = self.field
        self.field.value_entered.connect(self._on_entered)
        self.field.refused.connect(self.refused)
        self.field.settled.connect(lambda: self.refused.emit(""))
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
        self.field.set_texts(self.shown_text(), value_text(self.setting, self._value))

    def _measure(self) -> None:
        texts = [value_text(self.setting, stop) for stop in self.fader.scale.stops]
        self.field.set_widest(max(texts, key=len))

    def _on_entered(self, value: Value) -> None:
        if value != self._value:
            self._value = value
            self._effective = None
            self.refresh()
            self.committed.emit(value)


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
        self._actions = [menu.addAction(word) for word in domain.choices]
        for action in self._actions:
            action.setCheckable(True)
            group.addAction(action)
        group.triggered.connect(self._on_picked)
        return menu

    def _on_picked(self, action: QAction) -> None:
        if action.text() != self._value:
            self._value = action.text()
            self._effective = None
            self.refresh()
            self.committed.emit(self._value)


class SegmentControl(Control):
    """Words side by side; of a list setting, ``off`` and each word alone."""

    def __init__(self, setting: Setting, values: Sequence[Value], parent: QWidget) -> None:
        """Offer ``values``."""
        super().__init__(setting, parent)
        self._values = tuple(values)
        words = [value_text(setting, value) for value in values]
        self.segments = Segmented([_as_button(word) for word in words], parent)
        self.label = QLabel(parent)
        # The frame of a value field, so that words end where numbers end.
        self.label.setContentsMargins(0, 0, STEP_PX + 1, 0)
        set_role(self.label, "value")
        self.value_widget = self.label
        self.body = self.main = self.segments
        self.segments.index_chosen.connect(self._on_chosen)
        self.refresh()

    def refresh(self) -> None:
        """Press the button of the value; write it out where the engine made another of it."""
        if self._value in self._values:
            self.segments.set_index(self._values.index(self._value))
        self.label.setText(self.shown_text())

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


def make_control(setting: Setting, parent: QWidget) -> Control:
    """The control that the domain of ``setting`` asks for, described for screen readers.

    Raises:
        TypeError: If the domain has no control (a path is chosen by a dialog).
    """
    maker = _MAKERS.get(type(setting.domain))
    if maker is None:
        raise TypeError(f"{setting.key}: no control for {type(setting.domain).__name__}.")
    control = maker(setting, parent)
    _name(control)
    return control


def help_tip(setting: Setting) -> str:
    """The help as a tooltip; rich text, because Qt wraps only that."""
    default = value_with_unit(setting, setting.default)
    return f"<p>{escape(setting.help)}</p><p>{escape(setting.key)} · default {escape(default)}</p>"


def _name(control: Control) -> None:
    setting, tip = control.setting, help_tip(control.setting)
    for widget in (control.main, control.value_widget):
        widget.setAccessibleName(setting.label)
        widget.setToolTip(tip)
    if control.value_widget is not control.main:
        control.value_widget.setAccessibleName(f"{setting.label}, value")
    if isinstance(control, SegmentControl):
        control.segments.name_buttons(setting.label, setting.help)
    control.describe()


def _make_int(setting: Setting, parent: QWidget) -> Control:
    assert isinstance(setting.domain, IntDomain)
    return NumberControl(setting, FaderScale.of_int(setting.domain), parent)


def _make_float(setting: Setting, parent: QWidget) -> Control:
    assert isinstance(setting.domain, FloatDomain)
    return NumberControl(setting, FaderScale.of_float(setting.domain), parent)


def _make_choice(setting: Setting, parent: QWidget) -> Control:
    assert isinstance(setting.domain, ChoiceDomain)
    if len(setting.domain.choices) <= _MAX_SEGMENTS:
        return SegmentControl(setting, setting.domain.choices, parent)
    return ChoiceFaderControl(setting, parent)


def _make_list(setting: Setting, parent: QWidget) -> Control:
    assert isinstance(setting.domain, ListDomain)
    return SegmentControl(setting, ((), *((word,) for word in setting.domain.choices)), parent)


def _make_flag(setting: Setting, parent: QWidget) -> Control:
    return FlagControl(setting, parent)


def _as_button(word: str) -> str:
    return word.replace("&", "&&")


_MAKERS: dict[type, Callable[[Setting, QWidget], Control]] = {
    IntDomain: _make_int,
    FloatDomain: _make_float,
    ChoiceDomain: _make_choice,
    ListDomain: _make_list,
    FlagDomain: _make_flag,
}
