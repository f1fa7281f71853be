"""The lines of the log as a list model: bounded, filtered by level, searched.

Knows lines; must not know how they are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from widgets.log_line import LEVELS, Level, LogLine

CAPACITY = 20_000
LineRole = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex


class LogModel(QAbstractListModel):
    """The last lines, those of a level or above shown.

    Signals:
        lines_dropped: How many (int) shown lines went at the top to make room.
        found_changed: The number of shown lines that the search finds may have changed.
    """

    lines_dropped = Signal(int)
    found_changed = Signal()

    def __init__(self, capacity: int = CAPACITY) -> None:
        """Keep ``capacity`` lines."""
        super().__init__()
        self._capacity = capacity
        self._all: list[LogLine] = []
        self._shown: list[LogLine] = []
        self._least = 0
        self._needle = ""
        # Of each shown line, whether the search finds it; all False without a search.
        self._hits: list[bool] = []
        self._longest_characters = 0

    # --- Qt's side ------------------------------------------------------------------------

    def rowCount(self, parent: Index | None = None) -> int:
        """Lines shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The line; as text for screen readers and for copying."""
        line = self._shown[index.row()]
        if role == LineRole:
            return line
        is_text = role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        return line.whole_text() if is_text else None

    # --- Lines ----------------------------------------------------------------------------

    @property
    def longest_characters(self) -> int:
        """Characters of the longest text ever shown since the model was empty."""
        return self._longest_characters

    def lines(self) -> tuple[LogLine, ...]:
        """All that is kept, oldest first, whatever is shown."""
        return tuple(self._all)

    def line(self, row: int) -> LogLine:
        """The shown line in ``row``."""
        return self._shown[row]

    def append(self, lines: Sequence[LogLine]) -> None:
        """Add ``lines`` at the end, many at once; the oldest make room."""
        lines = lines[-self._capacity :]
        self._make_room(len(lines))
        self._all += lines
        shown = [line for line in lines if self._is_shown(line)]
        if not shown:
            return
        self._measure(shown)
        begin = len(self._shown)
        self.beginInsertRows(QModelIndex(), begin, begin + len(shown) - 1)
        self._shown += shown
        self._hits += map(self._is_found, shown)
        self.endInsertRows()
        self._tell_found()

    def clear(self) -> None:
        """Forget every line."""
        self.beginResetModel()
        self._all.clear()
        self._shown.clear()
        self._hits.clear()
        self._longest_characters = 0
        self.endResetModel()
        self.found_changed.emit()

    def show_from(self, level: Level) -> None:
        """Show lines of ``level`` and above."""
        least = LEVELS.index(level)
        if least == self._least:
            return
        self.beginResetModel()
        self._least = least
        self._shown = [line for line in self._all if self._is_shown(line)]
        self._measure(self._shown)
        self._hits = list(map(self._is_found, self._shown))
        self.endResetModel()
        self.found_changed.emit()

    def _make_room(self, count: int) -> None:
        excess = len(self._all) + count - self._capacity
        if excess <= 0:
            return
        # Both lists are in the same order, so what goes stands in front of both.
        going = sum(map(self._is_shown, self._all[:excess]))
        del self._all[:excess]
        if not going:
            return
        self.beginRemoveRows(QModelIndex(), 0, going - 1)
        del self._shown[:going]
        del self._hits[:going]
        self.endRemoveRows()
        self._tell_found()
        self.lines_dropped.emit(going)

    def _is_shown(self, line: LogLine) -> bool:
        return LEVELS.index(line.level) >= self._least

    def _measure(self, lines: Sequence[LogLine]) -> None:
        longest = max((len(line.text) for line in lines), default=0)
        self._longest_characters = max(self._longest_characters, longest)

    # --- Search ---------------------------------------------------------------------------

    @property
    def needle(self) -> str:
        """What is searched for, in small letters; empty without a search."""
        return self._needle

    @property
    def found(self) -> int:
        """How many shown lines hold what is searched for."""
        return sum(self._hits)

    def search(self, needle: str) -> None:
        """Look for ``needle`` in every text, whatever its case."""
        self._needle = needle.casefold()
        self._hits = list(map(self._is_found, self._shown))
        self.found_changed.emit()

    def next_found(self, row: int, step: int) -> int:
        """The next row behind (``step`` 1) or before (-1) ``row`` with a match, round the end.

        Returns:
            -1 where nothing is found.
        """
        rows = [number for number, is_hit in enumerate(self._hits) if is_hit]
        if not rows:
            return -1
        if step > 0:
            return next((number for number in rows if number > row), rows[0])
        return next((number for number in reversed(rows) if number < row), rows[-1])

    def place_of(self, row: int) -> int:
        """Which match the line in ``row`` is, from 1; 0 if it is none."""
        is_hit = 0 <= row < len(self._hits) and self._hits[row]
        return sum(self._hits[: row + 1]) if is_hit else 0

    def _is_found(self, line: LogLine) -> bool:
        return bool(self._needle) and self._needle in line.text.casefold()

    def _tell_found(self) -> None:
        if self._needle:
            self.found_changed.emit()
