"""The list of the history on the screen: its keys, its menu, and what it keeps when rows change."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from widgets.experiments.history_delegate import HistoryDelegate
from widgets.experiments.history_entry import HistoryEntry
from widgets.experiments.history_model import HistoryModel
from widgets.painted_rows import set_up_painted_rows, takes_key
from widgets.row_table import set_up_rows

_OWN_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
_OWN_STANDARD_KEYS = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.SelectAll)
# So many picked ones are found again when the rows change; who picked more did it with Ctrl+A.
_MOST_KEPT = 200


class HistoryList(QTableView):
    """Experiments, two lines each; one or several are picked.

    A table of one column: a list asks its model for every row before it shows the first, which
    takes 20 ms of ten thousand.

    Signals:
        open_asked: Key of the one to be shown whole.
        delete_asked: What is picked is to be deleted.
        undo_asked: The last deletion is to be taken back.
        menu_asked: Where on the screen the menu of what is picked belongs.
        picked: Something else is picked now.
    """

    open_asked = Signal(str)
    delete_asked = Signal()
    undo_asked = Signal()
    menu_asked = Signal(QPoint)
    picked = Signal()

    def __init__(self, model: HistoryModel, parent: QWidget) -> None:
        """Show ``model``."""
        super().__init__(parent)
        self._rows = model
        self._is_changing = False
        self.delegate = HistoryDelegate(model, self)
        self.setModel(model)
        self.setItemDelegate(self.delegate)
        set_up_rows(self)
        set_up_painted_rows(self)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._set_up_headers()
        self.setAccessibleName("Experiments")
        self.setAccessibleDescription(
            "Return opens, Delete deletes, Ctrl+Z takes that back; two that are picked can be "
            "compared."
        )
        self.doubleClicked.connect(self._on_double_clicked)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)

    def picked_count(self) -> int:
        """How many are picked; cheap, however many they are."""
        return sum(len(part) for part in self._picked_parts())

    def picked_entries(self, most: int | None = None) -> list[HistoryEntry]:
        """What is picked, newest first as they stand.

        Args:
            most: At most so many; None for all.
        """
        entries = self._rows.entries
        return [entries.at(place) for place in self._picked_places()[:most]]

    def picked_keys(self) -> tuple[str, ...]:
        """Keys of what is picked, as they stand."""
        keys = self._rows.entries.keys
        return tuple(keys[place] for place in self._picked_places())

    def pick(self, keys: Iterable[str]) -> None:
        """Pick these alone, the first of them current; those that are not listed are passed by."""
        chosen, first = QItemSelection(), QModelIndex()
        for key in keys:
            index = self._rows.place_of(key)
            if index.isValid():
                chosen.select(index, index)
                first = first if first.isValid() else index
        if not first.isValid():
            return
        selection = self.selectionModel()
        selection.setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
        selection.select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def keep_place(self, change: Callable[[], None]) -> None:
        """Change the rows; what is picked, current and in sight stays so.

        Where what was picked is gone, what stands at its place now is picked.
        """
        places = self._picked_places()
        keys = self._rows.entries.keys
        picked = [keys[place] for place in places[:_MOST_KEPT]]
        current = self.currentIndex()
        current_key = keys[current.row()] if 0 <= current.row() < len(keys) else ""
        row_px = self.verticalHeader().defaultSectionSize()
        top, beyond_px = divmod(self.verticalScrollBar().value(), row_px)
        top_key = keys[top] if top < len(keys) and (top or beyond_px) else ""
        self._is_changing = True
        change()
        if self._rows.entries.keys != keys:
            self._pick_again(picked, current_key, places[0] if places else 0)
            self._scroll_to(top_key, beyond_px, row_px)
        self._is_changing = False
        self.picked.emit()

    def measure_again(self) -> None:
        """The font changed."""
        option = QStyleOptionViewItem()
        option.font = self.font()
        height_px = self.delegate.sizeHint(option, QModelIndex()).height()
        self.verticalHeader().setDefaultSectionSize(height_px)

    # --- What Qt says -----------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """In here the list's keys come before shortcuts of the whole window."""
        return takes_key(event, _OWN_KEYS, _OWN_STANDARD_KEYS) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of the list; everything else is Qt's."""
        entry = self._rows.entry_at(self.currentIndex())
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_asked.emit()
        elif entry is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_asked.emit(entry.key)
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_asked.emit()
        elif key == Qt.Key.Key_Escape or event.matches(QKeySequence.StandardKey.Find):
            event.ignore()  # the view's
        else:
            super().keyPressEvent(event)

    def moveCursor(
        self,
        action: QAbstractItemView.CursorAction,
        modifiers: Qt.KeyboardModifier,
    ) -> QModelIndex:
        """Home and End go to the first and the last, not along the row."""
        count = len(self._rows.entries)
        if count and action is QAbstractItemView.CursorAction.MoveHome:
            return self._rows.index(0)
        if count and action is QAbstractItemView.CursorAction.MoveEnd:
            return self._rows.index(count - 1)
        return super().moveCursor(action, modifiers)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu of what is picked; a row beside it is picked by that."""
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        entry = self._rows.entry_at(index)
        if entry is None:
            return
        if not self.selectionModel().isSelected(index):
            self.pick([entry.key])
        at = self.visualRect(index).bottomLeft() if by_key else event.pos()
        self.menu_asked.emit(self.viewport().mapToGlobal(at))

    # --- Inside -----------------------------------------------------------------------------

    def _set_up_headers(self) -> None:
        """One column as wide as the list, rows as high as the delegate wants them."""
        self.horizontalHeader().hide()
        self.horizontalHeader().setMinimumSectionSize(0)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        rows = self.verticalHeader()
        rows.setMinimumSectionSize(0)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.measure_again()

    def _picked_parts(self) -> list[range]:
        chosen = self.selectionModel().selection()
        parts = [chosen.at(number) for number in range(chosen.size())]
        return [range(part.top(), part.bottom() + 1) for part in parts]

    def _picked_places(self) -> list[int]:
        return sorted(place for part in self._picked_parts() for place in part)

    def _pick_again(self, picked: list[str], current: str, place: int) -> None:
        entries = self._rows.entries
        left = [key for key in picked if entries.place_of(key) is not None]
        if not left and len(entries):
            left = [entries.keys[min(place, len(entries) - 1)]]
        self.pick(left)
        index = self._rows.place_of(current)
        if index.isValid():
            flag = QItemSelectionModel.SelectionFlag.NoUpdate
            self.selectionModel().setCurrentIndex(index, flag)

    def _scroll_to(self, top_key: str, beyond_px: int, row_px: int) -> None:
        """Show at the top what was there; who was at the beginning sees what is new."""
        self.doItemsLayout()
        place = self._rows.entries.place_of(top_key)
        at_px = 0 if place is None else place * row_px + beyond_px
        self.verticalScrollBar().setValue(at_px)

    def _on_selection_changed(self) -> None:
        if not self._is_changing:
            self.picked.emit()

    def _on_double_clicked(self, index: QModelIndex | QPersistentModelIndex) -> None:
        entry = self._rows.entry_at(index)
        if entry is not None:
            self.open_asked.emit(entry.key)
