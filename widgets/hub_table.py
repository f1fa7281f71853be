"""The tables of the hub's view: rows of texts, of which one is picked by its first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHeaderView, QTableWidget

from widgets.plain_tip import plain_tip
from widgets.row_table import row_item, set_heads, set_row_height, set_up_rows

_FIGURES = ("Downloads", "Size", "Memory", "Parameters", "Of the model")


def new_table(titles: Sequence[str], name: str, stretched: Sequence[int]) -> QTableWidget:
    """An empty table; the columns ``stretched`` share the room that the others leave."""
    table = QTableWidget(0, len(titles))
    set_up_rows(table)
    set_row_height(table)
    set_heads(table, titles, _figures(titles))
    table.setAccessibleName(name)
    header = table.horizontalHeader()
    for column in stretched:
        header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
    _fit(table)
    return table


def fill(table: QTableWidget, rows: Sequence[tuple[tuple[str, ...], str]]) -> None:
    """Show ``rows``, texts and a tip each; what stands there already is left alone."""
    heads = [table.horizontalHeaderItem(column) for column in range(table.columnCount())]
    figures = _figures([head.text() if head is not None else "" for head in heads])
    table.setRowCount(len(rows))
    is_new = False
    for row, (texts, tip) in enumerate(rows):
        tip_text = plain_tip(tip)
        for column, text in enumerate(texts):
            item = table.item(row, column)
            if item is not None and (item.text(), item.toolTip()) == (text, tip_text):
                continue
            table.setItem(row, column, row_item(text, tip, is_figure=column in figures))
            is_new = True
    if is_new:
        _fit(table)


def picked(table: QTableWidget) -> str:
    """The first text of the row that is picked; empty for none."""
    items = table.selectedItems()
    item = table.item(items[0].row(), 0) if items else None
    return item.text() if item is not None else ""


def _fit(table: QTableWidget) -> None:
    """Make the columns as wide as their words; those that share what is left stay so."""
    # Once: a column that follows its contents by itself is measured anew with each item.
    header = table.horizontalHeader()
    for column in range(table.columnCount()):
        if header.sectionResizeMode(column) is not QHeaderView.ResizeMode.Stretch:
            table.resizeColumnToContents(column)


def _figures(titles: Sequence[str]) -> frozenset[int]:
    return frozenset(column for column, title in enumerate(titles) if title in _FIGURES)
