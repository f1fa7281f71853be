"""The rows of the history's list. Holds thousands of them; knows no widget and no file."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from widgets.conversation_list_days import full_time_words
from widgets.experiments.history_entry import EntryList, HistoryEntry
from widgets.experiments.kind_words import kind_name
from widgets.plain_tip import plain_tip

_Index: TypeAlias = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
ENTRY_ROLE = Qt.ItemDataRole.UserRole
"""The ``HistoryEntry`` itself."""

_STATES = {"done": "", "cut": "cut off"}
UNKEPT = "not on the disk yet"
"""Stands where an experiment is in memory only."""


def state_words(entry: HistoryEntry) -> str:
    """How far it came, in words; empty for one that is done and kept."""
    return UNKEPT if entry.is_unkept else _STATES.get(entry.state, entry.state)


class HistoryModel(QAbstractListModel):
    """Experiments in the order in which they come."""

    def __init__(
        self, parent: QObject | None = None, clock_s: Callable[[], float] = time.time
    ) -> None:
        """Begin empty; ``clock_s`` says what day it is."""
        super().__init__(parent)
        self._clock_s = clock_s
        self._entries = EntryList.of(())

    @property
    def now_s(self) -> float:
        """Seconds since 1970."""
        return self._clock_s()

    @property
    def entries(self) -> EntryList:
        """What is shown."""
        return self._entries

    def show(self, entries: EntryList) -> None:
        """Show these instead."""
        if entries.keys == self._entries.keys:
            self._entries = entries
            if len(entries):
                self.dataChanged.emit(self.index(0), self.index(len(entries) - 1))
            return
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()

    def entry_at(self, index: _Index) -> HistoryEntry | None:
        """What stands there; None outside."""
        return self._entries.at(index.row()) if 0 <= index.row() < len(self._entries) else None

    def place_of(self, key: str) -> QModelIndex:
        """Where an experiment stands; an invalid index where it does not."""
        place = self._entries.place_of(key)
        return QModelIndex() if place is None else self.index(place)

    # --- What Qt asks -----------------------------------------------------------------------

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        """One for each."""
        return 0 if parent.isValid() else len(self._entries)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """All can be picked."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return (
            Qt.ItemFlag.ItemIsEnabled
            | Qt.ItemFlag.ItemIsSelectable
            | Qt.ItemFlag.ItemNeverHasChildren
        )

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Texts of an experiment; itself by ``ENTRY_ROLE``."""
        entry = self.entry_at(index)
        if entry is None:
            return None
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip("\n".join(filter(None, (entry.title, *_about(entry), entry.note))))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join((entry.title, *_about(entry)))
        return None


def _about(entry: HistoryEntry) -> list[str]:
    """Everything but title and note, as a screen reader says it."""
    parts = (
        kind_name(entry.kind),
        state_words(entry),
        entry.model,
        " ".join(filter(None, (entry.figure_label, entry.figure))),
        f"{entry.disturbed_runs:,} runs disturbed" if entry.disturbed_runs else "",
        full_time_words(entry.begun_s),
        *(f"#{tag}" for tag in entry.tags),
    )
    return [part for part in parts if part]
