"""The rows of the conversation list: conversations by day, with the days between them.

Holds thousands of them as plain data; knows no widget and no file.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from widgets.conversation_list_days import day_group, full_time_words
from widgets.plain_tip import plain_tip

_Index: TypeAlias = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
ROW_ROLE = Qt.ItemDataRole.UserRole
_TIP_CHARACTERS = 600


@dataclass(frozen=True)
class ListedConversation:
    """A conversation as the list shows it.

    Attributes:
        id: Unique.
        title: Its name.
        changed_s: When it was last said something in, seconds since 1970.
        words: The line below the title: first words, or the place where a search hit.
        marks: Begin and end of each hit in ``words``, in characters.
    """

    id: str
    title: str
    changed_s: float
    words: str = ""
    marks: tuple[tuple[int, int], ...] = ()


class ConversationListModel(QAbstractListModel):
    """Conversations and the headings between them, newest first.

    Signals:
        conversation_renamed: Id and the new title, as typed; empty takes the first words again.
    """

    conversation_renamed = Signal(str, str)

    def __init__(
        self, parent: QObject | None = None, clock_s: Callable[[], float] = time.time
    ) -> None:
        """Begin empty; ``clock_s`` says what day it is."""
        super().__init__(parent)
        self._clock_s = clock_s
        self._rows: list[ListedConversation | str] = []
        self._places: dict[str, int] = {}
        self._open: frozenset[str] = frozenset()
        self._streaming: frozenset[str] = frozenset()
        self._texts: dict[Qt.ItemDataRole, Callable[[ListedConversation], str]] = {
            Qt.ItemDataRole.DisplayRole: lambda row: row.title,
            Qt.ItemDataRole.EditRole: lambda row: row.title,
            Qt.ItemDataRole.ToolTipRole: _tip,
            Qt.ItemDataRole.AccessibleTextRole: self._said,
            Qt.ItemDataRole.AccessibleDescriptionRole: lambda row: row.words,
        }

    @property
    def now_s(self) -> float:
        """Seconds since 1970."""
        return self._clock_s()

    def show(self, conversations: Iterable[ListedConversation], *, by_day: bool = True) -> None:
        """Show these instead.

        Args:
            conversations: In any order.
            by_day: Sort them by time, with headings between the days; else leave the order.
        """
        rows: list[ListedConversation | str] = (
            self._by_day(conversations) if by_day else list(conversations)
        )
        if _shape(rows) == _shape(self._rows):
            self._exchange_all(rows)
            return
        self.beginResetModel()
        self._rows = rows
        self._places = {row.id: at for at, row in enumerate(rows) if not isinstance(row, str)}
        self.endResetModel()

    def exchange(self, row: ListedConversation) -> bool:
        """Show ``row`` in the place of its older self, if that is its place by day and time.

        Returns:
            Whether it was; if not, all rows have to be shown anew.
        """
        at = self._places.get(row.id)
        if at is None or at == 0 or not self._belongs(row, at):
            return False
        self._rows[at] = row
        self.dataChanged.emit(self.index(at), self.index(at))
        return True

    def conversation_at(self, index: _Index) -> ListedConversation | None:
        """What stands there; None for a heading and outside."""
        row = self._rows[index.row()] if 0 <= index.row() < len(self._rows) else ""
        return None if isinstance(row, str) else row

    def is_heading(self, row: int) -> bool:
        """Whether a day stands there instead of a conversation."""
        return isinstance(self._rows[row], str)

    def place_of(self, conversation_id: str) -> QModelIndex:
        """Where a conversation stands; an invalid index where it does not."""
        at = self._places.get(conversation_id)
        return QModelIndex() if at is None else self.index(at)

    def nearest(self, row: int) -> QModelIndex:
        """The conversation at ``row``, or below it, or above it; invalid where there is none."""
        count = len(self._rows)
        for at in (*range(row, count), *range(min(row, count) - 1, -1, -1)):
            if not isinstance(self._rows[at], str):
                return self.index(at)
        return QModelIndex()

    def conversations_count(self) -> int:
        """Conversations without headings."""
        return len(self._places)

    def set_open(self, conversation_ids: Iterable[str]) -> None:
        """Mark those that are open in a tab."""
        old, self._open = self._open, frozenset(conversation_ids)
        self._tell(old ^ self._open)

    def set_streaming(self, conversation_ids: Iterable[str]) -> None:
        """Mark those in which an answer is being written."""
        old, self._streaming = self._streaming, frozenset(conversation_ids)
        self._tell(old ^ self._streaming)

    def is_open(self, conversation_id: str) -> bool:
        """Whether it is open in a tab."""
        return conversation_id in self._open

    def is_streaming(self, conversation_id: str) -> bool:
        """Whether an answer is being written in it."""
        return conversation_id in self._streaming

    # --- What Qt asks -----------------------------------------------------------------------

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        """Conversations and headings."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Texts of a row; the row itself by ``ROW_ROLE``."""
        if not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if isinstance(row, str):
            is_text = role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
            return row if is_text else None
        text = self._texts.get(Qt.ItemDataRole(role))
        return None if text is None else text(row)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Headings are passed by; titles can be edited."""
        if self.conversation_at(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return (
            Qt.ItemFlag.ItemIsEnabled
            | Qt.ItemFlag.ItemIsSelectable
            | Qt.ItemFlag.ItemIsEditable
            | Qt.ItemFlag.ItemNeverHasChildren
        )

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """A title was typed; the owner brings the renamed conversation back as data."""
        row = self.conversation_at(index)
        if row is None or role != Qt.ItemDataRole.EditRole:
            return False
        title = " ".join(str(value).split())
        if title != row.title:
            self.conversation_renamed.emit(row.id, title)
        return True

    # --- Inside -----------------------------------------------------------------------------

    def _by_day(
        self, conversations: Iterable[ListedConversation]
    ) -> list[ListedConversation | str]:
        now_s = self.now_s
        rows: list[ListedConversation | str] = []
        begin_s = math.inf
        for row in sorted(conversations, key=lambda row: row.changed_s, reverse=True):
            if row.changed_s < begin_s:
                group = day_group(row.changed_s, now_s)
                begin_s = group.begin_s
                rows.append(group.name)
            rows.append(row)
        return rows

    def _belongs(self, row: ListedConversation, at: int) -> bool:
        """Whether ``row`` stands rightly at ``at``, behind a heading or a conversation."""
        before = self._rows[at - 1]
        after = self._rows[at + 1] if at + 1 < len(self._rows) else ""
        if not isinstance(after, str) and after.changed_s > row.changed_s:
            return False
        if not isinstance(before, str):
            return before.changed_s >= row.changed_s and self._group(before) == self._group(row)
        return before == self._group(row)

    def _group(self, row: ListedConversation) -> str:
        return day_group(row.changed_s, self.now_s).name

    def _exchange_all(self, rows: list[ListedConversation | str]) -> None:
        """Same conversations in the same places: tell of those that changed."""
        changed = [at for at, (a, b) in enumerate(zip(self._rows, rows, strict=True)) if a != b]
        self._rows = rows
        for at in changed:
            self.dataChanged.emit(self.index(at), self.index(at))

    def _tell(self, conversation_ids: Iterable[str]) -> None:
        for conversation_id in conversation_ids:
            index = self.place_of(conversation_id)
            if index.isValid():
                self.dataChanged.emit(index, index)

    def _said(self, row: ListedConversation) -> str:
        parts = [row.title, full_time_words(row.changed_s)]
        if self.is_streaming(row.id):
            parts.append("an answer is being written")
        elif self.is_open(row.id):
            parts.append("open in a tab")
        return ", ".join(parts)


def _tip(row: ListedConversation) -> str:
    return plain_tip(f"{row.title[:_TIP_CHARACTERS]}\n{full_time_words(row.changed_s)}")


def _shape(rows: Sequence[ListedConversation | str]) -> list[str]:
    return [row if isinstance(row, str) else row.id for row in rows]
