"""How tables look whose rows are picked as a whole and not edited."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from resources.tokens import STEP_PX


def set_up_rows(table: QTableView) -> None:
    """One row is picked at a time; long words lose their middle; no grid, no numbers of rows."""
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setCornerButtonEnabled(False)
    table.verticalHeader().hide()
    table.horizontalHeader().setHighlightSections(False)


def set_row_height(table: QTableView) -> None:
    """Rows as high as the table's font needs."""
    rows = table.verticalHeader()
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setMinimumSectionSize(0)
    rows.setDefaultSectionSize(table.fontMetrics().height() + STEP_PX + STEP_PX // 2)
