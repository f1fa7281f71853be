"""The table of a result on the screen: as high as its rows, sorted by titles, copied as text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from resources.tokens import STEP_PX, Palette
from widgets.experiments.result_sheet import Column, Row
from widgets.experiments.result_table import ResultTable
from widgets.row_table import set_row_height, set_up_rows

# More rows than these are scrolled through.
_MOST_LINES = 18
# Names take no more than this share of the width where figures need the rest.
_NAME_SHARE = 0.45
_LEAST_NAME_PX = 30 * STEP_PX
_BESIDE_PX = 4 * STEP_PX


class ResultTableView(QTableView):
    """Rows of a result; the current one is the configuration that is picked.

    Signals:
        cell_picked: Number (int) of the configuration of the row that is current now.
        left_out_changed: Titles (list of str) of the columns for which there is no room.
    """

    cell_picked = Signal(int)
    left_out_changed = Signal(list)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self.setAccessibleName("Figures")
        self._table = ResultTable(self)
        self._is_changing = False
        self._cell: int | None = None
        self._wanted: list[int] = []
        self._left_out: list[int] = []
        self._shows_all = False
        self._size = QSize()
        self.setModel(self._table)
        self._set_up()
        for name, shortcut, copy in (
            ("Copy row", QKeySequence.StandardKey.Copy, self.copy_row),
            ("Copy table", None, self.copy_table),
        ):
            action = QAction(name, self)
            if shortcut is not None:
                action.setShortcut(shortcut)
                action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(copy)
            self.addAction(action)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._measure()

    # --- What is shown ------------------------------------------------------------------

    def show_rows(
        self,
        columns: Sequence[Column],
        rows: Sequence[Row],
        *,
        is_sortable: bool = True,
        names: int = 1,
    ) -> None:
        """Show these; what is current, scrolled to and sorted by stays where it can.

        Args:
            columns: Those first that tell rows apart.
            rows: In the order of measuring.
            is_sortable: Whether titles sort.
            names: How many columns tell rows apart.
        """
        across, down = self.horizontalScrollBar().value(), self.verticalScrollBar().value()
        has_same_columns = [column.key for column in columns] == self._table.keys()
        self._is_changing = True
        if not has_same_columns or not is_sortable:
            self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self._table.show(columns, rows, names)
        self.setSortingEnabled(is_sortable)
        self._is_changing = False
        self._fit()
        self.set_cell(self._cell)
        self.horizontalScrollBar().setValue(across)
        self.verticalScrollBar().setValue(down)

    def set_cell(self, cell: int | None) -> None:
        """Make the row of a configuration the current one, by its number; None none."""
        self._cell = cell
        row = self._table.row_at(self.currentIndex().row())
        if row is not None and row.cell == cell:
            return
        line = None if cell is None else self._table.line_of(cell)
        self._is_changing = True
        if line is None:
            self.setCurrentIndex(QModelIndex())
            self.clearSelection()
        else:
            self.setCurrentIndex(self._table.index(line, 0))
        self._is_changing = False

    def show_all(self, shows_all: bool) -> None:
        """Have all columns and scroll across, or leave out those for which there is no room."""
        self._shows_all = shows_all
        self._fit_columns()
        self.updateGeometry()

    def left_out(self) -> list[str]:
        """Titles of the columns that are left out."""
        return [self._table.title(column) for column in self._left_out]

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._table.set_palette(palette)

    def copy_table(self) -> None:
        """Put the whole table into the clipboard, columns between tabs."""
        QGuiApplication.clipboard().setText(self._table.text())

    def copy_row(self) -> None:
        """Put the current row into the clipboard, with the titles."""
        line = self.currentIndex().row()
        QGuiApplication.clipboard().setText(self._table.text([line] if line >= 0 else None))

    # --- Qt -----------------------------------------------------------------------------

    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Tell which configuration is picked."""
        super().currentChanged(current, previous)
        row = self._table.row_at(current.row())
        if not self._is_changing and row is not None:
            self._cell = row.cell
            self.cell_picked.emit(row.cell)

    def sizeHint(self) -> QSize:
        """As high as its rows, up to a screen's worth."""
        lines = min(self._table.rowCount(), _MOST_LINES)
        height = self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        height += lines * self.verticalHeader().defaultSectionSize()
        bar = self.horizontalScrollBar()
        return QSize(60 * STEP_PX, height + (bar.sizeHint().height() if self._is_cut() else 0))

    def minimumSizeHint(self) -> QSize:
        """Never lower than that: what is around it scrolls."""
        return QSize(40 * STEP_PX, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give names the room that figures leave."""
        super().resizeEvent(event)
        self._fit_columns()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    # --- Inside -------------------------------------------------------------------------

    def _set_up(self) -> None:
        set_up_rows(self)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        self._table.modelReset.connect(self._on_model_reset)

    def _measure(self) -> None:
        self._table.set_font(self.font())
        set_row_height(self)
        self._fit()

    def _on_model_reset(self) -> None:
        """Another order: reasons take the place of figures in other lines."""
        self.clearSpans()
        for line in self._table.skipped_lines():
            room = self._table.columnCount() - self._table.names
            if room > 1:
                self.setSpan(line, self._table.names, 1, room)
        if not self._is_changing:  # sorted by a person
            self.set_cell(self._cell)

    def _fit(self) -> None:
        self._wanted = [self._width_of(column) for column in range(self._table.columnCount())]
        self._fit_columns()
        # What is around it is laid out anew only where that changes something: it takes 10 ms.
        size = self.sizeHint()
        if size != self._size:
            self._size = size
            self.updateGeometry()

    def _fit_columns(self) -> None:
        """Share out what is left; where too little is, a name alone gives way."""
        if not self._wanted or len(self._wanted) != self._table.columnCount():
            return  # in the middle of a change to other columns
        widths, room = list(self._wanted), self.viewport().width()
        self._leave_out(room)
        shown = [column for column in range(len(widths)) if column not in self._left_out]
        spare = room - sum(widths[column] for column in shown)
        if spare < 0 and self._table.names == 1:
            widths[0] = max(widths[0] + spare, min(widths[0], self._least_name_px()))
        elif spare > 0 and not self._table.is_number(shown[-1]):
            widths[shown[-1]] += spare
        elif spare > 0:
            for column in shown:
                widths[column] += spare // len(shown)
            widths[0] += spare % len(shown)
        for column in shown:
            self.setColumnWidth(column, widths[column])

    def _leave_out(self, room: int) -> None:
        """Hide columns of the highest rank until the others can be read whole."""
        least = list(self._wanted)
        if self._table.names == 1:
            least[0] = min(least[0], self._least_name_px())
        giving = sorted(
            (column for column in range(len(least)) if self._table.rank(column)),
            key=lambda column: (self._table.rank(column), column),
        )
        out: list[int] = []
        while giving and not self._shows_all:
            if sum(width for column, width in enumerate(least) if column not in out) <= room:
                break
            out.append(giving.pop())
        out.sort()
        for column in range(len(least)):
            self.setColumnHidden(column, column in out)
        if out != self._left_out:
            self._left_out = out
            self.left_out_changed.emit(self.left_out())

    def _least_name_px(self) -> int:
        return max(_LEAST_NAME_PX, int(_NAME_SHARE * self.viewport().width()))

    def _width_of(self, column: int) -> int:
        metrics = self.fontMetrics()
        texts = (self._table.longest(column), *self._table.title_lines(column))
        # Bold is wider by less than a tenth.
        factor = 1.08 if self._table.is_bold(column) else 1.0
        return round(max(map(metrics.horizontalAdvance, texts)) * factor) + _BESIDE_PX

    def _is_cut(self) -> bool:
        """Whether there are more columns than there is room for."""
        count = self._table.columnCount()
        return sum(map(self.columnWidth, range(count))) > max(1, self.viewport().width())
