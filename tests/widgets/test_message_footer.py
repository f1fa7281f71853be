from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from widgets.message_footer import AnswerFooter
from widgets.message_record import Branch

pytestmark = pytest.mark.gui


@pytest.mark.parametrize("width_px", [280, 420, 900])
def test_that_every_button_is_in_sight_however_narrow_the_column(
    shown: Callable[[QWidget], None], width_px: int
) -> None:
    column = QWidget()
    footer = AnswerFooter(lambda: "text")
    layout = QVBoxLayout(column)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(footer)
    footer.show_end(
        "TTFT 1.23 s · TPOT 699 ms · prompt 40 (0 reused) · 160 new", "x", is_warning=True
    )
    footer.set_can_continue(True)
    footer.set_branch(Branch(turn_id=2, number=2, count=2))
    column.resize(width_px, 300)
    shown(column)
    assert column.width() == width_px
    for button in footer.findChildren(QPushButton):
        if button.isVisible():
            right = button.mapTo(column, button.rect().topRight()).x()
            assert right < width_px, f"{button.text()} ends at {right}"
