"""What the export view shows, as plain values. Pure: no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Fate = Literal["said", "translated", "left out"]


@dataclass(frozen=True)
class ExportTarget:
    """An engine that a configuration can leave for.

    Attributes:
        key: Its identity.
        name: For people.
        group: Engines of one kind stand below it; empty for none.
        told: What it is told by, a sentence.
        needs: What it needs, a sentence.
        can_be_tried: Whether the program is one that can be tried from here.
    """

    key: str
    name: str
    group: str = ""
    told: str = ""
    needs: str = ""
    can_be_tried: bool = False


@dataclass(frozen=True)
class ExportPart:
    """One text that leaves: the command, or a file that it needs.

    Attributes:
        title: Of its tab, short; ``file_name`` is its tip.
        text: All of it.
        about: What it is for, a sentence; may be empty.
        file_name: What it is called where it is saved.
        is_command: Whether it is the command.
    """

    title: str
    text: str
    about: str
    file_name: str
    is_command: bool = False


@dataclass(frozen=True)
class SettingFate:
    """What becomes of one setting.

    Attributes:
        key: The setting.
        label: Its name in the window.
        value: The user's value with its unit.
        fate: Whether it is said as it is, in other words, or not at all.
        words: How it is translated, or why it is left out; may be empty where it is said.
        is_changed: Whether it differs from the default.
    """

    key: str
    label: str
    value: str
    fate: Fate
    words: str = ""
    is_changed: bool = False


@dataclass(frozen=True)
class ExportSheet:
    """A configuration in the words of one engine.

    Attributes:
        target: Key of the engine.
        parts: The command first, then the files.
        refusals: Why the engine would not take it, in sentences.
        notes: What one should know before running it, in sentences.
        settings: What becomes of each setting, in the order of the window.
        front: Place of the part that the view opens with, from 0.
        nothing: Why there is nothing to show; empty where there is.
    """

    target: str
    parts: tuple[ExportPart, ...] = ()
    refusals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: tuple[SettingFate, ...] = ()
    front: int = 0
    nothing: str = ""
