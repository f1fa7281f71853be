"""The log: bounded, filtered, searched, and calm while a flood comes in."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from resources.tokens import DARK, LIGHT
from tests.widgets.finding import child
from widgets.log_line import Level, LogLine, log_lines
from widgets.log_list import LogList
from widgets.log_model import CAPACITY, LogModel
from widgets.log_view import LogView

pytestmark = pytest.mark.gui
NOON_S = 1_790_000_000.0


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> LogView:
    made = LogView()
    made.set_palette(DARK)
    made.resize(1000, 300)
    shown(made)
    return made


def lines(count: int, level: Level = "info", begin: int = 0, word: str = "line") -> list[LogLine]:
    return [
        LogLine(NOON_S + number, level, "engine", f"{word} {number}")
        for number in range(begin, begin + count)
    ]


def model(view: LogView) -> LogModel:
    found = child(view, LogList).model()
    assert isinstance(found, LogModel)
    return found


def texts(view: LogView) -> list[str]:
    return [model(view).line(row).text for row in range(model(view).rowCount())]


def button(view: LogView, text: str) -> QPushButton:
    return next(b for b in view.findChildren(QPushButton) if b.text().startswith(text))


def in_sight(view: LogView) -> tuple[str, str]:
    """The first and the last line that can be read whole."""
    listing = child(view, LogList)
    area = listing.viewport().rect()
    rows = [
        row
        for row in range(model(view).rowCount())
        if area.contains(listing.visualRect(model(view).index(row)).center())
    ]
    return model(view).line(rows[0]).text, model(view).line(rows[-1]).text


def count_text(view: LogView) -> str:
    labels = view.findChildren(QLabel)
    return next(label.text() for label in labels if label.accessibleName() == "Matches")


# --- Lines --------------------------------------------------------------------------------


def test_that_text_becomes_lines_without_what_a_terminal_would_act_on() -> None:
    said = "one\r\n\n\x1b[31mtwo\x1b[0m\t!\x00\u202e\n  \n" + "x" * 50_000
    found = log_lines(NOON_S, "error", "engine", said)
    assert [line.text for line in found[:2]] == ["one", "two !\ufffd\ufffd"]
    assert len(found) == 3
    assert found[2].text.endswith("x…")
    assert len(found[2].text) < 5000
    assert {line.level for line in found} == {"error"}


def test_that_a_line_is_read_out_whole(view: LogView) -> None:
    view.append(log_lines(NOON_S, "warning", "engine", "It is hot."))
    index = model(view).index(0)
    for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
        text = index.data(role)
        assert text.endswith("warning engine: It is hot.")
        assert text.count(":") >= 3


# --- The ring -----------------------------------------------------------------------------


def test_that_the_oldest_lines_make_room(view: LogView) -> None:
    view.append(lines(CAPACITY))
    view.append(lines(3, begin=CAPACITY))
    assert len(view.lines()) == CAPACITY
    assert texts(view)[0] == "line 3"
    assert texts(view)[-1] == f"line {CAPACITY + 2}"


def test_that_more_lines_than_there_is_room_for_leave_the_last() -> None:
    small = LogModel(10)
    small.append(lines(4))
    small.append(lines(25, begin=4))
    assert [line.text for line in small.lines()] == [f"line {n}" for n in range(19, 29)]
    assert small.rowCount() == 10


def test_that_of_filtered_lines_the_right_ones_go() -> None:
    small = LogModel(10)
    small.show_from("error")
    dropped: list[int] = []
    small.lines_dropped.connect(dropped.append)
    for number in range(20):
        small.append(lines(1, "error" if number % 3 == 0 else "info", number))
    shown = [small.line(row).text for row in range(small.rowCount())]
    assert shown == ["line 12", "line 15", "line 18"]
    assert sum(dropped) == 4


def test_that_a_flood_costs_the_window_little(view: LogView) -> None:
    """10,000 lines a second are ten batches of 1,000; measured 2.5 ms a batch, 5 with a search."""
    view.append(lines(CAPACITY, word="a line of a flood"))
    view.search("flood")
    QApplication.processEvents()
    begun_s = time.thread_time()
    for number in range(10):
        view.append(lines(1000, begin=number * 1000, word="a line of a flood"))
        QApplication.processEvents()
    assert time.thread_time() - begun_s < 0.5
    assert texts(view)[-1] == "a line of a flood 9999"


def test_that_a_flood_asks_the_model_little(view: LogView, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: a list of Qt's asks 20,000 times whenever a line comes."""
    view.append(lines(CAPACITY))
    QApplication.processEvents()
    asked: list[object] = []
    count = LogModel.rowCount

    def counting(self: LogModel, parent: QModelIndex | None = None) -> int:
        asked.append(parent)
        return count(self, parent)

    monkeypatch.setattr(LogModel, "rowCount", counting)
    view.append(lines(1000, begin=CAPACITY))
    QApplication.processEvents()
    assert len(asked) < 500


# --- Following ----------------------------------------------------------------------------


def test_that_the_end_stays_in_sight(view: LogView) -> None:
    for begin in (0, 200, 400):
        view.append(lines(200, begin=begin))
        QApplication.processEvents()
        assert in_sight(view)[1] == f"line {begin + 199}"
    view.resize(1000, 500)
    QApplication.processEvents()
    assert in_sight(view)[1] == "line 599"


def test_that_whoever_scrolls_up_is_left_alone(view: LogView) -> None:
    view.append(lines(CAPACITY))
    QApplication.processEvents()
    bar = child(view, LogList).verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    assert not button(view, "Follow").isChecked()
    before = in_sight(view)
    # The first lines go, so everything moves up: but not what is being read.
    view.append(lines(500, begin=CAPACITY))
    QApplication.processEvents()
    assert in_sight(view) == before
    QTest.mouseClick(button(view, "Follow"), Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert in_sight(view)[1] == f"line {CAPACITY + 499}"


def test_that_scrolling_back_to_the_end_follows_again(view: LogView) -> None:
    view.append(lines(300))
    QApplication.processEvents()
    bar = child(view, LogList).verticalScrollBar()
    bar.setValue(0)
    assert not child(view, LogList).is_following
    bar.setValue(bar.maximum())
    assert button(view, "Follow").isChecked()
    view.append(lines(10, begin=300))
    QApplication.processEvents()
    assert in_sight(view)[1] == "line 309"


# --- Filter -------------------------------------------------------------------------------


def test_that_a_level_hides_what_is_below(view: LogView) -> None:
    for level in ("debug", "info", "warning", "error"):
        view.append(lines(2, level, word=level))
    levels = child(view, QComboBox)
    shown = []
    for index in range(levels.count()):
        levels.setCurrentIndex(index)
        shown.append(sorted({text.split()[0] for text in texts(view)}))
    assert shown == [
        ["debug", "error", "info", "warning"], ["error", "info", "warning"], ["error", "warning"],
        ["error"],
    ]  # fmt: skip
    assert len(view.lines()) == 8
    view.append(lines(1, "info", 9) + lines(1, "error", 9, "late"))
    assert texts(view) == ["error 0", "error 1", "late 9"]


# --- Search -------------------------------------------------------------------------------


def test_that_a_search_goes_from_match_to_match_and_round_the_end(
    view: LogView, qtbot: QtBot
) -> None:
    view.append(lines(30))
    field = child(view, QLineEdit)
    view.focus_search()
    QTest.keyClicks(field, "LINE 1")
    listing = child(view, LogList)
    assert count_text(view) == "11 of 11"  # the newest first: 1, 10 … 19
    assert listing.currentIndex().row() == 19
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert (listing.currentIndex().row(), count_text(view)) == (1, "1 of 11")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert (listing.currentIndex().row(), count_text(view)) == (10, "2 of 11")
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert listing.currentIndex().row() == 1
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == count_text(view) == ""


def test_that_a_search_counts_on_while_lines_come_and_go(view: LogView) -> None:
    view.append(lines(CAPACITY, word="old"))
    view.search("new")
    assert count_text(view) == "not found"
    view.append(lines(7, word="new"))
    assert count_text(view) == "7 found"
    view.append(lines(CAPACITY - 2, word="old"))
    assert count_text(view) == "2 found"


def test_that_a_match_stays_in_sight_while_lines_come(view: LogView) -> None:
    view.append(lines(100))
    view.search("line 99")
    view.append(lines(100, begin=100))
    QApplication.processEvents()
    first, last = in_sight(view)
    assert int(first.split()[1]) <= 99 <= int(last.split()[1])


def test_that_a_match_is_marked_in_both_themes(view: LogView) -> None:
    view.append(lines(3))
    for palette in (DARK, LIGHT):
        view.set_palette(palette)
        view.search("")
        plain = child(view, LogList).viewport().grab().toImage()
        view.search("line")
        marked = child(view, LogList).viewport().grab().toImage()
        assert plain != marked


def test_that_a_letter_that_grows_when_folded_does_no_harm(view: LogView) -> None:
    view.append(log_lines(NOON_S, "info", "engine", "Straße und Strasse"))
    view.search("STRASSE")
    assert count_text(view) == "1 of 1"
    child(view, LogList).viewport().grab()


# --- Copy, clear, save ----------------------------------------------------------------------


def test_that_selected_lines_are_copied_in_their_order(view: LogView) -> None:
    view.append(lines(5))
    assert not button(view, "Copy").isEnabled()
    listing = child(view, LogList)
    for row in (3, 1):
        listing.selectionModel().select(
            model(view).index(row), QItemSelectionModel.SelectionFlag.Select
        )
    assert button(view, "Copy").isEnabled()
    listing.setFocus()
    QTest.keyClick(listing, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text().split("\n")
    assert [line.partition("engine: ")[2] for line in copied] == ["line 1", "line 3"]
    assert all("info" in line for line in copied)


def test_that_the_log_can_be_emptied(view: LogView, qtbot: QtBot) -> None:
    assert not button(view, "Clear").isEnabled()
    view.append(lines(5))
    view.search("line")
    with qtbot.waitSignal(view.cleared):
        button(view, "Clear").click()
    assert view.lines() == ()
    assert count_text(view) == "not found"
    view.append(lines(2))
    assert texts(view) == ["line 0", "line 1"]


def test_that_saving_is_asked_for(view: LogView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.save_requested):
        button(view, "Save").click()


# --- All of it ------------------------------------------------------------------------------


def test_that_every_control_is_named_and_reached_by_the_keyboard(view: LogView) -> None:
    view.append(lines(100))
    view.search("line")
    child(view, LogList).selectAll()
    widgets = {w for w in view.findChildren(QWidget) if w.focusPolicy() & Qt.FocusPolicy.TabFocus}
    widgets = {w for w in widgets if w.isVisible() and w.isEnabled()}
    view.focus_search()
    reached = set()
    for _ in range(3 * len(widgets)):
        focused = QApplication.focusWidget()
        assert focused is not None
        reached.add(focused)
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    assert widgets <= reached
    assert all(widget.accessibleName() for widget in reached)


def test_that_nothing_moves_when_something_is_found(view: LogView) -> None:
    def places() -> list[object]:
        QApplication.processEvents()
        return [widget.geometry() for widget in view.findChildren(QPushButton)]

    before = places()
    view.append(lines(CAPACITY))
    view.search("line")
    assert places() == before
    view.search("nowhere")
    assert places() == before
