"""The result view: verdict, charts, table and settings, each found by the others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.experiments.experiment import State
from app.result_sheets import sheet_of
from resources.tokens import DARK, LIGHT, Palette
from tests import made_results
from widgets.experiments.result_plot import ResultPlot
from widgets.experiments.result_sheet import ResultSheet
from widgets.experiments.result_view import ResultView

pytestmark = pytest.mark.gui
Shown = Callable[[QWidget], None]
SWEEP = sheet_of(made_results.sweep())
TUNE = sheet_of(made_results.tune())
TOTAL = [each.key for each in SWEEP.columns].index("total_tok_s")


@pytest.fixture
def view(qtbot: QtBot, themed: QApplication) -> ResultView:
    made = ResultView()
    qtbot.addWidget(made)
    made.resize(900, 800)
    return made


def button(view: ResultView, text: str) -> QPushButton:
    return next(each for each in view.findChildren(QPushButton) if each.text() == text)


def place_of(plot: ResultPlot, number: int) -> QPointF:
    return plot.geometry_now.place(plot.spots[number].point)


def click(plot: ResultPlot, place: QPointF) -> None:
    QTest.mouseClick(plot, Qt.MouseButton.LeftButton, pos=place.toPoint())


def lines(view: ResultView) -> list[str]:
    """Names of the configurations in the order of the table."""
    rows = [view.table._table.row_at(line) for line in range(view.table.model().rowCount())]
    return [row.name for row in rows if row is not None]


def test_that_nothing_is_said_to_be_nothing(view: ResultView, shown: Shown) -> None:
    shown(view)
    assert (
        view.text()
        == "Nothing to show yet: what an experiment measures appears here after its first run."
    )
    assert not view.chart.isVisible()
    assert not view.table.isVisible()
    assert not view.pick.isVisible()


def test_that_the_verdict_stands_first(view: ResultView, shown: Shown) -> None:
    view.set_sheet(SWEEP)
    shown(view)
    said = view.text().splitlines()
    assert said[0] == SWEEP.title
    assert said[1] == SWEEP.conclusion[0]
    assert said[-2].startswith("1 of 95 runs was disturbed")


def test_that_a_click_on_a_point_finds_its_row_and_its_settings(
    view: ResultView, shown: Shown
) -> None:
    view.set_sheet(SWEEP)
    shown(view)
    plot = view.chart.plots()[0]
    click(plot, place_of(plot, 5))
    cell = plot.spots[5].point.cell
    assert view.picked_cell() == cell
    row = SWEEP.row_of(cell)
    assert row is not None
    assert view.table.currentIndex().row() == SWEEP.rows.index(row)
    assert row.name in view.pick.text()
    assert "Parallel slots" in view.pick.text()
    assert view.chart.plots()[1].spot is None, "it is ringed there, and was picked here"
    # Beside all points nothing is picked, and what is picked stays.
    click(plot, plot.geometry_now.area.topRight() + QPointF(-3, 3))
    assert view.picked_cell() == cell


def test_that_a_row_finds_its_points(view: ResultView, shown: Shown) -> None:
    view.set_sheet(SWEEP)
    shown(view)
    plot = view.chart.plots()[0]
    before = plot.grab().toImage()
    view.table.setFocus()
    view.table.setCurrentIndex(view.table.model().index(4, 0))
    assert view.picked_cell() == 4
    assert plot.grab().toImage() != before, "a ring was drawn"


def test_that_settings_are_applied_by_their_button(view: ResultView, qtbot: QtBot) -> None:
    view.set_sheet(TUNE)
    view.table.setCurrentIndex(view.table.model().index(4, 0))
    with qtbot.waitSignal(view.apply_wanted) as wanted:
        button(view, "Apply these settings").click()
    assert wanted.args is not None
    assert wanted.args[0]["slots"] == 8
    assert wanted.args[0]["ubatch_tok"] == 1024


def test_that_what_cannot_run_cannot_be_applied_and_says_why(view: ResultView) -> None:
    view.set_sheet(TUNE)
    view.table.setCurrentIndex(view.table.model().index(6, 0))
    assert not view.pick.can_apply()
    assert "Not measured: CPU does not suffice" in view.pick.text()
    assert "7.3 GiB are missing" in str(view.table.model().index(6, 1).data())
    assert view.table.columnSpan(6, 1) == view.table.model().columnCount() - 1


def test_that_the_only_configuration_need_not_be_picked(view: ResultView) -> None:
    view.set_sheet(sheet_of(made_results.bench()))
    assert view.pick.can_apply()
    assert view.picked_cell() is None


def test_that_buttons_lead_back_and_on(view: ResultView, qtbot: QtBot) -> None:
    view.set_sheet(sheet_of(made_results.sweep(state=State.STOPPED)))
    with qtbot.waitSignal(view.back_wanted):
        button(view, "‹ Experiments").click()
    with qtbot.waitSignal(view.resume_wanted):
        button(view, "Go on with it").click()
    view.set_sheet(SWEEP)
    assert button(view, "Go on with it").isHidden()


def grown(sheet: ResultSheet, runs: int) -> ResultSheet:
    """The same sweep after other runs."""
    made = sheet_of(made_results.sweep(runs=runs))
    assert made.key == sheet.key
    return made


def test_that_what_is_picked_sorted_and_scrolled_to_stays_while_it_runs(
    view: ResultView, shown: Shown
) -> None:
    view.resize(480, 500)
    view.set_sheet(SWEEP)
    shown(view)
    view.chart.open_page("memory")
    view.table.sortByColumn(TOTAL, Qt.SortOrder.DescendingOrder)
    view.table.setCurrentIndex(view.table.model().index(3, 0))
    cell, scroll = view.picked_cell(), view._scroll.verticalScrollBar()
    scroll.setValue(120)
    before = lines(view)
    view.set_sheet(grown(SWEEP, 6))
    assert view.picked_cell() == cell
    assert view.table.currentIndex().row() == 3
    assert view.chart.open_key() == "memory"
    assert scroll.value() == 120
    assert lines(view)[0] == before[0]
    other = replace(SWEEP, key="another")
    view.set_sheet(other)
    assert view.picked_cell() is None
    assert scroll.value() == 0


def test_that_a_picked_row_stays_picked_when_it_is_sorted(view: ResultView) -> None:
    view.set_sheet(SWEEP)
    view.table.setCurrentIndex(view.table.model().index(0, 0))
    view.table.sortByColumn(TOTAL, Qt.SortOrder.DescendingOrder)
    assert view.picked_cell() == 0
    assert lines(view)[view.table.currentIndex().row()] == SWEEP.rows[0].name
    assert lines(view)[-1] == next(row.name for row in SWEEP.rows if row.skipped), "None is last"
    view.table.sortByColumn(TOTAL, Qt.SortOrder.AscendingOrder)
    assert lines(view)[-1] == next(row.name for row in SWEEP.rows if row.skipped)


def test_that_figures_of_unlike_units_are_not_sorted(view: ResultView) -> None:
    view.set_sheet(SWEEP)
    view.table.sortByColumn(TOTAL, Qt.SortOrder.DescendingOrder)
    view.set_sheet(sheet_of(made_results.bench()))
    assert not view.table.isSortingEnabled()
    assert view.table.model().index(0, 0).data() == "TTFT"


def test_that_the_table_is_copied_as_text(view: ResultView) -> None:
    view.set_sheet(TUNE)
    view.table.copy_table()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert copied[0].split("\t")[:3] == ["Configuration", "Outcome", "Total (tok/s)"]
    assert len(copied) == 1 + len(TUNE.rows)
    assert copied[5].split("\t")[1] == "best"
    assert copied[7].split("\t")[1].startswith("CPU does not suffice")
    view.table.setCurrentIndex(view.table.model().index(4, 0))
    view.table.copy_row()
    assert QGuiApplication.clipboard().text().splitlines()[1] == copied[5]


def test_that_keys_reach_every_point(view: ResultView, shown: Shown) -> None:
    view.set_sheet(SWEEP)
    shown(view)
    plot = view.chart.plots()[0]
    plot.setFocus()
    seen = []
    for _ in plot.spots:
        QTest.keyClick(plot, Qt.Key.Key_Right)
        assert plot.spot is not None
        seen.append(plot.spot)
    assert seen == list(plot.spots)
    assert view.picked_cell() == seen[-1].point.cell
    QTest.keyClick(plot, Qt.Key.Key_Up)
    assert plot.spot is not None
    assert plot.spot.point.y >= seen[-1].point.y
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert view.picked_cell() is None
    assert "Arrow keys" in plot.accessibleDescription()


def test_that_the_pointer_at_a_point_is_told_its_figures(view: ResultView) -> None:
    view.set_sheet(SWEEP)
    view.grab()
    plot = view.chart.plots()[0]
    card = plot.card_at(place_of(plot, 0) + QPointF(3, -3))
    assert card.startswith("1 slot, ")
    assert "Total throughput" in card
    assert "tok/s" in card
    assert plot.card_at(plot.geometry_now.area.topLeft() + QPointF(2, 2)) == ""


def test_that_plots_stand_below_each_other_where_it_is_narrow(
    view: ResultView, shown: Shown
) -> None:
    view.set_sheet(SWEEP)
    shown(view)
    first, second = view.chart.plots()
    assert first.y() == second.y()
    view.resize(480, 760)
    QApplication.processEvents()
    assert first.x() == second.x()
    assert first.geometry_now.area.left() == second.geometry_now.area.left()
    assert second.y() > first.y()


def test_that_long_words_do_not_widen_it(view: ResultView, shown: Shown) -> None:
    name = "cache_type_k=q8_0, " * 20
    made = made_results.sweep(contexts=(2048,), caches=("f16",))
    cells = tuple(msgspec.structs.replace(cell, name=name + cell.name) for cell in made.cells)
    view.set_sheet(sheet_of(msgspec.structs.replace(made, cells=cells, conclusion=(name * 3,))))
    view.resize(480, 760)
    shown(view)
    assert view.width() == 480
    body = view._scroll.widget()
    assert body is not None
    assert body.width() <= view._scroll.viewport().width()


def test_that_markup_of_others_stays_text(view: ResultView) -> None:
    view.set_sheet(replace(SWEEP, title="<b>bold</b>", conclusion=("<img src=x>",)))
    assert view.text().splitlines()[:2] == ["<b>bold</b>", "<img src=x>"]


@pytest.mark.parametrize("colours", [DARK, LIGHT])
def test_that_points_have_the_colours_of_the_theme(view: ResultView, colours: Palette) -> None:
    view.set_palette(colours)
    view.set_sheet(sheet_of(made_results.users()))
    view.grab()
    plot = view.chart.plots()[0]
    image = plot.grab().toImage()
    place = (place_of(plot, 2) * image.devicePixelRatio()).toPoint()
    assert image.pixelColor(place) == QColor(colours.accent)
    assert image.pixelColor(QPoint(1, image.height() - 1)) == QColor(colours.panel)


def test_that_an_outlined_point_is_empty(view: ResultView) -> None:
    view.set_palette(DARK)
    view.set_sheet(TUNE)
    view.grab()
    plot = view.chart.plots()[0]
    image = plot.grab().toImage()
    for number, spot in enumerate(plot.spots):
        place = (place_of(plot, number) * image.devicePixelRatio()).toPoint()
        filled = QColor(DARK.panel if spot.point.is_hollow else DARK.kv)
        assert image.pixelColor(place) == filled


def test_that_another_chart_of_the_same_name_is_drawn_anew(view: ResultView) -> None:
    view.set_sheet(SWEEP)
    view.grab()
    before = view.chart.plots()[0].grab().toImage()
    view.set_sheet(grown(SWEEP, 7))
    assert view.chart.plots()[0].grab().toImage() != before


def test_that_states_are_told(view: ResultView) -> None:
    failed = replace(TUNE, state="failed", state_words="Failed: the engine died.")
    view.set_sheet(failed)
    assert "Failed: the engine died." in view.text()
    running = sheet_of(made_results.sweep(runs=1, state=State.RUNNING))
    view.set_sheet(running)
    assert "may still change" in view.text()


def test_that_a_large_sweep_takes_no_ten_milliseconds(view: ResultView, shown: Shown) -> None:
    first, second = sheet_of(made_results.large()), sheet_of(made_results.large())
    changed = replace(second, rows=(*second.rows[:-1], replace(second.rows[-1], notes=("x",))))
    shown(view)
    view.set_sheet(first)
    QApplication.processEvents()
    spent = []
    for sheet in (changed, first, changed, first, changed):
        begun = time.process_time()
        view.set_sheet(sheet)
        spent.append(time.process_time() - begun)
    # The bound of 10 ms is measured by hand; here is room for a machine that others use.
    assert sorted(spent)[2] < 0.05


def test_that_one_experiment_follows_another_on_the_screen(view: ResultView, shown: Shown) -> None:
    shown(view)
    # Fewer and more columns, with and without reasons across them, scroll bars that come and go.
    for made in (*made_results.every_kind(), *reversed(made_results.every_kind())):
        sheet = sheet_of(made)
        view.set_sheet(sheet)
        QApplication.processEvents()
        assert view.table.model().columnCount() == len(sheet.columns)
        assert view.table.model().rowCount() == len(sheet.rows)


def test_that_no_title_is_cut_where_it_is_narrow(view: ResultView, shown: Shown) -> None:
    view.set_sheet(SWEEP)
    shown(view)
    view.resize(560, 700)
    QApplication.processEvents()
    table = view.table
    header = table.horizontalHeader()
    left_out = table.left_out()
    assert left_out
    assert left_out[-1] == "Runs", "what says least is left out first"
    assert header.length() <= table.viewport().width(), "nothing is beyond the edge"
    said_so = [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
    assert f"Left out for want of room: {', '.join(left_out)}." in said_so
    button(view, "All columns").click()
    assert table.left_out() == []
    assert header.length() > table.viewport().width(), "and is scrolled to"
    button(view, "Fewer columns").click()
    assert table.left_out() == left_out
    view.resize(1400, 700)
    QApplication.processEvents()
    assert table.left_out() == []
    assert button(view, "All columns").isHidden()


def test_that_what_surrounds_a_low_result_takes_two_lines(view: ResultView, shown: Shown) -> None:
    view.set_sheet(SWEEP)
    view.table.setCurrentIndex(view.table.model().index(0, 0))
    shown(view)
    view.resize(560, 420)
    QApplication.processEvents()
    assert view._scroll.height() > 0.7 * view.height()
    assert "Parallel slots 1" in view.pick.text(), "and the settings are still told"
    assert SWEEP.title in view.text()
    view.resize(560, 800)
    QApplication.processEvents()
    assert view.pick.height() > 60


def test_that_what_runs_already_is_not_applied_again(view: ResultView) -> None:
    view.set_sheet(TUNE)
    view.table.setCurrentIndex(view.table.model().index(4, 0))
    config = dict(TUNE.rows[4].config)
    view.set_running(config)
    assert not view.pick.can_apply()
    apply = button(view, "These settings run")
    assert "runs these settings already" in apply.toolTip()
    view.set_running(config | {"slots": 3})
    assert view.pick.can_apply()
    assert apply.text() == "Apply these settings"


def test_that_a_disturbance_is_told_once(view: ResultView) -> None:
    sheet = sheet_of(made_results.bench())
    view.set_sheet(sheet)
    assert view.pick.text().endswith("1 run was disturbed.")
    assert view.text().count(made_results.DISTURBED) == 1
    assert made_results.DISTURBED not in view.pick.text()
