"""The figures of a chart as a table: what a screen reader reads, and what can be copied."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStyle,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.charts.sheet import FIGURE_NAMES, Sheet, figures, rows_of, stretch_text, table_text
from widgets.theme import set_role

# More than these scroll.
_ROWS, _ROWS_SEEN = 14, 6
# Newest changes listed; more would make the window higher than a screen.
_CHANGES = 6
_WIDEST_PX = 220 * STEP_PX

Index = QModelIndex | QPersistentModelIndex


class _RowsModel(QAbstractTableModel):
    """Rows of a sheet with their time of day."""

    def __init__(self, sheet: Sheet, parent: QObject) -> None:
        super().__init__(parent)
        self._timeline = sheet.timeline
        self._events = rows_of(sheet)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._events.rows)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else 1 + len(self._events.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        if role != Qt.ItemDataRole.DisplayRole or orientation is not Qt.Orientation.Horizontal:
            return None
        return ("Time", *self._events.columns)[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if index.column() else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        time_s, texts = self._events.rows[index.row()]
        if index.column():
            return texts[index.column() - 1]
        return f"{self._timeline.day(time_s):%H:%M:%S}"


class TableDialog(QDialog):
    """One chart in figures: of each series the last, lowest, median, p99 and highest value.

    Below them the changes, and every request or value with its time.
    """

    def __init__(self, sheet: Sheet, parent: QWidget | None = None) -> None:
        """Show ``sheet`` as it was when asked; it does not go on."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._sheet = sheet
        name = f"{sheet.title} in {sheet.unit.name}"
        self.setWindowTitle(name)
        heading = QLabel(name)
        set_role(heading, "heading")
        limit = sheet.picture.limit
        said = (stretch_text(sheet.timeline), "" if limit is None else limit.name)
        when = QLabel(" · ".join(filter(None, said)))
        set_role(when, "hint")
        self.table = self._table()
        copy, close = QPushButton("&Copy"), QPushButton("C&lose")
        copy.setToolTip("Copy the table as text, columns apart by tabs")
        copy.clicked.connect(self.copy)
        close.clicked.connect(self.close)
        self._said = QLabel()
        set_role(self._said, "hint")
        buttons = QHBoxLayout()
        buttons.addWidget(self._said)
        buttons.addStretch(1)
        buttons.addWidget(copy)
        buttons.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(2 * STEP_PX)
        self.rows = self._rows()
        for widget in (heading, when, self.table):
            layout.addWidget(widget)
        layout.addWidget(self.rows, 1)
        lines = self._change_lines()
        if len(lines) > _CHANGES:
            earlier = f"{len(lines) - _CHANGES} changes before these; Copy takes them all."
            lines = [earlier, *lines[-_CHANGES:]]
        for line in lines:
            label = QLabel(line)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            set_role(label, "hint")
            layout.addWidget(label)
        layout.addLayout(buttons)
        close.setDefault(True)
        self.table.setFocus()

    def copy(self) -> None:
        """Put the table on the clipboard."""
        QGuiApplication.clipboard().setText(table_text(self._sheet))
        self._said.setText("Copied.")

    def _table(self) -> QTableWidget:
        rows = figures(self._sheet)
        columns = ("Series", *FIGURE_NAMES, "Values")
        table = QTableWidget(len(rows), len(columns))
        table.setAccessibleName(f"Figures of the {self._sheet.title} chart")
        table.setAccessibleDescription(f"In {self._sheet.unit.name}")
        table.setHorizontalHeaderLabels(columns)
        table.verticalHeader().hide()
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        for row, line in enumerate(rows):
            for column, text in enumerate((line.name, *line.texts, f"{line.count:,}")):
                item = QTableWidgetItem(text)
                side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                table.setItem(row, column, item)
        table.resizeColumnsToContents()
        table.setSizeAdjustPolicy(QAbstractItemView.SizeAdjustPolicy.AdjustToContents)
        row_px = table.verticalHeader().defaultSectionSize()
        table.setMaximumHeight(_ROWS * row_px)
        table.setMinimumHeight(min(len(rows) + 1, _ROWS) * row_px + 2 * STEP_PX)
        if rows:  # the keyboard begins there, without a row that looks chosen
            table.setCurrentCell(0, 0, QItemSelectionModel.SelectionFlag.NoUpdate)
        return table

    def _rows(self) -> QTableView:
        view = QTableView()
        view.setModel(_RowsModel(self._sheet, view))
        view.setAccessibleName(f"Every value of the {self._sheet.title} chart")
        view.verticalHeader().hide()
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setTabKeyNavigation(False)
        view.resizeColumnsToContents()
        view.setMinimumHeight(_ROWS_SEEN * view.verticalHeader().defaultSectionSize())
        scroll_bar_px = view.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        needed_px = view.horizontalHeader().length() + scroll_bar_px + 2 * STEP_PX
        view.setMinimumWidth(min(needed_px, _WIDEST_PX))
        view.setVisible(view.model().rowCount() > 0)
        view.scrollToBottom()
        return view

    def _change_lines(self) -> list[str]:
        timeline = self._sheet.timeline
        return [
            f"{timeline.day(marker.at_s):%H:%M:%S}  {'; '.join(marker.text.splitlines())}"
            for marker in self._sheet.markers
        ]
