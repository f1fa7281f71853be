"""The picker's list as a table: headings and models in the order shown, searched and sorted.

All of it in Python lists: of 2,000 models Qt asks only for the thirty that can be seen, where a
tree with a sorting proxy looked at every one for every one that came.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from resources.tokens import DARK, Palette
from widgets.model_rows import ModelGroup, ModelRow
from widgets.plain_tip import plain_tip

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Column(IntEnum):
    """The columns, in their order."""

    NAME = 0
    ABOUT = 1
    SIZE = 2
    MODIFIED = 3


_TITLES = {
    Column.NAME: "Model",
    Column.ABOUT: "About",
    Column.SIZE: "Size",
    Column.MODIFIED: "Modified",
}


class ModelTable(QAbstractTableModel):
    """Models under the headings of their groups; headings cannot be selected."""

    def __init__(self, parent: QObject) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self._groups: dict[str, ModelGroup] = {}
        self._rows: dict[str, ModelRow] = {}
        self._shown: list[ModelGroup | ModelRow] = []
        self._place: dict[str, int] = {}
        self._words: tuple[str, ...] = ()
        self._column = Column.NAME
        self._is_down = False
        self._muted = QColor(DARK.muted)

    # --- What is in it ------------------------------------------------------------------

    def set_groups(self, groups: Sequence[ModelGroup]) -> None:
        """Have these groups in this order; others go, with their models."""
        self._groups = {group.key: group for group in groups}
        self._rows = {k: row for k, row in self._rows.items() if row.group in self._groups}
        self._arrange()

    def put(self, rows: Iterable[ModelRow]) -> None:
        """Take these models, in place of those of the same key."""
        new = {
            row.key: row
            for row in rows
            if row.group in self._groups and self._rows.get(row.key) != row
        }
        if new:
            self._rows |= new
            self._arrange()

    def remove(self, keys: Iterable[str]) -> None:
        """Take these models out."""
        for key in keys:
            self._rows.pop(key, None)
        self._arrange()

    def set_words(self, words: str) -> None:
        """Show only models that have each of ``words`` in their name or kind."""
        self._words = tuple(words.casefold().split())
        self._arrange()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._muted = QColor(palette.muted)

    # --- What is shown ------------------------------------------------------------------

    def row(self, key: str) -> ModelRow | None:
        """The model of this key, shown or not."""
        return self._rows.get(key)

    def key_at(self, number: int) -> str:
        """Key of the model in line ``number``; empty for a heading and beyond the end."""
        shown = self._shown[number] if 0 <= number < len(self._shown) else None
        return shown.key if isinstance(shown, ModelRow) else ""

    def place_of(self, key: str) -> int | None:
        """Line of the model of this key; None where it is not shown."""
        return self._place.get(key)

    def headings(self) -> list[int]:
        """Lines of the headings."""
        return [n for n, shown in enumerate(self._shown) if isinstance(shown, ModelGroup)]

    def shown_count(self) -> int:
        """How many models are shown."""
        return len(self._place)

    def count(self) -> int:
        """How many models there are."""
        return len(self._rows)

    def abouts(self) -> set[str]:
        """What is said about the models, each once, with the column's own title."""
        return {_TITLES[Column.ABOUT]} | {row.about for row in self._rows.values()}

    def loadable_counts(self) -> tuple[int, int]:
        """How many models can be loaded: of those shown, and of all."""
        shown = sum(not self._rows[key].is_greyed for key in self._place)
        return shown, sum(not row.is_greyed for row in self._rows.values())

    # --- What Qt asks -------------------------------------------------------------------

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Headings and models."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """Always the same."""
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """The titles of the columns."""
        if orientation is Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return _TITLES[Column(section)]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(section)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings are only looked at."""
        if not index.isValid() or isinstance(self._shown[index.row()], ModelGroup):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What stands in a cell."""
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        shown, column = self._shown[index.row()], index.column()
        if isinstance(shown, ModelGroup):
            return self._heading(shown, column, role)
        return self._cell(shown, column, role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the models of each group; the groups keep their order."""
        self._column = Column(max(column, 0))
        self._is_down = order is Qt.SortOrder.DescendingOrder
        self._arrange()

    # --- Inside -------------------------------------------------------------------------

    def _arrange(self) -> None:
        by_group: dict[str, list[ModelRow]] = {key: [] for key in self._groups}
        for row in self._rows.values():
            if self._is_found(row):
                by_group[row.group].append(row)
        shown: list[ModelGroup | ModelRow] = []
        for key, rows in by_group.items():
            if rows:
                rows.sort(key=self._sort_key, reverse=self._is_down)
                shown += [self._groups[key], *rows]
        self.beginResetModel()
        self._shown = shown
        self._place = {
            row.key: number for number, row in enumerate(shown) if isinstance(row, ModelRow)
        }
        self.endResetModel()

    def _is_found(self, row: ModelRow) -> bool:
        if not self._words:
            return True
        words = f"{row.name} {row.about}".casefold()
        return all(word in words for word in self._words)

    def _sort_key(self, row: ModelRow) -> tuple[float | str, str]:
        name = row.name.casefold()
        firsts: dict[Column, float | str] = {
            Column.NAME: name,
            Column.ABOUT: row.about.casefold(),
            Column.SIZE: row.size_bytes,
            Column.MODIFIED: row.modified_s,
        }
        return firsts[self._column], name

    def _heading(self, group: ModelGroup, column: int, role: int) -> object:
        if column != Column.NAME:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            # Two folders may have one name.
            return f"{group.title}  ·  {group.detail}" if group.detail else group.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(group.detail)
        if role == Qt.ItemDataRole.FontRole:
            font = QFont()
            font.setBold(True)
            return font
        return None

    def _cell(self, row: ModelRow, column: int, role: int) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row.sentence or row.name)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._muted if row.is_greyed or column != Column.NAME else None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = (row.name, row.about, row.size_text, row.sentence)
            return ", ".join(filter(None, said)) if column == Column.NAME else None
        return None


def _text(row: ModelRow, column: int) -> str:
    if column == Column.NAME:
        return f"{row.name}  ·  in use" if row.is_loaded else row.name
    if column == Column.ABOUT:
        return row.about
    if column == Column.SIZE:
        return row.size_text
    if row.modified_s <= 0:
        return ""
    return datetime.fromtimestamp(row.modified_s).strftime("%Y-%m-%d")


def _alignment(column: int) -> Qt.AlignmentFlag:
    left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    return _RIGHT if column == Column.SIZE else left
