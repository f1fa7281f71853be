"""KoboldCpp's ``.kcpps`` files as the flags that say the same.

Such a file holds every value there is, most of them as they were found.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from app.export.engine_words import EngineWords

_ALONE = ("model_param", "port_param")
_OF_DRAFTS = ("draftamount", "draftgpulayers", "draftgpusplit")
# As many layers as nobody asked for; no setting of the desk says "none" by 0.
_OF_LAYERS = ("moecpu", "ffncpu")
# What stands in a file for a value that nobody set.
_NOTHING = ("", "0", "false", "default")


# Whatever else a switch has switches it on, as Python takes it.
_OFF = ("", "0", "0.0", "false")


def flags_of_file(
    values: Mapping[str, tuple[str, ...]], engine: EngineWords, handled: Container[str]
) -> list[str]:
    """What a file says, as flags.

    Args:
        values: Its keys with their values.
        engine: KoboldCpp.
        handled: Flags that are read; of others only those are told that were changed.
    """
    words: list[str] = []
    without_draft = not any(values.get("draftmodel", ())) and values.get("usemtp") != ("true",)
    for key, items in values.items():
        if key in _ALONE or (without_draft and key in _OF_DRAFTS):
            continue
        if key in _OF_LAYERS and items[-1:] == ("0",):
            continue
        flag = engine.flag(f"--{key}")
        if flag is None:
            words += [f"--{key}", *items] if any(i not in _NOTHING for i in items) else []
        elif flag.arity == 0:
            words += [flag.names[0]] if any(item not in _OFF for item in items[-1:]) else []
        elif any(items) and (flag.names[0] in handled or not _is_unasked(items, flag.default)):
            words += [flag.names[0], *items]
    return words


def alone_in_file(values: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """What a file says that has no flag: the model, and the port."""
    return tuple(values[key][-1] for key in _ALONE if any(values.get(key, ())[-1:]))


def _is_unasked(items: tuple[str, ...], default: object) -> bool:
    """Whether ``items`` are what KoboldCpp takes by itself."""
    unasked = default if isinstance(default, list) else [default]
    return [_number(item) for item in items] == [_number(str(item)) for item in unasked]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
