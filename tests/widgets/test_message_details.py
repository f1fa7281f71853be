from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from resources.tokens import DARK, LIGHT
from widgets.message_details import DetailsView, PartsStrip, PositionBars
from widgets.message_footer import AnswerFooter
from widgets.message_record import Detail

pytestmark = pytest.mark.gui

TTFT = Detail("Time to first token", "TTFT 1 s", "What it is.", parts=(("a", 1.0), ("b", 3.0)))
DRAFTS = Detail("Drafts", "α 50%", "", bars=((4, 3), (4, 1)), bars_text="Accepted, 3 of 4, 1 of 4")


def footer_in_column(shown: Callable[[QWidget], None]) -> tuple[AnswerFooter, QWidget]:
    column = QWidget()
    footer = AnswerFooter(lambda: "text", DARK)
    layout = QVBoxLayout(column)
    layout.addWidget(footer)
    layout.addStretch()
    column.resize(600, 600)
    footer.show_end("TTFT 1 s", None, is_warning=False)
    shown(column)
    return footer, column


def test_that_details_unfold_by_the_keyboard_and_fold_again(
    shown: Callable[[QWidget], None],
) -> None:
    footer, column = footer_in_column(shown)
    assert not footer.details_button.isVisible()
    footer.set_details((TTFT, DRAFTS))
    button = footer.details_button
    assert button.isVisible()
    assert button.accessibleName() == "Details of this answer, folded"
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    [view] = column.findChildren(DetailsView)
    assert view.isVisible()
    assert button.accessibleName() == "Details of this answer, open"
    assert "TTFT 1 s" in view.text()
    assert "What it is." in view.text()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert not view.isVisible()


def test_that_open_details_follow_a_new_ending(shown: Callable[[QWidget], None]) -> None:
    footer, column = footer_in_column(shown)
    footer.set_details((TTFT,))
    footer.details_button.click()
    [view] = column.findChildren(DetailsView)
    footer.set_details((DRAFTS,))
    assert view.isVisible()
    assert "TTFT" not in view.text()
    footer.set_details(())
    assert not view.isVisible()
    assert not footer.details_button.isVisible()


def test_that_parts_are_as_wide_as_they_are_long_and_none_vanishes(
    shown: Callable[[QWidget], None],
) -> None:
    strip = PartsStrip([0.0, 1e-6, 3.0, 1.0], DARK)
    strip.resize(400, 8)
    shown(strip)
    strip.resize(400, 8)
    nothing, tiny, long, short = strip.widths_px()
    assert nothing == 0
    assert 1 < tiny < 4
    assert long > 2.9 * short
    assert nothing + tiny + long + short == pytest.approx(strip.width())
    assert PartsStrip([0.0, 0.0], DARK).widths_px() == [0.0, 0.0]


@pytest.mark.parametrize("palette", [DARK, LIGHT])
def test_that_bars_are_filled_as_far_as_drafts_held(
    shown: Callable[[QWidget], None], palette: object
) -> None:
    assert palette in (DARK, LIGHT)
    colours = DARK if palette is DARK else LIGHT
    bars = PositionBars([(4, 4), (4, 0), (2, 0)], "said", colours)
    shown(bars)
    image = bars.grab().toImage()
    full = QColor(colours.draft)
    step = min(36, bars.width() // 3)
    top, middle = 1, (bars.height() - bars.fontMetrics().height()) // 2 + 4
    assert image.pixelColor(step // 2, top) == full
    ground = image.pixelColor(step + step // 2, top)
    assert ground != full
    # Half as many were drafted at the third position: its bar begins half way down.
    assert image.pixelColor(2 * step + step // 2, top) not in (full, ground)
    assert image.pixelColor(2 * step + step // 2, middle) == ground
    assert bars.accessibleName() == "said"


def test_that_the_longest_draft_of_all_still_has_its_bars(
    shown: Callable[[QWidget], None],
) -> None:
    bars = PositionBars([(9, 5)] * 256, "said", DARK)
    bars.resize(300, 80)
    shown(bars)
    assert not bars.grab().isNull()
