"""The list of conversations: found, opened, renamed, deleted and brought back, by keys alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from resources.theme import contrast_ratio, found_ground, selected_ground
from resources.tokens import DARK, LIGHT, Palette
from tests.widgets.finding import child
from widgets.conversation_list import ConversationList
from widgets.conversation_list_days import day_group, time_words
from widgets.conversation_list_model import ConversationListModel, ListedConversation

NOW_S = datetime(2026, 11, 27, 14, 0).timestamp()
HOUR_S = 3600.0
DAY_S = 24 * HOUR_S


def row(name: str, hours_ago: float = 1.0, title: str = "", words: str = "") -> ListedConversation:
    return ListedConversation(name, title or f"About {name}", NOW_S - hours_ago * HOUR_S, words)


ROWS = [row("a", 1), row("b", 2), row("c", 26), row("d", 24 * 40)]


@pytest.fixture
def panel(shown: Callable[[QWidget], None]) -> ConversationList:
    made = ConversationList(clock_s=lambda: NOW_S)
    made.resize(300, 500)
    shown(made)
    made.set_entries(ROWS)
    return made


def texts(panel: ConversationList) -> list[str]:
    model = panel.model
    return [str(model.index(at).data()) for at in range(model.rowCount())]


def current(panel: ConversationList) -> str:
    found = panel.model.conversation_at(panel.view.currentIndex())
    return found.id if found else ""


def press(panel: ConversationList, key: Qt.Key, *, ctrl: bool = False) -> None:
    modifier = Qt.KeyboardModifier.ControlModifier if ctrl else Qt.KeyboardModifier.NoModifier
    QTest.keyClick(panel.view, key, modifier)


# --- Days -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "name", "words"),
    [
        (datetime(2026, 11, 27, 0, 0), "Today", "00:00"),
        (datetime(2026, 11, 28, 9, 0), "Today", "09:00"),  # a clock that was set back
        (datetime(2026, 11, 26, 23, 59), "Yesterday", "23:59"),
        (datetime(2026, 11, 25, 8, 0), "Last 7 days", "Wed"),
        (datetime(2026, 11, 21, 0, 0), "Last 7 days", "Sat"),
        (datetime(2026, 11, 20, 23, 0), "November 2026", "20 Nov"),
        (datetime(2025, 3, 4, 12, 0), "March 2025", "4 Mar"),
    ],
)
def test_that_a_time_has_its_day(when: datetime, name: str, words: str) -> None:
    group = day_group(when.timestamp(), NOW_S)
    assert group.name == name
    assert time_words(when.timestamp(), NOW_S) == words
    assert group.begin_s <= max(when.timestamp(), NOW_S)
    assert day_group(group.begin_s, NOW_S).name == name


def test_that_rows_stand_under_their_days_newest_first(panel: ConversationList) -> None:
    assert texts(panel) == [
        "Today", "About a", "About b", "Yesterday", "About c", "October 2026", "About d",
    ]  # fmt: skip
    assert panel.count_label.text() == "4 conversations"


def test_that_headings_are_passed_by(panel: ConversationList) -> None:
    panel.select("b")
    press(panel, Qt.Key.Key_Down)
    assert current(panel) == "c"


# --- States -----------------------------------------------------------------------------------


def test_that_each_state_says_what_it_is(shown: Callable[[QWidget], None], qtbot: QtBot) -> None:
    panel = ConversationList(clock_s=lambda: NOW_S)
    shown(panel)
    assert "Reading" in panel.message()
    panel.set_failed("The drive does not answer.")
    assert panel.message() == "The drive does not answer."
    with qtbot.waitSignal(panel.retried):
        panel.retry_button.click()
    panel.set_entries([])
    assert "No conversations yet" in panel.message()
    assert panel.retry_button.isHidden()
    panel.set_entries(ROWS)
    assert panel.message() == ""


def test_that_a_list_that_changes_keeps_its_place(panel: ConversationList) -> None:
    many = [row(f"n{number}", number) for number in range(400)]
    panel.set_entries(many)
    panel.select("n200")
    scrolled_px = panel.view.verticalScrollBar().value()
    panel.set_entries([row("newest", 0), *many])
    assert current(panel) == "n200"
    assert panel.view.verticalScrollBar().value() == scrolled_px


def test_that_a_list_of_thousands_has_no_widget_a_row(panel: ConversationList) -> None:
    before = len(panel.findChildren(QWidget))
    painted: list[int] = []
    paint = panel.view.rows._paint_row

    def counting(*arguments: object) -> None:
        painted.append(1)
        paint(*arguments)  # type: ignore[arg-type]

    panel.view.rows._paint_row = counting  # type: ignore[method-assign, assignment]
    panel.set_entries([row(f"n{number}", number) for number in range(2000)])
    panel.grab()
    assert len(panel.findChildren(QWidget)) == before
    assert 0 < len(painted) < 100  # only what is in sight


def test_that_one_changed_title_is_one_changed_row(panel: ConversationList, qtbot: QtBot) -> None:
    told: list[int] = []
    panel.model.dataChanged.connect(lambda first, *_: told.append(first.row()))
    with qtbot.assertNotEmitted(panel.model.modelReset):
        panel.set_entries([row("a", 1, "Other"), *ROWS[1:]])
    assert told == [1]


def test_that_a_conversation_that_is_talked_in_changes_its_own_row_alone(
    panel: ConversationList, qtbot: QtBot
) -> None:
    told: list[int] = []
    panel.model.dataChanged.connect(lambda first, *_: told.append(first.row()))
    with qtbot.assertNotEmitted(panel.model.modelReset):
        panel.update_entry(row("a", 0.5, "More of a"))
        panel.update_entry(row("b", 0.7))
    assert told == [1, 2]
    assert texts(panel)[1] == "More of a"


@pytest.mark.parametrize(
    ("name", "hours_ago", "place"),
    [("b", 0.5, 1), ("c", 0.1, 1), ("d", 1.5, 2), ("a", 20, 3), ("new", 1.5, 2), ("d", 24 * 45, 6)],
)
def test_that_a_conversation_goes_where_its_time_belongs(
    panel: ConversationList, name: str, hours_ago: float, place: int
) -> None:
    changed = row(name, hours_ago)
    panel.update_entry(changed)
    assert panel.model.place_of(name).row() == place
    after = texts(panel)
    others = [entry for entry in ROWS if entry.id != name]
    panel.model.show([*others, changed])
    assert texts(panel) == after  # as if all had been shown anew


def test_that_what_changes_during_a_search_is_there_after_it(panel: ConversationList) -> None:
    panel.search.setText("kv")
    panel.show_hits("kv", [row("d", 1000)])
    panel.update_entry(row("a", 1, "Other"))
    assert texts(panel) == ["About d"]
    panel.search.clear()
    assert "Other" in texts(panel)


# --- Deeds ------------------------------------------------------------------------------------


def test_that_return_and_double_click_open(panel: ConversationList, qtbot: QtBot) -> None:
    panel.select("b")
    with qtbot.waitSignal(panel.conversation_opened) as opened:
        press(panel, Qt.Key.Key_Return)
    assert opened.args == ["b"]
    place = panel.view.visualRect(panel.model.place_of("c")).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.waitSignal(panel.conversation_opened) as opened:
        QTest.mouseDClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened.args == ["c"]


def _editor(panel: ConversationList) -> QLineEdit:
    return child(panel.view.viewport(), QLineEdit)


def test_that_f2_renames_in_place(panel: ConversationList, qtbot: QtBot) -> None:
    panel.select("b")
    press(panel, Qt.Key.Key_F2)
    editor = _editor(panel)
    assert editor.text() == "About b"
    editor.setText("  Slots and   rooms ")
    with qtbot.waitSignal(panel.conversation_renamed) as renamed:
        QTest.keyClick(editor, Qt.Key.Key_Return)
    assert renamed.args == ["b", "Slots and rooms"]
    assert "Slots and rooms" in texts(panel)


def test_that_renaming_a_hit_shows_its_name_opens_nothing_and_leaves_the_keys_in_the_list(
    panel: ConversationList, qtbot: QtBot
) -> None:
    panel.search.setText("slots")
    panel.show_hits("slots", [row("c"), row("b")])
    panel.view.setCurrentIndex(panel.model.place_of("c"))
    panel.view.setFocus()
    press(panel, Qt.Key.Key_F2)
    editor = _editor(panel)
    editor.setText("New slots")
    with qtbot.assertNotEmitted(panel.conversation_opened), qtbot.waitSignal(panel.view.edit_ended):
        QTest.keyClick(editor, Qt.Key.Key_Return)
    assert texts(panel) == ["New slots", "About b"]
    assert panel.view.hasFocus()
    with qtbot.waitSignal(panel.conversation_deleted) as deleted:
        press(panel, Qt.Key.Key_Delete)
    assert deleted.args == ["c"]


def test_that_escape_leaves_a_title_as_it_was(panel: ConversationList, qtbot: QtBot) -> None:
    panel.select("b")
    press(panel, Qt.Key.Key_F2)
    editor = _editor(panel)
    editor.setText("nothing")
    with qtbot.assertNotEmitted(panel.conversation_renamed):
        QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert "About b" in texts(panel)


def test_that_news_wait_while_a_title_is_typed(panel: ConversationList) -> None:
    panel.select("b")
    press(panel, Qt.Key.Key_F2)
    editor = _editor(panel)
    editor.setText("half a ti")
    panel.set_entries([*ROWS, row("e", 0.5)])
    assert editor.text() == "half a ti"
    assert panel.view.is_editing
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert "About e" in texts(panel)
    assert current(panel) == "b"


def test_that_a_deleted_row_goes_at_once_and_undo_brings_it_back(
    panel: ConversationList, qtbot: QtBot
) -> None:
    panel.select("b")
    with qtbot.waitSignal(panel.conversation_deleted) as deleted:
        press(panel, Qt.Key.Key_Delete)
    assert deleted.args == ["b"]
    assert "About b" not in texts(panel)
    assert panel.undo_bar.words() == "Deleted “About b”"
    assert current(panel) == "c"  # the next one, so that several can go by keys
    panel.set_entries(ROWS)  # a list that was read before
    assert "About b" not in texts(panel)
    with qtbot.waitSignal(panel.delete_undone) as undone:
        press(panel, Qt.Key.Key_Z, ctrl=True)
    assert undone.args == ["b"]
    assert "About b" in texts(panel)
    assert current(panel) == "b"
    assert panel.undo_bar.words() == ""


def test_that_the_button_undoes_too_and_once_only(panel: ConversationList, qtbot: QtBot) -> None:
    panel.select("d")
    press(panel, Qt.Key.Key_Delete)
    assert "October 2026" not in texts(panel)  # nothing is left of that month
    with qtbot.waitSignal(panel.delete_undone):
        panel.undo_bar.button.click()
    with qtbot.assertNotEmitted(panel.delete_undone):
        press(panel, Qt.Key.Key_Z, ctrl=True)


def test_that_the_next_deed_ends_the_offer_to_undo(panel: ConversationList) -> None:
    panel.select("b")
    press(panel, Qt.Key.Key_Delete)
    press(panel, Qt.Key.Key_Return)
    assert panel.undo_bar.words() == ""


def test_that_the_offer_to_undo_ends_by_itself(panel: ConversationList) -> None:
    panel.select("b")
    press(panel, Qt.Key.Key_Delete)
    panel.undo_bar._timer.timeout.emit()
    assert panel.undo_bar.words() == ""
    assert not panel.undo_bar._timer.isActive()


def test_that_what_could_not_be_deleted_is_back_with_a_sentence(panel: ConversationList) -> None:
    panel.select("b")
    press(panel, Qt.Key.Key_Delete)
    panel.put_back("b")
    panel.show_problem("The conversation could not be deleted: the disk is read-only.")
    assert "About b" in texts(panel)
    assert panel.undo_bar.words() == ""
    assert "read-only" in panel.problem_bar.sentence()


def _menu(panel: ConversationList, monkeypatch: pytest.MonkeyPatch) -> QMenu:
    # Without a screen there is nothing to grab the keyboard with.
    monkeypatch.setattr(QMenu, "popup", lambda *_: None)
    panel.select("b")
    # By key: where the mouse is does not matter.
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(1, 1), QPoint(1, 1))
    QApplication.sendEvent(panel.view.viewport(), event)
    return child(panel, QMenu)


def test_that_the_menu_has_every_deed(
    panel: ConversationList, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    menu = _menu(panel, monkeypatch)
    deeds = {action.text(): action for action in menu.actions() if action.text()}
    assert list(deeds) == [
        "Open", "Rename", "Duplicate", "Export as Markdown…", "Export as JSON…", "Delete",
    ]  # fmt: skip
    with qtbot.waitSignal(panel.export_chosen) as chosen:
        deeds["Export as JSON…"].trigger()
    assert chosen.args == ["b", "json"]
    with qtbot.waitSignal(panel.conversation_duplicated) as duplicated:
        deeds["Duplicate"].trigger()
    assert duplicated.args == ["b"]


# --- Search -----------------------------------------------------------------------------------


def test_that_typing_searches_once_it_pauses(panel: ConversationList, qtbot: QtBot) -> None:
    searched: list[str] = []
    panel.words_searched.connect(searched.append)
    QTest.keyClicks(panel.search, "kv  cache ")
    assert panel.count_label.text() == "Searching…"
    assert searched == []
    qtbot.waitUntil(lambda: bool(searched))
    assert searched == ["kv cache"]


def test_that_hits_are_shown_in_their_order_with_their_count(panel: ConversationList) -> None:
    panel.search.setText("kv")
    panel.show_hits("kv", [row("d", 1000, words="the kv cache"), row("a", 1)])
    assert texts(panel) == ["About d", "About a"]
    assert panel.count_label.text() == "2 conversations have these words"


def test_that_hits_of_an_older_search_are_passed_over(panel: ConversationList) -> None:
    panel.search.setText("kv cache")
    panel.show_hits("kv", [row("d")])
    assert "About a" in texts(panel)


def test_that_a_search_without_hits_says_so(panel: ConversationList) -> None:
    panel.search.setText("zebra")
    panel.show_hits("zebra", [])
    assert "No conversation has these words" in panel.message()
    assert panel.count_label.text() == ""


def test_that_escape_ends_a_search_from_the_list_and_from_the_field(
    panel: ConversationList, qtbot: QtBot
) -> None:
    panel.search.setText("kv")
    panel.show_hits("kv", [row("d", 1000)])
    panel.select("d")
    with qtbot.waitSignal(panel.words_searched) as searched:
        press(panel, Qt.Key.Key_Escape)
    assert searched.args == [""]
    assert len(texts(panel)) == 7
    panel.search.setText("kv")
    QTest.keyClick(panel.search, Qt.Key.Key_Escape)
    assert panel.search.text() == ""


@pytest.mark.parametrize("keys", ["Esc", "Ctrl+F", "Del", "Ctrl+Z", "Return"])
def test_that_the_list_s_keys_come_before_the_window_s(
    panel: ConversationList, qtbot: QtBot, keys: str
) -> None:
    shortcut = QShortcut(QKeySequence(keys), panel)
    shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
    panel.search.setText("kv")
    panel.show_hits("kv", [row("d", 1000)])
    panel.select("d")
    panel.view.setFocus()
    with qtbot.assertNotEmitted(shortcut.activated):
        QTest.keySequence(panel.view, QKeySequence(keys))
    # Others stay the window's.
    shortcut.setKey(QKeySequence("Ctrl+K"))
    with qtbot.waitSignal(shortcut.activated):
        QTest.keySequence(panel.view, QKeySequence("Ctrl+K"))


def test_that_keys_go_from_the_search_to_the_hits_and_back(panel: ConversationList) -> None:
    panel.go_to_search()
    panel.search.setText("kv")
    panel.show_hits("kv", [row("d", 1000), row("a")])
    QTest.keyClick(panel.search, Qt.Key.Key_Down)
    assert panel.view.hasFocus()
    assert current(panel) == "d"
    press(panel, Qt.Key.Key_F, ctrl=True)
    assert panel.search.hasFocus()


@pytest.mark.parametrize("width_px", [120, 220, 600])
def test_that_marked_and_odd_texts_paint(panel: ConversationList, width_px: int) -> None:
    """Right-to-left, emoji, line feeds, marks outside of the text, 5,000 characters."""
    odd = [
        ListedConversation("r", "مرحبا بالعالم", NOW_S, "كيف حالك q8_0 اليوم", ((9, 13),)),
        ListedConversation("e", "🚲" * 300, NOW_S, "a\nb\0c", ((0, 1), (2, 90))),
        ListedConversation("l", "x" * 5000, NOW_S, "y" * 5000, ((4000, 4003),)),
        ListedConversation("n", "", NOW_S),
    ]
    panel.resize(width_px, 400)
    panel.search.setText("q8_0")
    panel.show_hits("q8_0", odd)
    assert not panel.grab().isNull()


# --- For everyone -----------------------------------------------------------------------------


def test_that_a_screen_reader_hears_what_the_marks_mean(panel: ConversationList) -> None:
    panel.set_open(["a", "b"])
    panel.set_streaming(["b"])
    said = Qt.ItemDataRole.AccessibleTextRole

    def words(name: str) -> str:
        return str(panel.model.place_of(name).data(said))

    assert words("a") == "About a, 27 November 2026, 13:00, open in a tab"
    assert words("b").endswith("an answer is being written")
    assert words("c").endswith("12:00")
    interface = QAccessible.queryAccessibleInterface(panel.view)
    assert interface.role() is QAccessible.Role.List
    assert interface.childCount() == panel.model.rowCount()
    assert interface.child(1).text(QAccessible.Text.Name) == words("a")


def test_that_every_control_has_a_name(panel: ConversationList) -> None:
    panel.show_problem("Something.")
    panel.select("b")
    press(panel, Qt.Key.Key_Delete)
    for widget in (panel.search, panel.view, panel.undo_bar.button, panel.problem_bar._close):
        assert widget.accessibleName()


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
def test_that_a_selected_row_can_be_read(palette: Palette) -> None:
    ground = selected_ground(palette)
    mark = found_ground(palette)
    assert contrast_ratio(palette.text, ground) >= 4.5
    assert contrast_ratio(palette.text, mark) >= 4.5


def test_that_marks_change_their_own_rows_only(panel: ConversationList) -> None:
    told: list[int] = []
    panel.model.dataChanged.connect(lambda first, *_: told.append(first.row()))
    panel.set_open(["a", "gone"])
    panel.set_open(["a"])
    panel.set_streaming(["c"])
    assert told == [1, 4]


def test_that_the_model_answers_for_places_that_are_none() -> None:
    model = ConversationListModel(clock_s=lambda: NOW_S)
    assert model.data(QModelIndex()) is None
    assert not model.place_of("x").isValid()
    assert not model.nearest(3).isValid()
    assert not model.setData(QModelIndex(), "title")
