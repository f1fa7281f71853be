"""All that can be set, for a terminal or as values for a program."""

from __future__ import annotations

from itertools import groupby

from engine_bridge.settings.row import Setting
from engine_bridge.settings.table import SETTINGS


def settings_lines() -> list[str]:
    """A heading for each section as in the window, and below it what stands there."""
    lines: list[str] = []
    for group, settings in groupby(_in_sections(), key=lambda setting: setting.group):
        lines += [""] if lines else []
        lines.append(f"{group}:")
        for setting in settings:
            default = setting.domain.format(setting.default)
            said = f"{setting.domain.describe()}; {setting.applies}"
            lines += [f"  {setting.key} = {default}  ({said})", f"      {setting.help}"]
    return lines


def settings_values() -> list[dict[str, object]]:
    """The same for a program."""
    return [
        {
            "key": setting.key,
            "label": setting.label,
            "section": str(setting.group),
            "default": setting.default,
            "takes": setting.domain.describe(),
            "unit": setting.unit,
            "applies": str(setting.applies),
            "affects_memory": setting.affects_memory,
            "help": setting.help,
        }
        for setting in _in_sections()
    ]


def _in_sections() -> list[Setting]:
    """The table's order, with no section begun twice."""
    groups = list(dict.fromkeys(setting.group for setting in SETTINGS))
    return sorted(SETTINGS, key=lambda setting: groups.index(setting.group))
