"""What becomes of each setting in the words of another engine.

A dialect has a table with one answer a setting: said (the engine has a word for it), translated
(its word means something else, and how that is bridged), or not carried, with the reason. Must not
know any engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TypeAlias

import msgspec

from engine_bridge.settings.row import Group
from engine_bridge.settings.table import SETTINGS


class Manner(StrEnum):
    """Whether an engine is told of a setting."""

    SAID = "said"
    TRANSLATED = "translated"
    NOT_CARRIED = "not carried"


class Carried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of one setting.

    Attributes:
        manner: Whether the engine is told.
        how: The engine's word where it is said; a sentence on how it is bridged where it is
            translated; the reason, a sentence, where it is not carried.
    """

    manner: Manner
    how: str


Answers: TypeAlias = Mapping[str, Carried]


class UnansweredError(LookupError):
    """A dialect has no answer for some setting: a fault of the program."""


def said(word: str) -> Carried:
    """The engine's ``word`` means the same."""
    return Carried(Manner.SAID, word)


def translated(how: str) -> Carried:
    """The engine has another word for it; ``how`` is a sentence that begins with that word."""
    return Carried(Manner.TRANSLATED, how)


def not_carried(reason: str) -> Carried:
    """The engine is not told; ``reason`` is a sentence."""
    return Carried(Manner.NOT_CARRIED, reason)


def same_for(keys: Iterable[str], answer: Carried) -> dict[str, Carried]:
    """``answer`` for each of ``keys``."""
    return dict.fromkeys(keys, answer)


def keys_in(*groups: Group) -> tuple[str, ...]:
    """Keys of the settings in these sections of the tune column."""
    return tuple(setting.key for setting in SETTINGS if setting.group in groups)


def answers_for_all(*tables: Answers) -> dict[str, Carried]:
    """One answer for each setting, in the order of the settings table; later tables win.

    Raises:
        UnansweredError: If a setting has none.
    """
    merged: dict[str, Carried] = {}
    for table in tables:
        merged |= table
    missing = [setting.key for setting in SETTINGS if setting.key not in merged]
    if missing:
        raise UnansweredError(f"No answer for {', '.join(missing)}.")
    return {setting.key: merged[setting.key] for setting in SETTINGS}


def left_out(reasons: Mapping[str, str]) -> dict[str, Carried]:
    """Reasons by their keys as answers, for what this configuration cannot have said."""
    return {key: not_carried(reason) for key, reason in reasons.items()}


def reasons_in(answers: Answers) -> dict[str, str]:
    """The reason of each setting that is not carried."""
    return {
        key: answer.how for key, answer in answers.items() if answer.manner is Manner.NOT_CARRIED
    }
