"""Words of cells stand exactly below those of their heads, figures on the right of both."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QHeaderView, QTableView, QTableWidget, QWidget

from resources.tokens import DARK
from widgets.export_settings import ExportSettings
from widgets.export_sheet import SettingFate
from widgets.hub_table import fill, new_table
from widgets.import_sheet import ImportRow
from widgets.import_table import ImportTable
from widgets.profile_rows import NOW, ComparedSetting, ProfileSheet
from widgets.profiles_view import ProfilesView
from widgets.row_table import row_item, set_heads, set_row_height, set_up_rows

pytestmark = pytest.mark.gui
Shown = Callable[[QWidget], None]


def ink(image: QImage, place: QRect) -> tuple[int, int]:
    """First and last column of ``place`` in which something is written."""
    ground = image.pixelColor(place.left() + 1, place.center().y())
    rows = range(place.top() + 2, place.bottom() - 2)
    written = [
        x
        for x in range(place.left(), place.right())
        if any(differs(image.pixelColor(x, y), ground) for y in rows)
    ]
    assert written, "an empty cell cannot be looked at"
    return written[0] - place.left(), place.right() - written[-1]


def differs(one: QColor, other: QColor) -> bool:
    return abs(one.lightness() - other.lightness()) > 60


def places(table: QTableView, column: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the words of a head, and of the first cell below it, begin and end."""
    QApplication.processEvents()
    table.clearSelection()
    header = table.horizontalHeader()
    top = QRect(
        header.sectionViewportPosition(column), 0, header.sectionSize(column), header.height()
    )
    cell = table.visualRect(table.model().index(0, column))
    return (
        ink(header.viewport().grab().toImage(), top),
        ink(table.viewport().grab().toImage(), cell),
    )


def test_that_words_and_figures_stand_in_line_with_their_heads(shown: Shown) -> None:
    table = QTableWidget(1, 2)
    set_up_rows(table)
    set_row_height(table)
    set_heads(table, ("HHH", "HHH"), figures=(1,))
    for column in (0, 1):
        table.setItem(0, column, row_item("HHH", "A tip <b>.", is_figure=column == 1))
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    table.resize(400, 200)
    shown(table)
    head, cell = places(table, 0)
    assert head[0] == cell[0]
    head, cell = places(table, 1)
    assert head[1] == cell[1]
    assert head[0] > 100, "figures stand on the right"


def profiles() -> QWidget:
    view = ProfilesView()
    row = ComparedSetting("key", "HHH", "HHH", "HHH", "HHH")
    view.show_sheet(ProfileSheet("a", "HHH", "", "", NOW, "HHH", (row,), ""))
    return view


def exported() -> QWidget:
    view = ExportSettings()
    view.set_palette(DARK)
    view.show_settings([SettingFate("key", "HHH", "HHH", "said", "HHH")])
    return view


def imported() -> QTableView:
    table = ImportTable()
    row = ImportRow("key", "HHH", "HHH", "HHH", is_changed=True, is_ticked=False)
    table.show_rows([row], set())
    return table


def hub() -> QTableView:
    table = new_table(("Repository", "Model", "Downloads"), "Found", stretched=(0, 1))
    fill(table, [(("HHH", "HHH", "HHH"), "tip")])
    return table


@pytest.mark.parametrize(
    ("make", "words", "figures"),
    [
        (profiles, (0, 3), (1, 2)),
        (exported, (0, 3), (1,)),
        (imported, (), (1, 2)),
        (hub, (0, 1), (2,)),
    ],
)
def test_that_every_dialog_has_its_words_and_figures_in_line_with_their_heads(
    shown: Shown, make: Callable[[], QWidget], words: tuple[int, ...], figures: tuple[int, ...]
) -> None:
    view = make()
    view.resize(900, 600)
    shown(view)
    table = view if isinstance(view, QTableView) else view.findChild(QTableView)
    assert isinstance(table, QTableView)
    for column in (*words, *figures):
        head, cell = places(table, column)
        # Letters have some room of their own, which differs from one to the other.
        side = 1 if column in figures else 0
        assert abs(head[side] - cell[side]) <= 2, (column, head, cell)
