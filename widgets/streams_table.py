"""Decoding by the number of streams, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from engine_bridge.metrics.definitions import DEFINITIONS
from resources.tokens import STEP_PX
from widgets.ceiling_words import Row
from widgets.plain_tip import wrapped_tip
from widgets.theme import set_role

# What stands above a column, what it is called in full, and its definition.
_HEADS = (
    ("Streams", "streams", "throughput"),
    ("GB/s", "GB/s", "bandwidth"),
    ("MBU", "MBU", "mbu"),
    ("tok/s each", "tok/s per user", "stream_speed"),
    ("in all", "tok/s in all", "throughput"),
    ("of one", "of one stream's total", "of_one_stream"),
)
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class StreamsTable(QWidget):
    """A grid of figures; what it is made of changes only with the numbers of streams.

    Can be read in one sentence a row: its accessible description.
    """

    accessible_role = QAccessible.Role.Table

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a table without rows, which is not shown."""
        super().__init__(parent)
        self.setAccessibleName("Decoding by the number of streams")
        self._cells: list[tuple[QLabel, ...]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(2 * STEP_PX)
        self._grid.setVerticalSpacing(STEP_PX // 2)
        for column, (head, _, definition) in enumerate(_HEADS):
            label = QLabel(head)
            set_role(label, "hint")
            label.setToolTip(f"<p>{escape(DEFINITIONS[definition])}</p>")
            self._grid.addWidget(label, 0, column, _RIGHT)
            self._grid.setColumnStretch(column, 1)
        self.hide()

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show these; none hides the table."""
        while len(self._cells) < len(rows):
            self._add_row()
        for cells, row in zip(self._cells, rows, strict=False):
            texts, tip = (str(row.streams), *row.cells), wrapped_tip(_sentence(row))
            for cell, text in zip(cells, texts, strict=True):
                if cell.text() != text:
                    cell.setText(text)
                if cell.toolTip() != tip:
                    cell.setToolTip(tip)
                set_role(cell, "value" if row.is_present else "")
        for number, cells in enumerate(self._cells):
            for cell in cells:
                cell.setVisible(number < len(rows))
        self.setAccessibleDescription(" ".join(_sentence(row) for row in rows))
        self.setVisible(bool(rows))

    def texts(self) -> list[list[str]]:
        """What stands in it, by row."""
        return [[c.text() for c in cells] for cells in self._cells if not cells[0].isHidden()]

    def _add_row(self) -> None:
        cells = tuple(QLabel(self) for _ in _HEADS)
        for column, cell in enumerate(cells):
            cell.setTextFormat(Qt.TextFormat.PlainText)
            self._grid.addWidget(cell, len(self._cells) + 1, column, _RIGHT)
        self._cells.append(cells)


def _sentence(row: Row) -> str:
    named = [f"{text} {name}" for text, (_, name, _) in zip(row.cells, _HEADS[1:], strict=True)]
    now = " now" if row.is_present else ""
    streams = "one stream" if row.streams == 1 else f"{row.streams} streams"
    return f"{streams.capitalize()}{now}: {', '.join(named)}."
