"""The figures of a chart as a table: what a screen reader reads, and what can be copied."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.charts.sheet import FIGURE_NAMES, Sheet, figures, stretch_text, table_text
from widgets.theme import set_role

# More than these scroll.
_ROWS = 14


class TableDialog(QDialog):
    """One chart's series: last, lowest, median, p99 and highest value, and the changes."""

    def __init__(self, sheet: Sheet, parent: QWidget | None = None) -> None:
        """Show ``sheet`` as it was when asked; it does not go on."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._sheet = sheet
        name = f"{sheet.title} in {sheet.unit.name}"
        self.setWindowTitle(name)
        heading = QLabel(name)
        set_role(heading, "heading")
        when = QLabel(stretch_text(sheet.timeline))
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
        for widget in (heading, when, self.table):
            layout.addWidget(widget)
        for line in self._change_lines():
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
        table.setMaximumHeight(_ROWS * table.verticalHeader().defaultSectionSize())
        if rows:
            table.setCurrentCell(0, 0)
        return table

    def _change_lines(self) -> list[str]:
        timeline = self._sheet.timeline
        return [
            f"{timeline.day(marker.at_s):%H:%M:%S}  {'; '.join(marker.text.splitlines())}"
            for marker in self._sheet.markers
        ]
