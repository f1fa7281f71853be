"""The models by folder: searched, sorted, walked with the arrow keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from resources.tokens import STEP_PX, Palette
from widgets.model_rows import ModelGroup, ModelRow
from widgets.model_table import Column, ModelTable
from widgets.row_table import aligned_rules, set_row_height, set_up_rows

# About is as wide as what stands in it, and never wider than this: names need the room, and those
# of one family differ in their middle, where they are cut.
_WIDEST = {
    Column.ABOUT: "000.0 B · Q4_K_M · 3 parts",
    Column.SIZE: "00.0 GiB",
    Column.MODIFIED: "0000-00-00",
}
# The first of these gives way, then the next, where a name would get less room than this.
_LEAST_NAME = "a-model-7b-instruct-q4_k_m"
_GIVING_WAY = (Column.MODIFIED, Column.SIZE)
# No frame is around it: its words stand nearly where those beside it do.
_INSET_PX = STEP_PX + 1


class ModelListView(QTableView):
    """Groups with their models.

    Signals:
        row_selected: Key (str) of the model that is current now; empty for none.
        row_activated: Key (str) of the model chosen by Enter or a double click.
    """

    row_selected = Signal(str)
    row_activated = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty list."""
        super().__init__(parent)
        self.setAccessibleName("Models")
        self.setAccessibleDescription("Models on this machine by folder; Enter loads one.")
        self._current = ""
        self._is_changing = False
        self._table = ModelTable(self)
        self.setModel(self._table)
        self._set_up()
        self._measure()
        self.doubleClicked.connect(self._activate)
        self.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)

    # --- What is shown ------------------------------------------------------------------

    def set_groups(self, groups: Sequence[ModelGroup]) -> None:
        """Have these groups in this order; others go, with their models."""
        self._change(lambda: self._table.set_groups(groups))

    def put(self, rows: Iterable[ModelRow]) -> None:
        """Show these models, in place of those of the same key."""
        self._change(lambda: self._table.put(rows))

    def remove(self, keys: Iterable[str]) -> None:
        """Show these models no more."""
        self._change(lambda: self._table.remove(keys))

    def set_search(self, words: str) -> None:
        """Show only models that have each of ``words``; the first one is current then."""
        self._change(lambda: self._table.set_words(words))
        if not self.current_key():
            self.select_first()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._table.set_palette(palette)
        self.setStyleSheet(
            f"QTableView {{ background: transparent; border: none; outline: none; }}"
            f"QTableView::item {{ border: none; }}"
            f"QTableView::item:selected {{ color: {palette.on_accent};"
            f" background: {palette.accent}; }}"
            f"QHeaderView {{ background: transparent; border: none; }}"
            f"QHeaderView::section {{ color: {palette.muted}; background: transparent;"
            f" border: none; border-bottom: 1px solid {palette.line}; }}"
            f"{aligned_rules(_INSET_PX)}"
        )

    def row(self, key: str) -> ModelRow | None:
        """What is known under ``key``, shown or not."""
        return self._table.row(key)

    def sort_by(self, column: Column) -> None:
        """Sort by ``column``; the other way round where it is sorted by it already."""
        header = self.horizontalHeader()
        is_again = header.sortIndicatorSection() == column
        is_up = header.sortIndicatorOrder() is Qt.SortOrder.AscendingOrder
        down, up = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder
        self.sortByColumn(column, down if is_again and is_up else up)

    def sorted_by(self) -> int:
        """The column that the models are sorted by."""
        return self.horizontalHeader().sortIndicatorSection()

    def shown_keys(self) -> list[str]:
        """Keys of the models as they stand."""
        keys = (self._table.key_at(number) for number in range(self._table.rowCount()))
        return [key for key in keys if key]

    def shown_count(self) -> int:
        """How many models are shown."""
        return self._table.shown_count()

    def count(self) -> int:
        """How many models there are."""
        return self._table.count()

    def loadable_counts(self) -> tuple[int, int]:
        """How many models can be loaded: of those shown, and of all."""
        return self._table.loadable_counts()

    # --- Which one is current -----------------------------------------------------------

    def current_key(self) -> str:
        """Key of the model that is current; empty for none."""
        return self._current

    def select(self, key: str) -> None:
        """Make the model ``key`` the current one, where it is shown."""
        place = self._table.place_of(key)
        if place is not None:
            self.setCurrentIndex(self._table.index(place, Column.NAME))

    def select_first(self) -> None:
        """Make the first model shown the current one."""
        keys = self.shown_keys()[:1]
        if keys:
            self.select(keys[0])

    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Tell which model is current."""
        super().currentChanged(current, previous)
        if not self._is_changing:
            self._tell(self._table.key_at(current.row()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter chooses."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate(self.currentIndex())
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the columns there is room for."""
        super().resizeEvent(event)
        self._show_columns()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    # --- Inside -------------------------------------------------------------------------

    def _set_up(self) -> None:
        set_up_rows(self)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSortingEnabled(True)
        header = self.horizontalHeader()
        header.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(0)

    def _measure(self) -> None:
        set_row_height(self)
        self._show_columns()

    def _show_columns(self) -> None:
        metrics = self.fontMetrics()
        widths = {c: self._width_of(text) for c, text in _WIDEST.items()}
        about = max(map(self._width_of, self._table.abouts()))
        widths[Column.ABOUT] = min(about, widths[Column.ABOUT])
        for column, width in widths.items():
            self.setColumnWidth(column, width)
        least = metrics.horizontalAdvance(_LEAST_NAME)
        rest = self.viewport().width() - sum(widths.values())
        for column in _GIVING_WAY:
            self.setColumnHidden(column, rest < least)
            if rest < least:
                rest += widths[column]

    def _width_of(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text) + 4 * STEP_PX

    def _change(self, change: Callable[[], None]) -> None:
        """Change the table and stay where we were: it forgets what is current and scrolled to."""
        bar = self.verticalScrollBar()
        scrolled = bar.value()
        self._is_changing = True
        change()
        self._show_columns()
        self._span_headings()
        self.select(self._current)
        self._is_changing = False
        bar.setValue(scrolled)
        if self._current and self._table.place_of(self._current) is None:
            self._tell("")

    def _span_headings(self) -> None:
        self.clearSpans()
        for number in self._table.headings():
            self.setSpan(number, Column.NAME, 1, len(Column))

    def _tell(self, key: str) -> None:
        if key != self._current:
            self._current = key
            self.row_selected.emit(key)

    def _activate(self, index: QModelIndex | QPersistentModelIndex) -> None:
        key = self._table.key_at(index.row())
        if key:
            self.row_activated.emit(key)
