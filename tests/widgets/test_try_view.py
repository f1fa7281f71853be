"""Try it, seen: before, while it runs, after it, and where it cannot be done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from widgets.try_sheet import TryRow, TrySheet, TryWork
from widgets.try_view import TryView

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
WORKS = (TryWork("short", "Short", "Short questions."), TryWork("chat", "Chat", "People talk."))
ROWS = (
    TryRow("TTFT", "Time to first token.", "214.1 ± 3.2", "210.0 ± 2.2", "ms", "+1.9 %"),
    TryRow("Memory (RSS)", "Pages.", "900", "800", "MiB", "+12.5 %"),
)
SHEET = TrySheet("The engine is 2 % faster. " * 5, ("More of it.",), ROWS, runs=5)


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> TryView:
    made = TryView()
    made.form.set_works(WORKS)
    made.form.set_program("/opt/llama.cpp/build/bin/llama-server", "none")
    made.set_line("llama-server -m model.gguf -c 8192 " * 12)
    made.set_ready("")
    made.resize(900, 720)
    shown(made)
    return made


def test_that_it_is_started_with_what_was_chosen(view: TryView, qtbot: QtBot) -> None:
    view.form.works.setCurrentIndex(1)
    view.form.runs_box.setCurrentIndex(0)
    assert (view.form.work(), view.form.runs(), view.form.order()) == ("chat", 3, 0)
    with qtbot.waitSignal(view.start_requested):
        QTest.mouseClick(view.start_button, LEFT)


def test_that_what_stands_in_the_way_is_said_and_nothing_starts(
    view: TryView, qtbot: QtBot
) -> None:
    view.set_ready("No model is loaded.")
    assert not view.start_button.isEnabled()
    assert view.state_label.text() == "No model is loaded."
    with qtbot.assertNotEmitted(view.start_requested):
        QTest.mouseClick(view.start_button, LEFT)


def test_that_the_order_is_explained_and_a_choice_of_it_is_noted(
    view: TryView, qtbot: QtBot
) -> None:
    view.form.set_order(1)
    assert not view.form.is_order_chosen
    assert "gives its memory back" in view.form.about_label.text()
    with qtbot.waitSignal(view.form.changed):
        view.form.orders.index_chosen.emit(2)
    assert view.form.is_order_chosen


def test_that_it_can_be_cancelled_once_while_it_runs(view: TryView, qtbot: QtBot) -> None:
    view.begin()
    assert view.is_under_way
    assert not view.form.isEnabled()
    assert not view.start_button.isEnabled()
    view.set_progress(0.25, "Run 1 of 5: 127.0.0.1:9", "2 min")
    assert view.stage_label.full_text() == "25% · Run 1 of 5: 127.0.0.1:9, 2 min left"
    assert view.bar.value() == 250
    with qtbot.waitSignal(view.cancel_requested):
        QTest.mouseClick(view.cancel_button, LEFT)
    assert not view.cancel_button.isEnabled()
    view.set_progress(0.3, "Run 2 of 5", "")
    assert view.stage_label.full_text().endswith("Stopping; the server is ended.")


def test_that_both_sides_stand_side_by_side(view: TryView) -> None:
    view.begin()
    view.set_sheet(SHEET)
    view.end("Done.", is_warning=False)
    assert view.table.texts() == [
        ("TTFT", "214.1 ± 3.2", "210.0 ± 2.2", "ms", "+1.9 %"),
        ("Memory (RSS)", "900", "800", "MiB", "+12.5 %"),
    ]
    assert view.headline_label.text() == SHEET.headline
    assert view.state_label.text() == "Done."
    assert view.show_button.isVisible()
    assert not view.cancel_button.isVisible()
    view.set_ready("An experiment is under way.")
    assert view.state_label.text() == "Done.", "what came of it stays to be read"


def test_that_a_server_alone_has_no_empty_columns(view: TryView) -> None:
    view.set_sheet(TrySheet("Alone.", (), ROWS[:1], has_own=False, runs=5))
    seen = [label for label in view.table.findChildren(QWidget) if label.isVisible()]
    assert not [label for label in seen if getattr(label, "text", str)() == "Embedded engine"]


def test_that_the_log_follows_its_end_until_somebody_scrolls_up(view: TryView) -> None:
    log = view.log
    log.append([f"line {number}" for number in range(300)])
    QApplication.processEvents()
    bar = log.view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    bar.setValue(0)
    log.append(["the last"])
    assert bar.value() == 0
    QTest.mouseClick(log.copy_button, LEFT)
    assert QGuiApplication.clipboard().text().endswith("line 299\nthe last")
    view.begin()
    assert log.text() == ""


def test_that_the_log_keeps_its_end_and_its_memory(view: TryView) -> None:
    view.log.append([f"line {number}" for number in range(12_000)])
    lines = view.log.text().split("\n")
    assert len(lines) <= 5_000
    assert lines[-1] == "line 11999"


@pytest.mark.parametrize("width", [900, 1440])
def test_that_nothing_is_cut_off_in_any_width(view: TryView, width: int) -> None:
    view.set_sheet(SHEET)
    view.resize(width, 720)
    QApplication.processEvents()
    assert view.minimumSizeHint().width() <= 900
    for widget in (view.start_button, view.form.works, view.form.orders, view.table):
        right = widget.mapTo(view, widget.rect().topRight()).x()
        assert right < view.width()


def test_that_everything_in_reach_has_a_name(view: TryView) -> None:
    view.set_sheet(SHEET)
    for widget in view.findChildren(QWidget):
        takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isVisible()
        if takes and not widget.focusProxy():
            assert widget.accessibleName() or getattr(widget, "text", str)(), widget
