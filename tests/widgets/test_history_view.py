"""The history of experiments: found, picked, opened, compared, deleted and brought back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot

from resources.tokens import LIGHT
from tests.widgets.finding import child
from widgets.conversation_list_days import moment_words
from widgets.experiments.comparison_sheet import ComparisonPair, ComparisonRow, ComparisonSheet
from widgets.experiments.history_entry import EntryList, HistoryEntry
from widgets.experiments.history_view import HistoryView
from widgets.experiments.kind_words import KINDS

NOW_S = datetime(2026, 11, 30, 14, 0).timestamp()
HOUR_S = 3600.0


def entry(key: str, hours_ago: float = 1.0, **changes: object) -> HistoryEntry:
    made = HistoryEntry(
        key, "bench", f"chat, {key}", NOW_S - hours_ago * HOUR_S, "Gemma 3 270M",
        figure="52.8 tok/s", figure_label="Total throughput", about="5 runs",
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


ENTRIES = (
    entry("d", 1),
    entry("c", 2, kind="sweep", state="stopped", can_resume=True, tags=("night",)),
    entry("b", 26, kind="quality", figure="Mean KLD 0.0006"),
    entry("a", 24 * 40, state="failed", figure="", note="Fan at full speed"),
)


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> HistoryView:
    made = HistoryView(clock_s=lambda: NOW_S)
    made.resize(480, 760)
    shown(made)
    made.set_entries(EntryList.of(ENTRIES), ["battery", "night"])
    return made


def shown_keys(view: HistoryView) -> tuple[str, ...]:
    return view.model.entries.keys


def press(view: HistoryView, key: Qt.Key, *, ctrl: bool = False) -> None:
    modifier = Qt.KeyboardModifier.ControlModifier if ctrl else Qt.KeyboardModifier.NoModifier
    QTest.keyClick(view.list, key, modifier)


# --- What is shown ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "words"),
    [
        (datetime(2026, 11, 30, 9, 5), "09:05"),
        (datetime(2026, 11, 29, 23, 59), "Yesterday 23:59"),
        (datetime(2026, 11, 27, 8, 0), "Fri 08:00"),
        (datetime(2026, 11, 3, 8, 0), "3 Nov"),
        (datetime(2025, 3, 4, 12, 0), "4 Mar 2025"),
    ],
)
def test_that_a_moment_has_its_day(when: datetime, words: str) -> None:
    assert moment_words(when.timestamp(), NOW_S) == words


def test_that_the_newest_is_picked_and_told(view: HistoryView) -> None:
    assert view.list.picked_keys() == ("d",)
    assert view.details.title() == "chat, d"
    assert "Total throughput 52.8 tok/s · 5 runs" in view.details.about()
    assert view.filters.count_label.text() == "4 experiments"


def test_that_a_row_is_said_whole(view: HistoryView) -> None:
    said = view.model.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said.startswith("chat, c, Sweep, stopped, Gemma 3 270M, Total throughput 52.8 tok/s, 30")
    assert said.endswith("#night")


def test_that_disturbed_runs_are_marked_in_their_row(view: HistoryView) -> None:
    view.list.clearSelection()
    quiet = view.list.viewport().grab().toImage()
    view.set_entries(EntryList.of((*ENTRIES[:1], replace(ENTRIES[1], disturbed_runs=2))))
    view.list.clearSelection()
    marked = view.list.viewport().grab().toImage()
    row = view.list.visualRect(view.model.index(1))
    assert quiet.copy(row) != marked.copy(row)
    assert "2 runs disturbed" in view.model.index(1).data(Qt.ItemDataRole.AccessibleTextRole)


def test_that_the_figure_of_a_row_says_what_it_is(view: HistoryView) -> None:
    before = view.list.viewport().grab().toImage()
    named = replace(ENTRIES[1], short_figure="52.8 tok/s in total")
    view.set_entries(EntryList.of((ENTRIES[0], named, *ENTRIES[2:])), ["battery", "night"])
    row = view.list.visualRect(view.model.index(1))
    assert before.copy(row) != view.list.viewport().grab().toImage().copy(row)


def test_that_each_state_says_what_it_is(shown: Callable[[QWidget], None], qtbot: QtBot) -> None:
    view = HistoryView(clock_s=lambda: NOW_S)
    shown(view)
    assert "Reading" in view.message.words()
    view.set_failed("The history was written by a newer TuneDeck.")
    assert "newer TuneDeck" in view.message.words()
    with qtbot.waitSignal(view.retried):
        view.message.retry_button.click()
    view.set_entries(EntryList.of(()))
    assert "difference smaller than that is called none" in view.message.words()
    assert view.message.retry_button.isHidden()
    assert not view.is_listed
    view.set_entries(EntryList.of(ENTRIES))
    assert view.is_listed


def test_that_new_experiments_are_offered_by_kind(view: HistoryView, qtbot: QtBot) -> None:
    view.set_entries(EntryList.of(()))
    asked: list[str] = []
    view.new_wanted.connect(asked.append)
    for button in view.message.kind_buttons:
        button.click()
    for action in view.filters.new_button.menu().actions():
        action.trigger()
    assert asked == 2 * [kind.key for kind in KINDS]


def test_that_what_is_not_on_the_disk_is_said(view: HistoryView) -> None:
    view.set_entries(EntryList.of([entry("d", is_unkept=True)]))
    assert "not on the disk yet" in view.details.about()


# --- Finding ----------------------------------------------------------------------------------


def test_that_typing_searches_once_it_pauses(view: HistoryView, qtbot: QtBot) -> None:
    told: list[str] = []
    view.searched.connect(told.append)
    QTest.keyClicks(view.filters.search, " q8  0")
    qtbot.waitUntil(lambda: bool(told))
    assert told == ["q8 0"]
    view.filters.search.clear()
    assert told == ["q8 0", ""]


def test_that_kind_and_tag_are_told_together(view: HistoryView) -> None:
    told: list[tuple[str, str]] = []
    view.filtered.connect(lambda kind, tag: told.append((kind, tag)))
    view.filters.kinds.setCurrentIndex(view.filters.kinds.findData("sweep"))
    view.filters.tags.setCurrentIndex(view.filters.tags.findData("night"))
    assert told == [("sweep", ""), ("sweep", "night")]


def test_that_a_chosen_tag_stays_where_tags_change(view: HistoryView) -> None:
    view.filters.tags.setCurrentIndex(view.filters.tags.findData("night"))
    told: list[tuple[str, str]] = []
    view.filtered.connect(lambda kind, tag: told.append((kind, tag)))
    view.set_entries(EntryList.of(ENTRIES), ["laptop"])
    assert view.filters.tag() == "night"
    assert not told


def test_that_escape_shows_all_again(view: HistoryView) -> None:
    view.filters.kinds.setCurrentIndex(view.filters.kinds.findData("tune"))
    view.set_entries(EntryList.of(()))
    assert "No experiment is like that" in view.message.words()
    told: list[tuple[str, str]] = []
    view.filtered.connect(lambda kind, tag: told.append((kind, tag)))
    QTest.keyClick(view.filters.search, Qt.Key.Key_Escape)
    assert told == [("", "")]
    assert not view.filters.is_narrowed


def test_that_keys_go_to_the_search_and_to_the_list(view: HistoryView) -> None:
    view.list.setFocus()
    QTest.keySequence(view.list, QKeySequence(QKeySequence.StandardKey.Find))
    assert view.filters.search.hasFocus()
    QTest.keyClick(view.filters.search, Qt.Key.Key_Down)
    assert view.list.hasFocus()


# --- Deeds ------------------------------------------------------------------------------------


def test_that_return_and_the_button_open(view: HistoryView) -> None:
    opened: list[str] = []
    view.opened.connect(opened.append)
    press(view, Qt.Key.Key_Return)
    press(view, Qt.Key.Key_Down)
    view.details.deeds.open_button.click()
    assert opened == ["d", "c"]


def test_that_only_what_stopped_goes_on(view: HistoryView) -> None:
    wanted: list[str] = []
    view.resume_wanted.connect(wanted.append)
    assert not view.details.deeds.resume_button.isEnabled()
    view.pick(["c"])
    view.details.deeds.resume_button.click()
    assert wanted == ["c"]


def test_that_two_are_compared_the_older_one_first(view: HistoryView) -> None:
    wanted: list[tuple[str, str]] = []
    view.compare_wanted.connect(lambda first, second: wanted.append((first, second)))
    button = view.details.deeds.compare_button
    assert not button.isEnabled()
    assert "Ctrl + click" in button.toolTip()
    view.pick(["b", "d"])
    assert view.details.title() == "2 experiments picked"
    assert not view.details.deeds.open_button.isEnabled()
    button.click()
    assert wanted == [("b", "d")]
    view.pick(["a", "b", "d"])
    assert not button.isEnabled()


def test_that_deletion_is_seen_at_once_and_can_be_taken_back(view: HistoryView) -> None:
    deleted: list[tuple[str, ...]] = []
    restored: list[tuple[str, ...]] = []
    view.delete_wanted.connect(deleted.append)
    view.restore_wanted.connect(restored.append)
    view.pick(["c", "b"])
    press(view, Qt.Key.Key_Delete)
    assert deleted == [("c", "b")]
    assert shown_keys(view) == ("d", "a")
    assert view.list.picked_keys() == ("a",)  # what stands there now
    assert view.undo_bar.words() == "Deleted 2 experiments"
    view.set_entries(EntryList.of(ENTRIES))  # read before it was done
    assert shown_keys(view) == ("d", "a")
    press(view, Qt.Key.Key_Z, ctrl=True)
    assert restored == [("c", "b")]
    view.set_entries(EntryList.of(ENTRIES))
    assert shown_keys(view) == ("d", "c", "b", "a")


def test_that_what_could_not_be_deleted_comes_back(view: HistoryView) -> None:
    press(view, Qt.Key.Key_Delete)
    view.put_back(["d"])
    view.set_entries(EntryList.of(ENTRIES))
    assert "d" in shown_keys(view)
    assert view.undo_bar.words() == ""


def test_that_the_menu_exports_what_is_picked(
    view: HistoryView, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a screen there is nothing to grab the keyboard with.
    monkeypatch.setattr(QMenu, "popup", lambda *_: None)
    wanted: list[tuple[tuple[str, ...], str]] = []
    view.export_wanted.connect(lambda keys, form: wanted.append((keys, form)))
    view.pick(["d", "c"])
    at = view.list.visualRect(view.model.index(2)).center()
    where = view.list.viewport().mapToGlobal(at)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, where)
    QApplication.sendEvent(view.list.viewport(), event)
    menu = view.findChildren(QMenu)[-1]
    assert view.list.picked_keys() == ("b",)  # what lies beside what was picked
    next(action for action in menu.actions() if "Picture" in action.text()).trigger()
    menu.close()
    view.details.deeds.export_menu.actions()[0].trigger()
    assert wanted == [(("b",), "card"), (("b",), "markdown")]


# --- Tags and notes ---------------------------------------------------------------------------


def test_that_tags_are_told_when_they_are_typed(view: HistoryView) -> None:
    told: list[tuple[str, tuple[str, ...]]] = []
    view.tags_edited.connect(lambda key, tags: told.append((key, tags)))
    field = view.details.tags
    field.setFocus()
    QTest.keyClicks(field, " night , #laptop,, ")
    QTest.keyClick(field, Qt.Key.Key_Return)
    view.list.setFocus()
    assert told == [("d", ("night", "laptop"))]


def test_that_a_note_is_told_when_it_is_left(view: HistoryView) -> None:
    told: list[tuple[str, str]] = []
    view.note_edited.connect(lambda key, note: told.append((key, note)))
    view.details.note.setFocus()
    QTest.keyClicks(view.details.note, "quiet room ")
    view.pick(["c"])  # another one before it is left
    assert told == [("d", "quiet room")]
    assert view.details.note.toPlainText() == ""
    view.list.setFocus()
    assert len(told) == 1


def test_that_what_is_typed_outlives_a_list_read_anew(view: HistoryView) -> None:
    view.details.note.setFocus()
    QTest.keyClicks(view.details.note, "half a sen")
    view.set_entries(EntryList.of([replace(ENTRIES[0], note="of another program"), *ENTRIES[1:]]))
    assert view.details.note.toPlainText() == "half a sen"
    QTest.keyClick(view.details.note, Qt.Key.Key_Escape)
    assert view.details.note.toPlainText() == "of another program"


def test_that_a_note_is_told_before_it_is_hidden(view: HistoryView) -> None:
    told: list[tuple[str, str]] = []
    view.note_edited.connect(lambda key, note: told.append((key, note)))
    view.details.note.setFocus()
    QTest.keyClicks(view.details.note, "x")
    view.hide()
    assert told == [("d", "x")]


# --- Comparison -------------------------------------------------------------------------------

SHEET = ComparisonSheet(
    "b", "d", "chat, b", "chat, d", "quality · 2026-11-29 12:00", "bench · 2026-11-30 13:00",
    ("They ran on different machines.",),
    (ComparisonRow("Machine", "AMD", "Apple"),),
    (
        ComparisonPair(
            "slots=1",
            (ComparisonRow("cache_type_k", "f16", "q8_0"),),
            (ComparisonRow("TTFT", "210 ± 2", "175 ± 1", "ms", "better", "B is 20 % faster."),),
            ("There are 4 runs with MBU; 5 are needed to tell a difference.",),
        ),
        ComparisonPair("slots=2", (), (ComparisonRow("TTFT", "1", "1", "s", "none", "Equal."),)),
    ),
)  # fmt: skip


def test_that_a_comparison_shows_all_of_its_sheet(view: HistoryView, qtbot: QtBot) -> None:
    view.show_comparison(SHEET)
    said = view.comparison.words()
    for words in (
        "chat, b", "chat, d", "They ran on different machines.", "210 ± 2", "175 ± 1", "ms",
        "▲", "B is 20 % faster.", "cache_type_k", "q8_0", "Apple",
        "There are 4 runs with MBU; 5 are needed to tell a difference.",
    ):  # fmt: skip
        assert words in said
    view.comparison.pairs.setCurrentIndex(1)
    assert {"=", "Equal."} <= set(view.comparison.words())
    assert "The same settings." in view.comparison.words()
    opened: list[str] = []
    view.opened.connect(opened.append)
    view.comparison.opened.emit("b")
    assert opened == ["b"]


def test_that_escape_goes_back_to_the_list(view: HistoryView) -> None:
    view.show_comparison(SHEET)
    assert view.comparison.isVisible()
    QTest.keyClick(view.comparison.back_button, Qt.Key.Key_Escape)
    assert view.list.isVisible()
    assert view.list.hasFocus()


def test_that_nothing_is_cut_off_where_it_is_narrow(view: HistoryView) -> None:
    view.show_comparison(SHEET)
    view.grab()
    for label in view.comparison.findChildren(QLabel):
        assert label.width() >= label.minimumSizeHint().width() or label.wordWrap(), label.text()


# --- Thousands --------------------------------------------------------------------------------


def many(count: int, made: list[int]) -> EntryList:
    def make(place: int) -> HistoryEntry:
        made.append(place)
        return entry(f"k{place:05}", hours_ago=place)

    return EntryList((f"k{place:05}" for place in range(count)), make)


def test_that_of_thousands_only_what_is_in_sight_is_made(view: HistoryView) -> None:
    widgets = len(view.findChildren(QWidget))
    made: list[int] = []
    view.set_entries(many(10_000, made))
    view.grab()
    assert 0 < len(set(made)) < 100
    assert len(view.findChildren(QWidget)) == widgets
    view.list.scrollToBottom()
    view.grab()
    assert 9_999 in made
    assert len(set(made)) < 200


def test_that_showing_thousands_takes_no_ten_milliseconds(view: HistoryView) -> None:
    took_s = []
    for count in (10_000, 9_999, 10_000, 9_999, 10_000):  # other rows each time
        entries = many(count, [])
        begun_s = time.thread_time()  # others may have the processor meanwhile
        view.set_entries(entries)
        took_s.append(time.thread_time() - begun_s)
    assert min(took_s) < 0.010


def test_that_a_list_that_changes_keeps_its_place(view: HistoryView) -> None:
    view.set_entries(many(400, []))
    view.pick(["k00200"])
    view.list.scrollTo(view.model.place_of("k00200"))
    top = view.list.indexAt(QPoint(5, 5)).row()
    grown = EntryList.of([entry("new"), *(entry(f"k{place:05}") for place in range(400))])
    view.set_entries(grown)
    assert view.list.picked_keys() == ("k00200",)
    assert view.list.indexAt(QPoint(5, 5)).row() == top + 1


def test_that_who_is_at_the_top_sees_what_is_new(view: HistoryView) -> None:
    view.set_entries(many(400, []))
    view.set_entries(EntryList.of([entry("new"), *(entry(f"k{n:05}") for n in range(400))]))
    assert view.list.indexAt(QPoint(5, 5)).row() == 0


# --- The rest ---------------------------------------------------------------------------------


def test_that_a_look_is_told(view: HistoryView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.looked_at, timeout=1000):
        QApplication.sendEvent(view, QEvent(QEvent.Type.WindowActivate))
    view.hide()
    with qtbot.waitSignal(view.looked_at, timeout=1000):
        view.show()


def test_that_details_stand_beside_where_there_is_room(view: HistoryView, qtbot: QtBot) -> None:
    def beside() -> bool:
        view.grab()
        return view.details.geometry().left() > view.list.geometry().right()

    assert not beside()
    view.resize(900, 800)
    qtbot.waitUntil(beside)
    view.resize(480, 760)
    qtbot.waitUntil(lambda: not beside())
    assert view.details.width() > 400


def test_that_both_themes_are_taken(view: HistoryView) -> None:
    before = view.list.grab().toImage()
    view.set_palette(LIGHT)
    assert view.list.grab().toImage() != before
    assert view.colours is LIGHT
    assert child(view, QLabel) is not None
