"""What every dialect answers with, and how words become one line for a shell.

Knows POSIX quoting; must not know any engine's flags.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Protocol

import msgspec

from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

# Python keeps a byte b of a file name that is no UTF-8 as the character U+DC00 + b.
_FIRST_STRAY_BYTE = 0xDC80
_LAST_STRAY_BYTE = 0xDCFF


class Export(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration in the words of one engine.

    Attributes:
        target: Name of the dialect.
        text: The line for a POSIX shell.
        notes: What the user should know before running it.
        not_carried: Settings that the line cannot say, each with the reason.
    """

    target: str
    text: str
    notes: tuple[str, ...]
    not_carried: dict[str, str]


class Dialect(Protocol):
    """Writes a configuration for one engine."""

    def __call__(
        self, config: EngineConfig, effective: EffectiveConfig | None, facts: ModelFacts | None
    ) -> Export:
        """Write ``config``.

        Args:
            config: As wanted.
            effective: What the engine made of it, for everything left to ``auto``; None if it was
                not asked yet.
            facts: The model, None if it is not known.
        """
        ...


def shell_line(words: Iterable[str]) -> str:
    """``words`` as one command line that a POSIX shell splits into exactly them."""
    return " ".join(_quoted(word) for word in words)


def has_stray_bytes(word: str) -> bool:
    """Whether ``word`` holds bytes of a file name that are no UTF-8."""
    return any(_FIRST_STRAY_BYTE <= ord(character) <= _LAST_STRAY_BYTE for character in word)


def _quoted(word: str) -> str:
    if not has_stray_bytes(word):
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def _escaped(character: str) -> str:
    code = ord(character)
    if _FIRST_STRAY_BYTE <= code <= _LAST_STRAY_BYTE:
        return f"\\{code - 0xDC00:03o}"
    return f"\\{character}" if character in "\\'" else character
