"""A width that no text changes, and no font that comes late."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QWidget

from resources.tokens import DARK
from widgets.steady_label import SteadyLabel
from widgets.theme import apply_theme, set_role

pytestmark = pytest.mark.gui


def test_that_a_text_that_changes_moves_nothing_beside_it(shown: Callable[[QWidget], None]) -> None:
    panel = QWidget()
    label, neighbour = SteadyLabel("20,000"), QLabel("beside")
    row = QHBoxLayout(panel)
    row.addWidget(label)
    row.addWidget(neighbour)
    shown(panel)
    at = set()
    for text in ("", "1", "20,000"):
        label.setText(text)
        QApplication.processEvents()
        at.add(neighbour.x())
    assert len(at) == 1


def test_that_its_font_is_that_of_its_role_even_before_it_was_ever_shown(
    themed: QApplication,
) -> None:
    hidden, styled = SteadyLabel("tok"), SteadyLabel("tok")
    for label in (hidden, styled):
        set_role(label, "hint")
    styled.ensurePolished()
    assert hidden.minimumSizeHint() == styled.minimumSizeHint()


def test_that_it_follows_type_of_another_size(
    themed: QApplication, shown: Callable[[QWidget], None]
) -> None:
    label = SteadyLabel("tok")
    set_role(label, "hint")
    shown(label)
    before = label.minimumSizeHint()
    apply_theme(themed, DARK, 2.0)
    assert label.minimumSizeHint().width() > 1.5 * before.width()
    apply_theme(themed, DARK, 1.0)
    assert label.minimumSizeHint() == before
