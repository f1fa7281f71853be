"""A text that changes many times a second lays out nothing anew, and always has its room."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QWidget

from resources.tokens import DARK
from widgets.calm_label import CalmLabel
from widgets.theme import apply_theme, set_role

pytestmark = pytest.mark.gui


class Layouts(QObject):
    """Counts how often a widget is laid out anew."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__(watched)
        self.count = 0
        watched.installEventFilter(self)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def settle() -> None:
    for _ in range(3):
        QApplication.processEvents()


@pytest.fixture
def panel(shown: Callable[[QWidget], None]) -> QWidget:
    made = QWidget()
    row = QHBoxLayout(made)
    row.addWidget(CalmLabel("context 3,700 of 4,096"))
    row.addWidget(QLabel("beside"))
    shown(made)
    settle()
    return made


def label_of(panel: QWidget) -> CalmLabel:
    found = panel.findChild(CalmLabel)
    assert isinstance(found, CalmLabel)
    return found


def test_that_another_text_of_the_same_width_lays_out_nothing(panel: QWidget) -> None:
    label, layouts = label_of(panel), Layouts(panel)
    for number in range(3701, 3710):
        label.setText(f"context {number:,} of 4,096")
        settle()
    assert layouts.count == 0
    assert label.text() == "context 3,709 of 4,096"


def test_that_a_longer_text_has_its_room(panel: QWidget) -> None:
    label, layouts = label_of(panel), Layouts(panel)
    before = label.width()
    label.setText("context 13,700 of 14,096 · 396 left")
    settle()
    assert layouts.count > 0
    assert label.width() > before
    assert label.width() >= label.fontMetrics().horizontalAdvance(label.text())
    label.setText("")
    settle()
    assert label.width() < before


def test_that_it_follows_type_of_another_size_and_another_role(
    panel: QWidget, themed: QApplication
) -> None:
    label = label_of(panel)
    set_role(label, "hint")
    settle()
    small = label.size()
    assert small.height() >= label.fontMetrics().height()
    apply_theme(themed, DARK, 2.0)
    settle()
    assert label.width() > 1.5 * small.width()
    assert label.width() >= label.fontMetrics().horizontalAdvance(label.text())
    apply_theme(themed, DARK, 1.0)
    settle()
    assert label.size() == small


def test_that_what_was_said_before_it_was_shown_has_its_room(
    shown: Callable[[QWidget], None],
) -> None:
    panel = QWidget()
    row = QHBoxLayout(panel)
    label = CalmLabel()
    set_role(label, "hint")
    row.addWidget(label)
    label.setText("context 3,700 of 4,096")
    shown(panel)
    settle()
    assert label.width() >= label.fontMetrics().horizontalAdvance(label.text())
