"""What was found, told to a person in lines."""

from __future__ import annotations

import json
from collections.abc import Iterable

from app.importing.found import Found
from app.importing.found_settings import settings_for
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY


def lines_of(found: Found) -> list[str]:
    """One text a line, the most important first."""
    lines = [f"{found.target}: {found.title}" if found.title else found.target]
    lines += _section("Settings", (_setting(k, v, found) for k, v in found.settings.items()))
    lines += _section(
        "Healed", (f"{one.was} -> {one.to or 'nothing says it now'}" for one in found.healed)
    )
    lines += _section("Problems", found.problems)
    lines += _section("Beside the settings", (f"{k}: {_told(v)}" for k, v in found.other.items()))
    lines += _section("Environment", (f"{k}={v}" for k, v in found.env.items()))
    if found.passthrough:
        lines += _section("Not understood", (" ".join(found.passthrough),))
    lines += _section("Leave as they came, in lines of llama.cpp", found.extra_flags)
    left_out = settings_for(found).left_out
    lines += _section("Not taken over", (f"{key}: {why}" for key, why in left_out.items()))
    return lines + _section("Notes", found.notes)


def _section(title: str, texts: Iterable[str]) -> list[str]:
    told = [f"    {text}" for text in texts]
    return [f"  {title}", *told] if told else []


def _setting(key: str, value: Value | None, found: Found) -> str:
    row = BY_KEY.get(key)
    if value is None:
        text = "open: the text does not say it"
    elif row is None:
        text = _told(value)
    else:
        text = row.domain.format(value) + (f" {row.unit}" if row.unit and value != "auto" else "")
    source = " (follows from the engine's rules)" if key in found.derived else ""
    return f"{key}: {text}{source}"


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
