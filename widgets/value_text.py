"""Values as a person reads them, each of which the domain's ``parse`` reads back."""

from __future__ import annotations

from engine_bridge.settings.domain import FloatDomain
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.row import Setting
from engine_bridge.settings.text_domain import TextDomain, WordsDomain


def value_text(setting: Setting, value: object) -> str:
    """``value`` of ``setting`` without its unit: ``32,768``, ``0.80``, ``q8_0``, ``on``."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _decimal_text(setting, value)
    if isinstance(setting.domain, ItemsDomain | WordsDomain | TextDomain):
        return next(iter(setting.domain.format(value).splitlines()), "none")
    if isinstance(value, tuple):
        return ", ".join(value) if value else "off"
    return str(value)


def value_with_unit(setting: Setting, value: object) -> str:
    """``value_text`` and the unit behind a number: ``32,768 tok``."""
    text = value_text(setting, value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"{text} {setting.unit}" if setting.unit and is_number else text


def _decimal_text(setting: Setting, value: float) -> str:
    decimals = setting.domain.decimals if isinstance(setting.domain, FloatDomain) else 2
    text = f"{value:.{decimals}f}"
    # A typed 0.805 must not be shown as 0.81, which is another value.
    return text if float(text) == value else repr(value)
