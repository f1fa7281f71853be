"""Columns leave where there is no room, the least important first, and come back."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from widgets.fitting_columns import FittingColumns

pytestmark = pytest.mark.gui


@pytest.fixture
def cells(qtbot: QtBot, themed: QApplication) -> dict[str, list[QLabel]]:
    made = {name: [QLabel("head"), QLabel("88 %")] for name in ("busy", "memory", "power")}
    for labels in made.values():
        for label in labels:
            label.setFixedWidth(50)
            qtbot.addWidget(label)
    return made


def _left(cells: dict[str, list[QLabel]]) -> list[str]:
    return [name for name, labels in cells.items() if not any(c.isHidden() for c in labels)]


def test_that_columns_leave_in_their_order_and_come_back(cells: dict[str, list[QLabel]]) -> None:
    columns = FittingColumns(cells, ("memory", "power", "unknown"))
    for room_px, expected in (
        (3 * 50, ["busy", "memory", "power"]),
        (3 * 50 - 1, ["busy", "power"]),
        (2 * 50 - 1, ["busy"]),
        (1, ["busy"]),
        (1000, ["busy", "memory", "power"]),
    ):
        columns.fit(room_px)
        assert _left(cells) == expected
    assert columns.least_px() == 50


def test_that_it_says_whether_anything_changed(cells: dict[str, list[QLabel]]) -> None:
    columns = FittingColumns(cells, ("memory",))
    assert not columns.fit(1000)
    assert columns.fit(140)
    assert columns.left_out == {"memory"}
    assert not columns.fit(149)
