"""How tables look whose rows are picked as a whole and not edited."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
)

from resources.tokens import STEP_PX
from widgets.plain_tip import plain_tip

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
"""How words stand in a cell and in the head above it."""
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
"""How figures stand there."""
INSET_PX = 2 * STEP_PX
"""From the edge of a cell, or of a head, to its words."""
# Qt leaves so much beside the words of a cell by itself, and nothing beside those of a head.
_QT_BESIDE_PX = 3
PADDING_PX = INSET_PX - _QT_BESIDE_PX
"""What a stylesheet has to say beside a cell, so that its words are ``INSET_PX`` from its edge."""


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
    table.horizontalHeader().setDefaultAlignment(LEFT)
    table.setStyleSheet(aligned_rules())


def aligned_rules(inset_px: int = INSET_PX) -> str:
    """Rules of a stylesheet by which the words of cells stand exactly below those of the head.

    Args:
        inset_px: From the edge of a cell to its words, at least 3.
    """
    return (
        f"QTableView::item {{ padding: 0 {inset_px - _QT_BESIDE_PX}px; }}"
        f"QHeaderView::section {{ padding: {STEP_PX}px {inset_px}px; }}"
    )


def set_heads(table: QTableWidget, titles: Sequence[str], figures: Collection[int] = ()) -> None:
    """Write the heads; those of the columns ``figures`` stand on the right, as figures do."""
    for column, title in enumerate(titles):
        head = QTableWidgetItem(title)
        head.setTextAlignment(RIGHT if column in figures else LEFT)
        table.setHorizontalHeaderItem(column, head)


def row_item(text: str, tip: str, *, is_figure: bool = False) -> QTableWidgetItem:
    """A cell with ``text``, and ``tip`` as it is; figures stand on the right."""
    item = QTableWidgetItem(text)
    item.setToolTip(plain_tip(tip))
    item.setTextAlignment(RIGHT if is_figure else LEFT)
    return item


def set_row_height(table: QTableView) -> None:
    """Rows as high as the table's font needs."""
    rows = table.verticalHeader()
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setMinimumSectionSize(0)
    rows.setDefaultSectionSize(table.fontMetrics().height() + STEP_PX + STEP_PX // 2)
