"""What the settings file may say, one row a key, and how a bad value is told.

Knows names and checks; must not know files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.rules import errors_of, repaired
from engine_bridge.settings.table import BY_KEY

THEMES = ("system", "dark", "light")
SHELLS = ("posix", "cmd", "powershell")
SMALLEST_FONT, LARGEST_FONT = 0.75, 2.5
# More than anyone scrolls through; the file stays small.
_MOST_ENTRIES = 50
# A model is chosen by a person at the time; which one ran last is kept apart from how it ran.
_NOT_KEPT = ("model_path",)


@dataclass(frozen=True)
class KeptValue:
    """One key of the file.

    Attributes:
        default: What counts where the file says nothing; then it is not written either.
        check: Returns the value in its own type, or raises a ``ValueError`` that says what would
            be right, as in "it must be …".
    """

    default: object
    check: Callable[[object], object]


def _choice(*words: str) -> Callable[[object], object]:
    def check(value: object) -> object:
        if value not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return value

    return check


def _text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("a text")  # noqa: TRY004 - one kind of error for all that a file may say
    return value


def _font_scale(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"a number from {SMALLEST_FONT:g} to {LARGEST_FONT:g}")
    if not SMALLEST_FONT <= value <= LARGEST_FONT:
        raise ValueError(f"a number from {SMALLEST_FONT:g} to {LARGEST_FONT:g}")
    return float(value)


def _texts(value: object) -> object:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of texts")
    return list(dict.fromkeys(value))[:_MOST_ENTRIES]


def _texts_by_name(value: object) -> object:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError("texts by name")
    return dict(value)


KEPT: dict[str, KeptValue] = {
    "theme": KeptValue("system", _choice(*THEMES)),
    "font_scale": KeptValue(1.0, _font_scale),
    "last_model": KeptValue("", _text),
    "recent_models": KeptValue([], _texts),
    "model_folders": KeptValue([], _texts),
    "open_conversations": KeptValue([], _texts),
    "window": KeptValue({}, _texts_by_name),
    "last_folders": KeptValue({}, _texts_by_name),
    "boards_told": KeptValue([], _texts),
    "command_shell": KeptValue("", _choice("", *SHELLS)),
    "command_target": KeptValue("", _text),
    "server_program": KeptValue("", _text),
    "profile": KeptValue("", _text),
}


def values_in(document: Mapping[str, object]) -> tuple[dict[str, object], tuple[str, ...]]:
    """The kept values of ``document``, and a sentence for each that could not be taken."""
    values: dict[str, object] = {}
    sentences: list[str] = []
    for name, row in KEPT.items():
        if name not in document:
            continue
        try:
            values[name] = row.check(document[name])
        except ValueError as error:
            sentences.append(
                f"In the settings file {name} is {_short(document[name])}; it must be {error}. The "
                "default is used."
            )
    return values, tuple(sentences)


@dataclass(frozen=True)
class StoredEngine:
    """The engine's settings as they were found.

    Attributes:
        config: A configuration that the rules allow.
        stored: What of the file this version understands, before any repair.
        sentences: One for each value that could not be taken or had to be repaired.
    """

    config: EngineConfig
    stored: dict[str, object]
    sentences: tuple[str, ...]


def engine_settings_in(document: Mapping[str, object]) -> StoredEngine:
    """The engine's settings of ``document``.

    Never a configuration that the engine would refuse: values that break a rule together are
    repaired, or left out. Keys that this version does not know are somebody else's.
    """
    stored = document.get("settings", {})
    if not isinstance(stored, dict):
        told = f"In the settings file settings is {_short(stored)}; the defaults are used."
        return StoredEngine(EngineConfig(), {}, (told,))
    config = EngineConfig()
    sentences: list[str] = []
    for key, value in stored.items():
        if key not in BY_KEY or key in _NOT_KEPT:
            continue
        try:
            config = config.with_values({key: value})
        except DomainError as error:
            default = BY_KEY[key].domain.format(BY_KEY[key].default)
            sentences.append(f"In the settings file: {error} The default, {default}, is used.")
    legal, broken = _made_legal(config)
    return StoredEngine(legal, changed_settings(config), (*sentences, *broken))


def _made_legal(config: EngineConfig) -> tuple[EngineConfig, tuple[str, ...]]:
    sentences: list[str] = []
    # Each step repairs a rule or resets keys, so there are at most as many as there are settings.
    for _ in BY_KEY:
        errors = errors_of(config)
        if not errors:
            return config, tuple(sentences)
        problem = errors[0]
        sentences.append(f"The settings kept from the last time were repaired: {problem.message}")
        mended = repaired(config, problem) if problem.fix else config
        if mended == config:
            mended = config.with_values({key: BY_KEY[key].default for key in problem.keys})
        config = mended
    return EngineConfig(), (*sentences, "The defaults are used.")


def changed_settings(config: EngineConfig) -> dict[str, object]:
    """What of ``config`` differs from the defaults, as it stands in the file."""
    return {
        key: list(value) if isinstance(value := getattr(config, key), tuple) else value
        for key in config.changed_from(EngineConfig())
        if key not in _NOT_KEPT
    }


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
