"""The table of an imported command's settings: as high as its rows, ticked by mouse and keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QTableView, QWidget

from resources.tokens import STEP_PX
from widgets.import_rows import LABEL, MARK, NOW, THEN, ImportRows
from widgets.import_sheet import ImportRow
from widgets.row_table import set_row_height, set_up_rows

_BESIDE_PX = 5 * STEP_PX
_BOX_PX = 6 * STEP_PX
# No value takes more of the width than this; the rest of it stands in the tip.
_VALUE_SHARE, _LABEL_SHARE = 0.26, 0.34
_LEAST_PX = 12 * STEP_PX


class ImportTable(QTableView):
    """Rows of settings; the space bar or Return ticks the current one.

    Signals:
        ticked: A person ticked or unticked a row: its key (str), and whether it is ticked (bool).
        current_moved: The keyboard went to another row: its place (QRect) in the table.
    """

    ticked = Signal(str, bool)
    current_moved = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self._rows = ImportRows(self)
        self._rows.ticked.connect(self.ticked)
        self.setModel(self._rows)
        self.setAccessibleName("Settings of the command")
        self.setAccessibleDescription("The space bar takes a setting or leaves it out.")
        set_up_rows(self)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.clicked.connect(self._on_clicked)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionsClickable(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._measure()

    def show_rows(self, rows: Sequence[ImportRow], ticks: set[str]) -> None:
        """Show ``rows``, of which those with keys in ``ticks`` are ticked."""
        current = self._rows.row_at(self.currentIndex().row())
        count = self._rows.rowCount()
        self._rows.show(rows, ticks)
        line = None if current is None else self._rows.line_of(current.key)
        if line is not None:
            self.setCurrentIndex(self._rows.index(line, LABEL))
        self._fit_columns()
        if self._rows.rowCount() != count:
            self.updateGeometry()

    def ticks(self) -> frozenset[str]:
        """Keys of the rows that are taken."""
        return self._rows.ticks()

    def texts(self) -> list[tuple[str, ...]]:
        """What stands in each line."""
        columns = (LABEL, NOW, THEN, MARK)
        return [
            tuple(str(self._rows.index(line, column).data()) for column in columns)
            for line in range(self._rows.rowCount())
        ]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tick and untick; Up and Down leave the table at its ends."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter) and not (
            event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self._rows.toggle(self.currentIndex().row())
            return
        super().keyPressEvent(event)

    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Tell where the keyboard went: what is around the table scrolls."""
        super().currentChanged(current, previous)
        if current.isValid() and self.hasFocus():
            self.current_moved.emit(self.visualRect(current))

    def sizeHint(self) -> QSize:
        """As high as its rows: what is around it scrolls."""
        height = self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        height += self._rows.rowCount() * self.verticalHeader().defaultSectionSize()
        return QSize(80 * STEP_PX, height)

    def minimumSizeHint(self) -> QSize:
        """Any width; the height of the rows."""
        return QSize(40 * STEP_PX, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share out the width."""
        super().resizeEvent(event)
        self._fit_columns()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    # --- Inside -----------------------------------------------------------------------------

    def _on_clicked(self, index: QModelIndex) -> None:
        """The box and the name beside it."""
        if index.column() == LABEL:
            self._rows.toggle(index.row())

    def _measure(self) -> None:
        if not hasattr(self, "_rows"):
            return  # styled while it is being made
        self._rows.set_font(self.font())
        set_row_height(self)
        self._fit_columns()
        self.updateGeometry()

    def _fit_columns(self) -> None:
        """Names and values as wide as they are, within shares; reasons take what is left."""
        room = self.viewport().width()
        widths = {column: self._wanted_px(column) for column in (LABEL, NOW, THEN, MARK)}
        widths[LABEL] = min(widths[LABEL] + _BOX_PX, int(_LABEL_SHARE * room))
        for column in (NOW, THEN):
            widths[column] = min(widths[column], int(_VALUE_SHARE * room))
        used = widths[LABEL] + widths[NOW] + widths[THEN]
        spare = room - used - widths[MARK]
        widths[MARK] = max(_LEAST_PX, room - used)
        if spare > 0:  # values stand near their names, not at the far edge
            widths[LABEL] += min(spare // 2, int(_LABEL_SHARE * room) // 2)
            widths[MARK] = room - widths[LABEL] - widths[NOW] - widths[THEN]
        for column, width in widths.items():
            self.setColumnWidth(column, max(0, width))

    def _wanted_px(self, column: int) -> int:
        # Bold is wider by less than a tenth.
        factor = 1.08 if column == THEN else 1.0
        text = self._rows.longest(column)
        return round(self.fontMetrics().horizontalAdvance(text) * factor) + _BESIDE_PX
