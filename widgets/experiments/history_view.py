"""The history of experiments: found by words, kind and tag; opened, compared, deleted."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from resources.tokens import Palette
from widgets.experiments.comparison_sheet import ComparisonSheet
from widgets.experiments.history_entry import HistoryEntry


class HistoryView(QFrame):
    """The list of all experiments, newest first, and what can be done with them.

    Signals:
        opened: Key of the one to be shown whole.
        new_wanted: Kind (``sweep``) of the experiment that is to be set up.
        searched: Words to look for; empty once the search ends.
        filtered: Kind and tag that are shown alone; empty for all.
        tags_edited: Key, and its tags (tuple of str) as typed.
        note_edited: Key, and its note as typed.
        compare_wanted: Keys of the two, the older one first.
        delete_wanted: Keys (tuple of str).
        restore_wanted: Keys (tuple of str) of deleted ones that are wanted back.
        export_wanted: Keys (tuple of str), and ``csv``, ``json``, ``markdown`` or ``card``.
        resume_wanted: Key of a stopped sweep that is to go on.
        retried: Reading the history anew is wanted.
    """

    opened = Signal(str)
    new_wanted = Signal(str)
    searched = Signal(str)
    filtered = Signal(str, str)
    tags_edited = Signal(str, tuple)
    note_edited = Signal(str, str)
    compare_wanted = Signal(str, str)
    delete_wanted = Signal(tuple)
    restore_wanted = Signal(tuple)
    export_wanted = Signal(tuple, str)
    resume_wanted = Signal(str)
    retried = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a list that is still being read."""
        super().__init__(parent)
        self._entries: Sequence[HistoryEntry] = ()

    def set_entries(self, entries: Sequence[HistoryEntry], tags: Sequence[str] = ()) -> None:
        """Show these, in this order; ``tags`` are all that can be chosen from."""
        self._entries = entries

    def set_failed(self, sentence: str) -> None:
        """The history could not be read, as ``sentence`` says."""

    def show_comparison(self, sheet: ComparisonSheet) -> None:
        """Show two experiments side by side, with a way back to the list."""

    def show_problem(self, sentence: str) -> None:
        """Say that something did not work; the empty string takes that back."""

    def show_note(self, sentence: str) -> None:
        """Say something that is good to know."""

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
