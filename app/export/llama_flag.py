"""How one flag of llama.cpp's server is written, and what that may depend on.

Must not know any flag.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY


@dataclass(frozen=True)
class Situation:
    """What a flag may depend on: the configuration, what became of it, and the model.

    Attributes:
        program: What the dialect calls the program, for sentences.
        shell: Who will read the line: some cannot be given a word of several lines.
    """

    config: EngineConfig
    effective: EffectiveConfig | None
    facts: ModelFacts | None
    program: str
    shell: Shell = Shell.POSIX


def situation_of(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    program: str,
    shell: Shell = Shell.POSIX,
) -> Situation:
    """The situation with what ``auto`` came to in place of ``auto``, where layers are placed."""
    if effective is not None and effective.placed:
        config = config.with_values(dict(effective.placed))
    return Situation(config, effective, facts, program, shell)


@dataclass(frozen=True)
class Flag:
    """How some settings are said.

    Attributes:
        keys: The settings it says.
        words: Its words on the command line, empty where the program's default says the same.
    """

    keys: tuple[str, ...]
    words: Callable[[Situation], tuple[str, ...]]


def said(flag: str, key: str) -> Flag:
    """``flag VALUE``, always."""
    return Flag((key,), lambda s: (flag, str(getattr(s.config, key))))


def said_if_changed(flag: str, key: str) -> Flag:
    """``flag VALUE`` where the value is not the default, which is the program's as well."""
    default = BY_KEY[key].default

    def write(s: Situation) -> tuple[str, ...]:
        value = getattr(s.config, key)
        return () if value == default else (flag, str(value))

    return Flag((key,), write)


def switch(flag: str, key: str, *, when: bool) -> Flag:
    """``flag`` alone, where the setting is ``when``."""
    return Flag((key,), lambda s: (flag,) if getattr(s.config, key) is when else ())
