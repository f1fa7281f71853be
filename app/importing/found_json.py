"""What was found, as JSON tells it to other programs.

Lists of shares are numbers there and tensor overrides pairs, since no line has to be made of them.
"""

from __future__ import annotations

import msgspec

from app.importing.found import Found
from app.importing.found_settings import settings_for
from engine_bridge.settings.domain import Value


def as_json(found: Found) -> dict[str, object]:
    """Plain values that msgspec and json can write.

    ``usable`` is what the desk takes of the settings, by the keys that ``--set`` knows.
    """
    plain: dict[str, object] = msgspec.to_builtins(found)
    settings = {key: _plain(key, value) for key, value in found.settings.items()}
    usable = settings_for(found)
    return plain | {
        "settings": settings,
        "usable": {"values": usable.values, "left_out": usable.left_out},
    }


def _plain(key: str, value: Value | None) -> object:
    if not isinstance(value, tuple):
        return value
    if key == "tensor_split":
        return [_number(part) for part in value]
    if key == "override_tensor":
        return [_pair(item) for item in value]
    return list(value)


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _pair(item: str) -> object:
    pattern, sign, buffer = item.partition("=")
    return {"pattern": pattern, "buffer": buffer} if sign else item
