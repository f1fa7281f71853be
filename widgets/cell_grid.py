"""Lines of short texts in columns, changed often and cheaply."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.plain_tip import wrapped_tip
from widgets.theme import set_role


@dataclass(frozen=True)
class Cell:
    """One text.

    Attributes:
        text: What it says; empty for nothing.
        role: Its look.
        said: What is read out instead; empty for the text.
        tip: What it means, a paragraph; empty for nothing.
    """

    text: str
    role: str = ""
    said: str = ""
    tip: str = ""


class CellGrid(QWidget):
    """Keeps its labels for the next texts: making and styling sixty of them takes 30 ms."""

    def __init__(
        self, parent: QWidget | None = None, *, wide: int | None = None, right: Collection[int] = ()
    ) -> None:
        """Make an empty grid.

        Args:
            parent: Its parent.
            wide: The column whose texts wrap in the room that is left; None for none.
            right: Columns flush right.
        """
        super().__init__(parent)
        self._wide = wide
        self._right = frozenset(right)
        self._labels: dict[tuple[int, int], QLabel] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(PANEL_PADDING_PX)
        self._grid.setVerticalSpacing(STEP_PX // 2)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def show_cells(self, lines: Sequence[Sequence[Cell]]) -> None:
        """Show ``lines`` in place of those before."""
        used = set()
        for row, line in enumerate(lines):
            for column, cell in enumerate(line):
                if cell.text:
                    used.add((row, column))
                    self._show_cell(self._label(row, column), cell)
        for place in self._labels.keys() - used:
            self._labels[place].hide()
        width = max((len(line) for line in lines), default=0)
        if self._wide is None:
            self._grid.setColumnStretch(width, 1)
        self.setVisible(bool(lines))

    @staticmethod
    def _show_cell(label: QLabel, cell: Cell) -> None:
        label.setText(cell.text)
        label.setAccessibleName(cell.said)
        tip = wrapped_tip(cell.tip) if cell.tip else ""
        if tip != label.toolTip():
            label.setToolTip(tip)
        set_role(label, cell.role)
        # At once: a layout would show it one turn of the event loop later.
        label.show()

    def _label(self, row: int, column: int) -> QLabel:
        label = self._labels.get((row, column))
        if label is None:
            label = QLabel(self)
            label.setTextFormat(Qt.TextFormat.PlainText)
            self._labels[row, column] = label
            side = (
                Qt.AlignmentFlag.AlignRight
                if column in self._right
                else (Qt.AlignmentFlag.AlignLeft)
            )
            if column == self._wide:
                label.setWordWrap(True)
                label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
                self._grid.setColumnStretch(column, 1)
                self._grid.addWidget(label, row, column)
            else:
                self._grid.addWidget(label, row, column, side | Qt.AlignmentFlag.AlignTop)
        return label
