"""What a trial of an exported line shows, as plain values. Pure: no Qt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TryRow:
    """One figure of both sides.

    Attributes:
        label: What it is.
        meaning: Its definition.
        server: The server's, with its spread.
        own: The embedded engine's.
        unit: Of both; may be empty.
        change: The server's against the engine's; empty where that says nothing.
    """

    label: str
    meaning: str
    server: str
    own: str
    unit: str
    change: str = ""


@dataclass(frozen=True)
class TrySheet:
    """Both sides.

    Attributes:
        headline: What it comes to, a sentence.
        sentences: More of it: the other verdicts, what the figures rest on.
        rows: The figures.
        has_own: Whether the embedded engine was measured.
        runs: How many runs they are of.
    """

    headline: str
    sentences: tuple[str, ...] = ()
    rows: tuple[TryRow, ...] = ()
    has_own: bool = True
    runs: int = 0


@dataclass(frozen=True)
class TryWork:
    """Work that both sides can be given.

    Attributes:
        key: Its identity.
        title: A few words.
        about: What it stands for, a sentence.
    """

    key: str
    title: str
    about: str
