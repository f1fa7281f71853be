"""The figures above the charts: what they say, that nothing jumps, and when they make room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.metrics.stretch_figures import Limits, StretchFigures
from resources.tokens import DARK
from tests.unit.test_figure_words import BUSY
from tests.widgets.synthetic import SECOND, desk_at_work
from widgets.elided_label import ElidedLabel
from widgets.figure_strip import BRIEF, FULL, NONE, FigureStrip
from widgets.live_panel import LivePanel
from widgets.theme import apply_theme

pytestmark = pytest.mark.gui

WIDEST = StretchFigures(
    length_s=3600.0,
    requests=7200,
    ttft_p50_s=1234.5,
    ttft_p95_s=1234.5,
    tpot_p50_s=0.0001,
    itl_p50_s=9.999,
    itl_p95_s=9.999,
    itl_p99_s=99.99,
    tokens=99_999_999,
    throughput_tok_s=9_999.0,
    busy_tok_s=9_999.0,
    steps_length_s=3600.0,
    ended=7200,
    good=7200,
    goodput_req_s=1_234.0,
    limits=Limits(0.5, 0.05),
)


@pytest.fixture
def strip(shown: Callable[[QWidget], None]) -> FigureStrip:
    made = FigureStrip()
    made.resize(430, 100)
    shown(made)
    return made


def settle() -> None:
    for _ in range(3):
        QApplication.processEvents()


def cut_off(strip: FigureStrip) -> list[str]:
    """Texts that have no room."""
    return [
        label.text()
        for label in strip.findChildren(QLabel)
        if label.isVisible()
        and label.fontMetrics().horizontalAdvance(label.text()) > label.contentsRect().width()
    ]


def test_that_all_figures_stand_side_by_side(strip: FigureStrip) -> None:
    strip.show_figures(BUSY)
    settle()
    heads = [
        cell.parentWidget() for cell in strip.findChildren(QLabel) if cell.text() == "In total"
    ]
    assert len(heads) == 1
    tops = {cell.y() for cell in strip._cells}
    assert len(tops) == 1
    assert strip.text() == (
        "12 requests in 2 min. TTFT p50: 0.31 s, p95 0.62 s. Per user p50: 58 tok/s, TPOT 17.2 ms. "
        "In total: 41 tok/s, busy 58 tok/s. Goodput: 0.08 req/s, 9 of 11 ended. "
        "ITL p50 17.1, p95 18.4, p99 31.0 ms"
    )


@pytest.mark.parametrize("width", [370, 430])
def test_that_nothing_is_cut_off_in_the_live_column(strip: FigureStrip, width: int) -> None:
    strip.resize(width, 100)
    strip.show_figures(BUSY)
    settle()
    for elided in strip.findChildren(ElidedLabel):
        assert not elided.is_elided(), elided.full_text()
    assert cut_off(strip) == []


UNITS = (" s", " ms", " tok/s", "ended", "set", "limit")


@pytest.mark.parametrize("width", [260, 300, 340, 400, 430])
def test_that_no_second_figure_loses_its_unit(strip: FigureStrip, width: int) -> None:
    strip.resize(width, 140)
    usual = replace(BUSY, tpot_p50_s=0.0623, throughput_tok_s=1_234.5, busy_tok_s=1_334.5)
    strip.show_figures(usual)
    settle()
    notes = [cell._note for cell in strip._cells]
    assert all(note.text().endswith(UNITS) for note in notes), [note.text() for note in notes]
    gaps = strip._gaps.text().removesuffix(" …")
    assert gaps.endswith(" ms"), gaps


@pytest.mark.parametrize("width", [370, 430, 700])
def test_that_nothing_moves_when_figures_come_and_grow(strip: FigureStrip, width: int) -> None:
    strip.resize(width, 100)
    settle()
    cells = [cell.geometry() for cell in strip._cells]
    height = strip.sizeHint().height()
    for figures in (BUSY, replace(BUSY, limits=Limits(0.5, None), good=None), WIDEST):
        strip.show_figures(figures)
        settle()
        assert [cell.geometry() for cell in strip._cells] == cells
        assert strip.sizeHint().height() == height


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_that_figures_take_two_rows_where_one_has_no_room(
    strip: FigureStrip, themed: QApplication, scale: float
) -> None:
    apply_theme(themed, DARK, scale)
    strip.show_figures(BUSY)
    strip.resize(370, 200)
    settle()
    rows = {cell.y() for cell in strip._cells}
    assert len(rows) == (1 if scale == 1.0 else 2)
    assert cut_off(strip) == []
    strip.resize(1200, 200)
    settle()
    assert len({cell.y() for cell in strip._cells}) == 1


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("width", [370, 430])
def test_that_the_height_it_tells_is_the_height_it_takes(
    strip: FigureStrip, themed: QApplication, scale: float, width: int
) -> None:
    apply_theme(themed, DARK, scale)
    strip.resize(width, 200)
    settle()
    for detail in (BRIEF, FULL):
        strip.set_detail(detail)
        settle()
        assert abs(strip.height_for(detail, width) - strip.sizeHint().height()) <= 1
    assert strip.height_for(NONE, width) == 0


def test_that_every_figure_explains_itself(strip: FigureStrip) -> None:
    strip.show_figures(BUSY)
    for cell in strip._cells:
        assert cell.toolTip().startswith("<p>")
    assert "In the time shown" in strip._gaps.toolTip()
    assert "first token" in strip._count.toolTip()


# --- In the panel -------------------------------------------------------------------------


class Clock:
    """A clock that is set by hand."""

    now_ns = 5000 * SECOND

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def panel(qtbot: QtBot, themed: QApplication, clock: Clock) -> Iterator[LivePanel]:
    made = LivePanel(desk_at_work(clock.now_ns), clock_ns=clock)
    qtbot.addWidget(made)
    made.resize(430, 900)
    made.show()
    made._timer.stop()
    settle()
    yield made
    made.close()


def test_that_the_figures_are_those_of_the_time_shown(panel: LivePanel) -> None:
    both = panel.figures.text()
    assert both.startswith("16 requests in 2 min")
    panel.time_view.show_length(30.0)
    settle()
    recent = panel.figures.text()
    assert recent.startswith("4 requests in 30 s")
    panel.time_view.pan(-20.0)  # another burst of four
    settle()
    assert panel.figures.text() not in (both, recent)
    assert "Per user p50: 5" in panel.figures.text()


def test_that_a_pause_keeps_the_figures_while_others_are_measured(
    panel: LivePanel, clock: Clock
) -> None:
    panel.time_bar.pause_button.click()
    settle()
    before = panel.figures.text()
    for second in range(1, 5):
        clock.now_ns += SECOND
        panel._meters.note_sent(9000 + second, clock.now_ns)
        panel._timer.timeout.emit()
    assert panel.figures.text() == before


def test_that_figures_are_renewed_four_times_a_second_at_most(
    panel: LivePanel, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    figures = Meters.figures

    def count(meters: Meters, now_ns: int, stretch: Stretch) -> StretchFigures:
        asked.append(now_ns)
        return figures(meters, now_ns, stretch)

    monkeypatch.setattr(Meters, "figures", count)
    for _ in range(30):
        clock.now_ns += SECOND // 10
        panel._meters.note_plan(None)
        panel._timer.timeout.emit()
    assert 5 <= len(asked) <= 12  # in three seconds
    assert min(b - a for a, b in pairwise(asked)) >= SECOND // 4


@pytest.mark.parametrize(
    ("height", "detail"), [(900, FULL), (640, FULL), (545, BRIEF), (400, NONE)]
)
def test_that_low_panels_keep_the_room_for_the_charts(
    panel: LivePanel, height: int, detail: int
) -> None:
    panel.resize(430, height)
    settle()
    assert panel.figures.detail == detail
    assert panel.figures.isVisible() is (detail != NONE)
    heights = [chart.plot.geometry_now.area.height() for chart in panel.charts]
    assert detail != FULL or max(heights) - min(heights) <= 2
    assert min(heights) > 20
    panel.resize(430, 900)
    settle()
    assert panel.figures.detail == FULL


def test_that_the_figures_never_hold_a_window_open(panel: LivePanel) -> None:
    needed = panel.minimumSizeHint().height()
    panel.figures.set_detail(NONE)
    settle()
    without = panel.minimumSizeHint().height()
    assert needed - without <= 10  # a gap between two panels
