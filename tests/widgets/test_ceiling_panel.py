"""The page "Ceiling": its states, and that it costs nothing where nobody looks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.widgets.ceilings import ONE, TWO
from widgets.ceiling_panel import REFRESH_MS, CeilingPanel

pytestmark = pytest.mark.gui
Shown = Callable[[QWidget], None]


@pytest.fixture
def panel(qtbot: QtBot, themed: QApplication) -> CeilingPanel:
    made = CeilingPanel()
    qtbot.addWidget(made)
    made.resize(430, 760)
    return made


def test_that_an_empty_page_says_what_will_stand_here(panel: CeilingPanel, shown: Shown) -> None:
    shown(panel)
    assert "No model runs." in panel.text()
    assert panel.table.isHidden()
    assert not panel._streams.isVisible()
    assert panel.chart.isVisible()


def test_that_a_page_at_work_says_all_of_it(panel: CeilingPanel, shown: Shown) -> None:
    shown(panel)
    panel.show_view(TWO)
    said = panel.text()
    for part in (
        "MBU 58 %.",
        "61.2 GB/s ÷ 1.11 GB a step = 55.1 steps/s.",
        "1.04 GB weights + 70.0 MB KV of 2 streams",
        "32 tok/s per user, 64 tok/s in all",
        "computing at the best prefill rate seen",
        "Estimate from the measured steps",
    ):
        assert part in said
    assert panel.accessibleDescription() == said
    assert [row[0] for row in panel.table.texts()] == ["1", "2", "4"]
    assert "2 streams now: 35.7 GB/s, 58 % MBU" in panel.table.accessibleDescription()


def test_that_rows_go_when_other_settings_run(panel: CeilingPanel, shown: Shown) -> None:
    shown(panel)
    panel.show_view(TWO)
    panel.show_view(ONE)
    assert [row[0] for row in panel.table.texts()] == ["1"]
    assert panel.table.isVisible()


def test_that_a_view_is_asked_for_only_while_it_can_be_seen(
    panel: CeilingPanel, shown: Shown, qtbot: QtBot
) -> None:
    asked = list[None]()
    panel.view_wanted.connect(lambda: asked.append(None))
    assert not panel._timer.isActive()
    assert not asked
    with qtbot.waitSignal(panel.view_wanted):
        shown(panel)
    assert panel._timer.isActive()
    assert panel._timer.interval() == REFRESH_MS >= 500
    with qtbot.waitSignal(panel.view_wanted, timeout=20 * REFRESH_MS):
        pass
    panel.hide()
    assert not panel._timer.isActive()


@pytest.mark.parametrize("width", [370, 430])
def test_that_no_word_is_cut_off(panel: CeilingPanel, shown: Shown, width: int) -> None:
    panel.resize(width, 600)
    shown(panel)
    panel.show_view(TWO)
    QApplication.processEvents()
    for label in panel.findChildren(QLabel):
        if not label.isVisible() or not label.text() or label.parent() is panel.chart:
            continue
        if label.wordWrap():
            needed = label.heightForWidth(label.width())
            assert label.height() >= needed, label.text()
        else:
            assert label.width() >= label.sizeHint().width(), label.text()
