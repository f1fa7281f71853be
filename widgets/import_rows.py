"""The settings of an imported command as rows that can be ticked: a model for a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QGuiApplication, QIcon, QPalette, QPixmap

from widgets.import_sheet import ImportRow
from widgets.plain_tip import plain_tip
from widgets.row_table import LEFT, RIGHT
from widgets.theme import icon

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_HEADS = ("Setting", "Now", "Then", "")
LABEL, NOW, THEN, MARK = range(len(_HEADS))
_SAME = "As it is"
_BOX_PX = 16


class ImportRows(QAbstractTableModel):
    """Settings with their values now and then; changed ones have a box.

    Signals:
        ticked: A person ticked or unticked a row: its key (str), and whether it is ticked (bool).
    """

    ticked = Signal(str, bool)

    def __init__(self, parent: QObject) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self._rows: tuple[ImportRow, ...] = ()
        self._ticks: set[str] = set()
        self._bold = QFont()
        self._bold.setWeight(QFont.Weight.DemiBold)

    def show(self, rows: Sequence[ImportRow], ticks: set[str]) -> None:
        """Have these rows, of which those with keys in ``ticks`` are ticked."""
        self.beginResetModel()
        self._rows, self._ticks = tuple(rows), set(ticks)
        self.endResetModel()

    def row_at(self, line: int) -> ImportRow | None:
        """The row of a line; None beyond the end."""
        return self._rows[line] if 0 <= line < len(self._rows) else None

    def line_of(self, key: str) -> int | None:
        """The line of a setting; None where it has none."""
        return next((line for line, row in enumerate(self._rows) if row.key == key), None)

    def ticks(self) -> frozenset[str]:
        """Keys of the rows that are taken."""
        return frozenset(self._ticks)

    def toggle(self, line: int) -> None:
        """Tick or untick a line, where there is something to leave out."""
        row = self.row_at(line)
        if row is None or not row.is_changed:
            return
        is_ticked = row.key not in self._ticks
        (self._ticks.add if is_ticked else self._ticks.discard)(row.key)
        self.dataChanged.emit(self.index(line, 0), self.index(line, MARK))
        self.ticked.emit(row.key, is_ticked)

    def longest(self, column: int) -> str:
        """The longest text of a column."""
        texts = [_HEADS[column], *(_text(row, column) for row in self._rows)]
        return max(texts, key=len)

    def set_font(self, font: QFont) -> None:
        """Use this font for what stands out."""
        self._bold = QFont(font)
        self._bold.setWeight(QFont.Weight.DemiBold)

    # --- What Qt asks -----------------------------------------------------------------------

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """A line for each row."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """Name, now, then, and why."""
        return 0 if parent.isValid() else len(_HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Titles."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(_HEADS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if section in (NOW, THEN) else LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words, boxes and looks."""
        row = self.row_at(index.row())
        if row is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.DecorationRole:
            return self._box(row) if column == LABEL else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(row, column)
        return self._look(row, column, role)

    def _box(self, row: ImportRow) -> QIcon:
        """A box of the palette; room for one where there is nothing to leave out."""
        if not row.is_changed:
            return _no_box()
        is_ticked = row.key in self._ticks
        role = QPalette.ColorRole.Highlight if is_ticked else QPalette.ColorRole.PlaceholderText
        return _box(QGuiApplication.palette().color(role).name(), is_ticked=is_ticked)

    def _look(self, row: ImportRow, column: int, role: int) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if column in (NOW, THEN) else LEFT
        is_taken = row.is_changed and row.key in self._ticks
        if role == Qt.ItemDataRole.FontRole and column == THEN and is_taken:
            return self._bold
        if role == Qt.ItemDataRole.ForegroundRole and (column in (NOW, MARK) or not is_taken):
            return QGuiApplication.palette().color(QPalette.ColorRole.PlaceholderText)
        return None

    def _spoken(self, row: ImportRow, column: int) -> str:
        if column != LABEL:
            return _text(row, column)
        if not row.is_changed:
            return f"{row.label}: {row.then}, as it is"
        taken = "taken" if row.key in self._ticks else "left out"
        words = f"{row.label}: {row.now} becomes {row.then}, {taken}"
        return f"{words}. {row.mark}" if row.mark else words


@lru_cache(maxsize=8)
def _box(colour: str, *, is_ticked: bool) -> QIcon:
    return icon("box-ticked" if is_ticked else "box", colour, _BOX_PX)


@lru_cache(maxsize=1)
def _no_box() -> QIcon:
    nothing = QPixmap(_BOX_PX, _BOX_PX)
    nothing.fill(Qt.GlobalColor.transparent)
    return QIcon(nothing)


def _text(row: ImportRow, column: int) -> str:
    if column == LABEL:
        return row.label
    if column == NOW:
        return row.now
    if column == THEN:
        return row.then
    return row.mark or ("" if row.is_changed else _SAME)


def _tip(row: ImportRow) -> str:
    change = f"{row.now} → {row.then}" if row.is_changed else f"{row.then}, as it is"
    return plain_tip("\n\n".join(filter(None, (f"{row.label}: {change}", row.mark, row.help))))
