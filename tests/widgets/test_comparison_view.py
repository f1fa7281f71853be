"""Two experiments side by side on the screen."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from widgets.experiments.comparison_sheet import ComparisonPair, ComparisonRow, ComparisonSheet
from widgets.experiments.comparison_view import ComparisonView

pytestmark = pytest.mark.gui

FIGURES = (
    ComparisonRow("TTFT", "2.650 ± 0.291", "2.021 ± 1.266", "s", "unknown", "", "−23.7 %"),
    ComparisonRow("MBU", "–", "29.87", "%"),
)
SETTINGS = (ComparisonRow("Parallel slots", "4", "1"),)


def sheet(about: str = "") -> ComparisonSheet:
    pair = ComparisonPair("A x / B y", SETTINGS, FIGURES, about=about)
    return ComparisonSheet("a", "b", "One", "Other", "", "", (), (), (pair,))


@pytest.fixture
def view(qtbot: QtBot, themed: QApplication) -> ComparisonView:
    made = ComparisonView()
    qtbot.addWidget(made)
    made.resize(480, 420)
    return made


def test_that_the_difference_stands_at_the_end_of_its_row(view: ComparisonView) -> None:
    view.show_sheet(sheet())
    view.show()
    QApplication.processEvents()
    words = view.words()
    assert words.count("B − A") == 1, "of figures and not of settings"
    assert words.index("−23.7 %") > words.index("2.021 ± 1.266")
    labels = {label.text(): label for label in view.findChildren(QLabel)}
    change, ttft = labels["−23.7 %"], labels["TTFT"]
    assert change.y() == ttft.y()
    right = change.mapTo(view, change.rect().topRight()).x()
    assert right <= view.width(), "and is not cut"


def test_that_the_configurations_that_are_compared_are_named(view: ComparisonView) -> None:
    about = "A: 1 thread. B: 1 slot, one of 2 configurations."
    view.show_sheet(sheet(about))
    assert about in view.words()
    view.show_sheet(sheet())
    assert about not in view.words()
