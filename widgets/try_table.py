"""The figures of a server and of the embedded engine side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.plain_tip import wrapped_tip
from widgets.theme import set_role
from widgets.try_sheet import TryRow

_HEADS = ("", "llama-server", "Embedded engine", "", "Server against engine")
_OWN, _CHANGE = 2, 4
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBaseline
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBaseline
_WIDEST_PX = 190 * STEP_PX


class TryTable(QWidget):
    """A row for each figure; rows that are there again are only rewritten."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self.setAccessibleName("Figures of both")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setMaximumWidth(_WIDEST_PX)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(PANEL_PADDING_PX)
        self._grid.setVerticalSpacing(STEP_PX)
        for column in (0, 1, _OWN, _CHANGE):
            self._grid.setColumnStretch(column, 1)
        self._heads = [self._label(0, column, "hint") for column in range(len(_HEADS))]
        for label, words in zip(self._heads, _HEADS, strict=True):
            label.setText(words)
        self._rows: list[tuple[QLabel, ...]] = []
        self.show_rows((), has_own=True)

    def show_rows(self, rows: Sequence[TryRow], *, has_own: bool) -> None:
        """Show ``rows``; without the engine its columns are left out."""
        while len(self._rows) < len(rows):
            line = len(self._rows) + 1
            self._rows.append(
                tuple(
                    self._label(line, column, role)
                    for column, role in enumerate(("", "value", "value", "hint", ""))
                )
            )
        for place, labels in enumerate(self._rows):
            row = rows[place] if place < len(rows) else None
            self._fill(labels, row, has_own=has_own)
        for column, label in enumerate(self._heads):
            label.setVisible(bool(rows) and (has_own or column not in (_OWN, _CHANGE)))

    def texts(self) -> list[tuple[str, ...]]:
        """What stands in each row that is seen."""
        return [
            tuple(label.text() for label in labels)
            for labels in self._rows
            if not labels[0].isHidden()
        ]

    def _fill(self, labels: tuple[QLabel, ...], row: TryRow | None, *, has_own: bool) -> None:
        for column, label in enumerate(labels):
            label.setVisible(row is not None and (has_own or column not in (_OWN, _CHANGE)))
        if row is None:
            return
        for label, words in zip(
            labels, (row.label, row.server, row.own, row.unit, row.change), strict=True
        ):
            label.setText(words)
        labels[0].setToolTip(wrapped_tip(row.meaning))
        labels[0].setAccessibleDescription(row.meaning)
        labels[1].setAccessibleName(f"{row.label}, llama-server: {row.server} {row.unit}".strip())
        labels[2].setAccessibleName(f"{row.label}, embedded engine: {row.own} {row.unit}".strip())

    def _label(self, line: int, column: int, role: str) -> QLabel:
        label = QLabel(self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setAlignment(_LEFT if column in (0, 3) else _RIGHT)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if role:
            set_role(label, role)
        self._grid.addWidget(label, line, column)
        return label
