"""What the history shows, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HistoryEntry:
    """An experiment in the list.

    Attributes:
        key: Of the experiment, unique.
        kind: Key of what was done (``sweep``), see ``kind_words``.
        title: One line that tells it from the others.
        begun_s: When it began, seconds since 1970.
        model: Shown name of the model, or where a server is.
        state: ``done``, ``running``, ``stopped``, ``failed`` or ``cut``.
        figure: The figure that stands for it, with its unit; empty where nothing was measured.
        figure_label: What that figure is.
        about: How much the figure rests on (``fastest of 12 configurations · 60 runs``).
        place: Machine and engine in one line.
        tags: The user's words.
        note: The user's note.
        can_resume: Whether it stopped before its end and can be gone on with.
        is_unkept: Whether it is in memory only, since it could not be written.
    """

    key: str
    kind: str
    title: str
    begun_s: float
    model: str = ""
    state: str = "done"
    figure: str = ""
    figure_label: str = ""
    about: str = ""
    place: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    can_resume: bool = False
    is_unkept: bool = False
