"""The models by folder: searched, sorted, walked with the arrow keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QRegularExpression,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPalette, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from resources.tokens import DARK, STEP_PX, Palette
from widgets.model_rows import ModelGroup, ModelRow

_KEY, _SORT, _GREYED, _WORDS = (Qt.ItemDataRole.UserRole + n for n in range(4))
_COLUMNS = ("Model", "About", "Size", "Modified")
_NAME, _ABOUT, _SIZE, _MODIFIED = range(4)
_WIDEST = ("", "000.0 B · Q4_K_M · 3 parts", "00.0 GiB", "0000-00-00")


class ModelTree(QTreeView):
    """Groups with their models.

    Signals:
        row_selected: Key (str) of the model that is current now; empty for none.
        row_activated: Key (str) of the model chosen by Enter or a double click.
    """

    row_selected = Signal(str)
    row_activated = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty tree."""
        super().__init__(parent)
        self.setAccessibleName("Models")
        self.setAccessibleDescription("Models on this machine by folder; Enter loads one.")
        self._source = QStandardItemModel(0, len(_COLUMNS), self)
        self._source.setHorizontalHeaderLabels(list(_COLUMNS))
        self._shown = QSortFilterProxyModel(self)
        self._shown.setSourceModel(self._source)
        self._shown.setRecursiveFilteringEnabled(True)
        self._shown.setFilterRole(_WORDS)
        self._shown.setSortRole(_SORT)
        self._groups: dict[str, QStandardItem] = {}
        self._names: dict[str, QStandardItem] = {}
        self._rows: dict[str, ModelRow] = {}
        self._order: list[str] = []
        self._delegate = _RowDelegate(self)
        self.setModel(self._shown)
        self.setItemDelegate(self._delegate)
        self._set_up()
        header = self.header()
        header.sortIndicatorChanged.connect(self._on_sort_changed)
        self.sortByColumn(_NAME, Qt.SortOrder.AscendingOrder)
        self.doubleClicked.connect(self._activate)
        self._measure()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._delegate.greyed = QColor(palette.muted)
        self.setStyleSheet(
            f"QTreeView {{ background: transparent; border: none; outline: none; }}"
            f"QTreeView::item {{ padding: {STEP_PX // 2}px 0; }}"
            f"QTreeView::item:selected {{ color: {palette.on_accent};"
            f" background: {palette.accent}; }}"
            f"QHeaderView {{ background: transparent; border: none; }}"
            f"QHeaderView::section {{ color: {palette.muted}; background: transparent;"
            f" border: none; border-bottom: 1px solid {palette.line};"
            f" padding: {STEP_PX}px {STEP_PX // 2}px; }}"
        )
        self.viewport().update()

    def set_groups(self, groups: Sequence[ModelGroup]) -> None:
        """Have these groups in this order; others go, with their models."""
        wanted = {group.key for group in groups}
        for key in self._groups.keys() - wanted:
            self.remove([row.key for row in self._rows.values() if row.group == key])
            item = self._groups.pop(key)
            self._source.removeRow(item.row())
        for group in groups:
            item = self._groups.get(group.key) or self._new_group(group.key)
            item.setText(group.title)
            item.setToolTip(group.detail)
        self._order = [group.key for group in groups]
        self._place_groups()
        self._hide_empty()

    def put(self, rows: Iterable[ModelRow]) -> None:
        """Show these models, in place of those of the same key."""
        for row in rows:
            before = self._rows.get(row.key)
            if before == row or row.group not in self._groups:
                continue
            if before is not None and before.group != row.group:
                self.remove([row.key])
            self._rows[row.key] = row
            items = self._items_of(row)
            _fill(items, row)
            if row.key not in self._names:
                self._names[row.key] = items[_NAME]
                self._groups[row.group].appendRow(items)
        self._hide_empty()

    def remove(self, keys: Iterable[str]) -> None:
        """Show these models no more."""
        for key in keys:
            item = self._names.pop(key, None)
            if item is not None:
                self._groups[self._rows.pop(key).group].removeRow(item.row())
        self._hide_empty()

    def row(self, key: str) -> ModelRow | None:
        """What is shown under ``key``."""
        return self._rows.get(key)

    def current_key(self) -> str:
        """Key of the model that is current; empty for none."""
        return self._key_at(self.currentIndex())

    def select(self, key: str) -> None:
        """Make the model ``key`` the current one, where it is shown."""
        item = self._names.get(key)
        if item is not None:
            index = self._shown.mapFromSource(item.index())
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def select_first(self) -> None:
        """Make the first model shown the current one."""
        for number in range(self._shown.rowCount()):
            group = self._shown.index(number, 0)
            if self._shown.rowCount(group):
                self.setCurrentIndex(self._shown.index(0, 0, group))
                return
        self.setCurrentIndex(QModelIndex())

    def set_search(self, words: str) -> None:
        """Show only models that have each of ``words`` in their name or kind."""
        parts = "".join(f"(?=.*{re.escape(word)})" for word in words.casefold().split())
        self._shown.setFilterRegularExpression(QRegularExpression(parts))
        self._hide_empty()
        if not self.current_key():
            self.select_first()

    def shown_count(self) -> int:
        """How many models are shown."""
        groups = (self._shown.index(number, 0) for number in range(self._shown.rowCount()))
        return sum(self._shown.rowCount(group) for group in groups)

    def count(self) -> int:
        """How many models there are."""
        return len(self._rows)

    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Tell which model is current."""
        super().currentChanged(current, previous)
        self.row_selected.emit(self._key_at(current))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter chooses."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate(self.currentIndex())
            return
        super().keyPressEvent(event)

    # --- Inside -------------------------------------------------------------------------

    def _set_up(self) -> None:
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setItemsExpandable(False)
        self.setRootIsDecorated(False)
        self.setIndentation(3 * STEP_PX)
        self.setSortingEnabled(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)

    def _measure(self) -> None:
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        for column in (_ABOUT, _SIZE, _MODIFIED):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            width = self.fontMetrics().horizontalAdvance(_WIDEST[column]) + 4 * STEP_PX
            header.resizeSection(column, width)

    def _new_group(self, key: str) -> QStandardItem:
        items = [QStandardItem() for _ in _COLUMNS]
        font = QFont(self.font())
        font.setBold(True)
        items[_NAME].setFont(font)
        for item in items:
            item.setFlags(Qt.ItemFlag.ItemIsEnabled)
            item.setData("", _WORDS)
        self._source.appendRow(items)
        self._groups[key] = items[_NAME]
        return items[_NAME]

    def _items_of(self, row: ModelRow) -> list[QStandardItem]:
        known = self._names.get(row.key)
        if known is None:
            return [QStandardItem() for _ in _COLUMNS]
        parent = self._groups[row.group]
        return [parent.child(known.row(), column) for column in range(len(_COLUMNS))]

    def _place_groups(self) -> None:
        """Give groups sort values that keep their order whichever way models are sorted."""
        is_down = self.header().sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
        for number, key in enumerate(self._order):
            row = self._groups[key].row()
            for column in range(len(_COLUMNS)):
                self._source.item(row, column).setData(-number if is_down else number, _SORT)

    def _hide_empty(self) -> None:
        for item in self._groups.values():
            index = self._shown.mapFromSource(item.index())
            if index.isValid():
                self.setRowHidden(index.row(), QModelIndex(), not item.hasChildren())
                self.setFirstColumnSpanned(index.row(), QModelIndex(), True)
                self.expand(index)

    def _on_sort_changed(self, *_: object) -> None:
        self._place_groups()
        self._hide_empty()

    def _activate(self, index: QModelIndex | QPersistentModelIndex) -> None:
        key = self._key_at(index)
        if key:
            self.row_activated.emit(key)

    @staticmethod
    def _key_at(index: QModelIndex | QPersistentModelIndex) -> str:
        key = index.sibling(index.row(), _NAME).data(_KEY) if index.isValid() else None
        return key if isinstance(key, str) else ""


class _RowDelegate(QStyledItemDelegate):
    """Paints what cannot be loaded in the muted colour."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.greyed = QColor(DARK.muted)

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        is_name = index.column() == _NAME
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        is_quiet = index.data(_GREYED) or (not is_name and index.parent().isValid())
        if is_quiet and not is_current:
            palette: QPalette = option.palette
            palette.setColor(QPalette.ColorRole.Text, self.greyed)


def _fill(items: Sequence[QStandardItem], row: ModelRow) -> None:
    name = f"{row.name}  ·  in use" if row.is_loaded else row.name
    modified = datetime.fromtimestamp(row.modified_s) if row.modified_s > 0 else None
    when = modified.strftime("%Y-%m-%d") if modified else ""
    texts = (name, row.about, row.size_text, when)
    sorts = (row.name.casefold(), row.about.casefold(), row.size_bytes, row.modified_s)
    for item, text, sort in zip(items, texts, sorts, strict=True):
        item.setText(text)
        item.setData(sort, _SORT)
        item.setData(row.is_greyed, _GREYED)
        item.setToolTip(row.sentence or row.name)
    items[_NAME].setData(row.key, _KEY)
    items[_NAME].setData(f"{row.name} {row.about}".casefold(), _WORDS)
    said = ", ".join(filter(None, (row.name, row.about, texts[_SIZE], row.sentence)))
    items[_NAME].setData(said, Qt.ItemDataRole.AccessibleTextRole)
    items[_SIZE].setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
