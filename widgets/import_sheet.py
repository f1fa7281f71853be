"""What was understood of a pasted text, as plain data: words, rows, sentences.

Whoever fills it has escaped and masked every word of others; the views only lay them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""Whether an engine would refuse it, a person should look at it, or it was repaired already."""


@dataclass(frozen=True)
class ImportRow:
    """One setting of a command.

    Attributes:
        key: Key of the setting; of a part of it that is taken by itself, one of its own.
        label: Its name in the window.
        now: Value that is wanted at present, with its unit.
        then: Value of the text, with its unit.
        is_changed: Whether the two differ; only then there is something to leave out.
        is_derived: Whether the text does not say it and the engine's rules do.
        is_ticked: Whether it is taken unless a person unticks it.
        mark: Why it stands there, or why it is not ticked; may be empty.
        help: What the setting does.
    """

    key: str
    label: str
    now: str
    then: str
    is_changed: bool = True
    is_derived: bool = False
    is_ticked: bool = True
    mark: str = ""
    help: str = ""


@dataclass(frozen=True)
class ImportAsk:
    """A value that the text leaves open, and a person has to say.

    Attributes:
        key: Key of the setting.
        label: Its name in the window.
        takes: What may be said, in words.
        fault: Why what was said cannot be taken; empty where it can, or nothing was said.
    """

    key: str
    label: str
    takes: str
    fault: str = ""


@dataclass(frozen=True)
class ImportProblem:
    """A sentence about the text.

    Attributes:
        severity: How bad it is.
        sentence: What, why, what to do.
    """

    severity: Severity
    sentence: str


@dataclass(frozen=True)
class ImportModel:
    """The model of a command.

    Attributes:
        named: As the text names it; empty where it names none.
        about: A sentence: what that is, and what a person can do.
        path: The file a person chose or confirmed; empty before that.
        can_confirm: Whether what is named is a path that can be taken as it stands.
        is_running: Whether it is the model that is loaded.
    """

    named: str = ""
    about: str = ""
    path: str = ""
    can_confirm: bool = False
    is_running: bool = False


@dataclass(frozen=True)
class ImportCommand:
    """One command of the text.

    Attributes:
        title: What a person chooses it by among several.
        engine: The program it is for, as people call it.
        summary: A sentence: what would change.
        rows: Settings, changed ones first.
        asks: Values that a person has to say.
        model: Its model.
        problems: Errors first.
        healed: Words as they were and as they are said today; the second is empty where nothing
            says it.
        kept: Words that no setting stands for.
        leaves_again: Whether these leave in the command line as they came.
        others: Name and value of what is no setting of the desk: address, alias, environment;
            a flag as it was written, where that is known.
        notes: Sentences.
        about_ticks: Why settings are not ticked at first; empty where all are.
        warning: What must be seen before anything is taken, and is said again afterwards; may be
            empty.
    """

    title: str
    engine: str
    summary: str = ""
    rows: tuple[ImportRow, ...] = ()
    asks: tuple[ImportAsk, ...] = ()
    model: ImportModel = ImportModel()
    problems: tuple[ImportProblem, ...] = ()
    healed: tuple[tuple[str, str], ...] = ()
    kept: str = ""
    leaves_again: bool = True
    others: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    about_ticks: str = ""
    warning: str = ""


@dataclass(frozen=True)
class ImportSheet:
    """All that a text says.

    Attributes:
        commands: In the order of the text; empty where nothing was recognised.
        sentence: Why there is none, or that there are more than are shown; may be empty.
    """

    commands: tuple[ImportCommand, ...] = ()
    sentence: str = ""


@dataclass(frozen=True)
class ImportChoice:
    """What a person wants of a sheet.

    Attributes:
        command: Number of the command, from 0.
        keys: Settings that are to be taken.
    """

    command: int
    keys: frozenset[str]


Said = Mapping[tuple[int, str], str]
"""What a person typed for the values left open: by number of the command and key."""
