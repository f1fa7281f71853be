"""The settings of a measured configuration: in words, and as what makes the engine run so. Pure."""

from __future__ import annotations

from pathlib import Path

from app.experiments.experiment import Cell, Kind
from app.experiments.quality import BASE
from app.model_bound import OF_ONE_MODEL
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import PathDomain, Value
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import BY_KEY

# How answers are drawn is a matter of taste, and no experiment changes it by itself.
_OF_TASTE = (Group.SAMPLING, Group.MORE_SAMPLING)
_GROUPED = 1000
_UNTOUCHED = ("model_path", *OF_ONE_MODEL)


def settings_words(cell: Cell) -> tuple[tuple[str, str], ...]:
    """Each setting that differs from its default: its name, its value, and what was made of it.

    Settings of which the engine made something else (``auto`` included) are among them.
    """
    keys = [key for key in (*cell.config, *cell.effective) if key not in _UNTOUCHED]
    return tuple((_label(key), _value(cell, key)) for key in dict.fromkeys(keys))


def config_to_apply(kind: Kind, place: int, cell: Cell) -> dict[str, Value]:
    """Settings by key that make the engine run as ``cell`` did; empty where there are none.

    All others stay as they are: the model, what was made for it, and how answers are drawn.

    Args:
        kind: What was done.
        place: Number of the cell in its experiment.
        cell: The configuration.
    """
    if cell.skipped and not cell.runs and not cell.extra:
        return {}
    if kind is Kind.QUALITY:  # its settings are laid over those that the user has
        return {**BASE, **_known(cell)}
    if kind is Kind.PROBE and place == 0:  # the settings of a server are not known
        return {}
    usual = EngineConfig().values()
    return {key: value for key, value in usual.items() if is_measured(key)} | _known(cell)


def is_measured(key: str) -> bool:
    """Whether a setting is one that experiments measure: none of a model, none of taste."""
    return key in BY_KEY and key not in _UNTOUCHED and BY_KEY[key].group not in _OF_TASTE


# --- Inside -----------------------------------------------------------------------------


def _known(cell: Cell) -> dict[str, Value]:
    """Without settings that another version of the program has, or that are no matter of speed."""
    return {key: value for key, value in cell.config.items() if is_measured(key)}


def _label(key: str) -> str:
    return BY_KEY[key].label if key in BY_KEY else key


def _value(cell: Cell, key: str) -> str:
    asked = _words(key, cell.config.get(key, getattr(EngineConfig(), key, "auto")))
    if key not in cell.effective:
        return asked
    made = _words(key, cell.effective[key])
    return asked if made == asked else f"{asked} → {made}"


def _words(key: str, value: Value) -> str:
    if key not in BY_KEY:
        return str(value)
    setting = BY_KEY[key]
    if isinstance(setting.domain, PathDomain):
        return Path(str(value)).name or "none"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _GROUPED:
        return f"{value:,} {setting.unit}".rstrip()
    unit = f" {setting.unit}" if setting.unit and not isinstance(value, str) else ""
    return f"{setting.domain.format(value)}{unit}" or "none"
