"""Which control a domain asks for, and what it tells a screen reader.

A further kind of domain is one more line in the table at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from PySide6.QtWidgets import QWidget

from engine_bridge.settings.domain import (
    ChoiceDomain,
    FlagDomain,
    FloatDomain,
    IntDomain,
    ListDomain,
    PathDomain,
)
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.row import Setting
from engine_bridge.settings.text_domain import TextDomain, WordsDomain
from widgets.button_control import FlagControl, SegmentControl
from widgets.control import Control
from widgets.fader_control import ChoiceFaderControl, NumberControl
from widgets.fader_scale import FaderScale
from widgets.items_control import ItemsControl
from widgets.list_control import ListControl
from widgets.path_control import PathControl
from widgets.text_control import TextControl, WordsControl
from widgets.value_text import value_with_unit

# Up to this many words stand side by side; more become a fader with a menu.
_MAX_SEGMENTS = 4


def make_control(setting: Setting, parent: QWidget) -> Control:
    """The control that the domain of ``setting`` asks for, described for screen readers."""
    control = _MAKERS[type(setting.domain)](setting, parent)
    _name(control)
    return control


def help_tip(setting: Setting) -> str:
    """The help as a tooltip; rich text, because Qt wraps only that."""
    default = value_with_unit(setting, setting.default)
    command = f"on the command line --set {setting.key}=…"
    return f"<p>{escape(setting.help)}</p><p>Default {escape(default)} · {escape(command)}</p>"


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
    return ListControl(setting, parent)


def _make_flag(setting: Setting, parent: QWidget) -> Control:
    return FlagControl(setting, parent)


_MAKERS: dict[type, Callable[[Setting, QWidget], Control]] = {
    IntDomain: _make_int,
    FloatDomain: _make_float,
    ChoiceDomain: _make_choice,
    ListDomain: _make_list,
    FlagDomain: _make_flag,
    ItemsDomain: ItemsControl,
    PathDomain: PathControl,
    WordsDomain: WordsControl,
    TextDomain: TextControl,
}
