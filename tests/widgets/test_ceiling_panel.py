"""The page "Ceiling": its states, and that it costs nothing where nobody looks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.ceiling import CeilingView
from resources.theme import mixed
from resources.tokens import DARK
from tests.widgets.ceilings import ONE, TWO
from widgets.ceiling_panel import REFRESH_MS, CeilingPanel
from widgets.charts.roofline_sketch import RooflineSketch

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


def test_that_every_line_says_what_it_means_where_the_pointer_rests(
    panel: CeilingPanel, shown: Shown
) -> None:
    shown(panel)
    panel.show_view(TWO)
    untold = [
        label.text()
        for label in panel.findChildren(QLabel)
        if label.isVisible() and label.text() and not label.toolTip()
    ]
    assert untold == []
    assert "35.7 GB/s" in panel.table._cells[1][0].toolTip()
    panel.show_view(ONE)
    assert "35.7 GB/s" not in panel.table._cells[0][0].toolTip()


@pytest.mark.parametrize("size", [(430, 760), (370, 560), (700, 400)])
def test_that_an_empty_page_sketches_what_will_come_and_says_what_to_do(
    panel: CeilingPanel, shown: Shown, size: tuple[int, int]
) -> None:
    panel.resize(*size)
    shown(panel)
    sketch = panel.chart._empty
    assert isinstance(sketch, RooflineSketch)
    assert "Load a model (Ctrl+O)" in sketch.text()
    assert "Load a model (Ctrl+O)" in panel.chart.accessibleDescription()
    [words] = sketch.findChildren(QLabel)
    assert words.heightForWidth(words.width()) <= words.height()
    assert sketch.rect().contains(words.geometry())
    image = sketch.grab().toImage()
    ink = mixed(DARK.line, DARK.muted, 0.3).lower()
    line = [
        (x, y)
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y).name() == ink
    ]
    assert len(line) > 100
    assert not [place for place in line if words.geometry().contains(QPoint(*place))]
    panel.show_view(CeilingView(has_model=True))
    assert "Send a message." in sketch.text()
    assert "Load" not in sketch.text()
    panel.show_view(ONE)
    assert not sketch.isVisible()


def test_that_a_low_empty_chart_keeps_to_its_words(panel: CeilingPanel, shown: Shown) -> None:
    shown(panel)
    sketch = panel.chart._empty
    sketch.resize(300, 120)
    [words] = sketch.findChildren(QLabel)
    assert words.height() == 120
    assert words.heightForWidth(words.width()) <= words.height()


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
