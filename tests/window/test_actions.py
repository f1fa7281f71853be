"""Every action: a key of its own, in the list, and done by both."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.actions import Actions
from app.main_menu import menu_bar
from app.window import Window
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import SETTINGS
from widgets.action_search import ActionEntry, found
from widgets.charts.limit_dialog import LimitDialog

pytestmark = [
    pytest.mark.gui,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]


def sequences(window: Window) -> list[tuple[str, QKeySequence]]:
    return [
        (action.id, QKeySequence(keys))
        for action in window.actions_of_window.all()
        for keys in action.keys
    ]


def combinations(sequence: QKeySequence) -> list[QKeyCombination]:
    # PySide6's stubs leave its index operator out.
    return [sequence[place] for place in range(sequence.count())]  # type: ignore[index]


def press(widget: QWidget, sequence: QKeySequence) -> None:
    for combination in combinations(sequence):
        QTest.keyClick(widget, combination.key(), combination.keyboardModifiers())


# --- The whole table -------------------------------------------------------------------------


def test_that_every_action_has_a_key_but_the_settings(make_window: Callable[..., Window]) -> None:
    window = make_window()
    keyless = {action.id for action in window.actions_of_window.all() if not action.keys}
    assert keyless == {f"set.{s.key}" for s in SETTINGS if s.group is not Group.MODEL}


def test_that_every_key_is_one_that_qt_knows(make_window: Callable[..., Window]) -> None:
    for name, sequence in sequences(make_window()):
        keys = [combination.key() for combination in combinations(sequence)]
        assert keys, name
        assert Qt.Key.Key_unknown not in keys, name


def test_that_no_two_actions_have_the_same_key(make_window: Callable[..., Window]) -> None:
    pairs = itertools.combinations(sequences(make_window()), 2)
    # Nor does one begin another: Qt would wait for the rest of it.
    alike = [
        (one, other, a.toString())
        for (one, a), (other, b) in pairs
        if a.matches(b) != QKeySequence.SequenceMatch.NoMatch
        or b.matches(a) != QKeySequence.SequenceMatch.NoMatch
    ]
    assert alike == []


def test_that_no_action_takes_a_key_that_editors_need(make_window: Callable[..., Window]) -> None:
    standard = QKeySequence.StandardKey
    editing = [
        standard.Copy, standard.Cut, standard.Paste, standard.Undo, standard.Redo,
        standard.SelectAll, standard.MoveToNextWord, standard.MoveToPreviousWord,
        standard.SelectNextWord, standard.SelectPreviousWord, standard.DeleteStartOfWord,
        standard.DeleteEndOfWord, standard.MoveToStartOfDocument, standard.MoveToEndOfDocument,
        standard.SelectStartOfDocument, standard.SelectEndOfDocument,
        standard.DeleteCompleteLine, standard.InsertLineSeparator,
    ]  # fmt: skip
    needed = {keys for key in editing for keys in QKeySequence.keyBindings(key)}
    needed.add(QKeySequence("Ctrl+Backspace"))  # resets a setting
    taken = [(name, s.toString()) for name, s in sequences(make_window()) if s in needed]
    assert taken == []


@pytest.mark.parametrize("kind", [QPlainTextEdit, QLineEdit])
def test_that_every_key_works_while_something_is_written(
    make_window: Callable[..., Window], kind: type[QWidget]
) -> None:
    window = make_window()
    done: list[str] = []
    actions = Actions(window)
    heard = [
        action
        for action in window.actions_of_window.all()
        if action.group not in ("Conversations",)
    ]
    for shortcut in list(window.actions()):
        window.removeAction(shortcut)
    for action in heard:
        if action.id != "chat.stop":
            slot = lambda name=action.id: done.append(name)  # noqa: E731
            actions.add(action.id, action.text, action.keys, slot, action.group)
    editor = kind(window.centralWidget())
    editor.show()
    editor.setFocus()
    expected = []
    for action in actions.all():
        for keys in action.keys:
            press(editor, QKeySequence(keys))
            expected.append(action.id)
    assert done == expected
    assert getattr(editor, "toPlainText", getattr(editor, "text", str))() == ""


# --- Doing -----------------------------------------------------------------------------------


def test_that_the_list_finds_shows_keys_and_does_what_enter_chooses(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    press(window, QKeySequence("Ctrl+K"))
    sheet = window.help.list
    assert QApplication.focusWidget() is sheet.field
    QTest.keyClicks(sheet.field, "copy comm")
    chosen = sheet.current()
    assert chosen is not None
    assert (chosen.id, chosen.keys) == ("command.copy", "Ctrl+Shift+C")
    QTest.keyClick(sheet.field, Qt.Key.Key_Return)
    assert not sheet.isVisible()
    assert QGuiApplication.clipboard().text() == window.command.text()


def test_that_the_list_goes_to_a_setting_and_opens_its_section(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    folded = next(
        s for s in SETTINGS if s.group is Group.BATCH and window.tune.row(s.key).isEnabled()
    )
    window.docks.set_shown("tune", False)
    window.actions_of_window.run(f"set.{folded.key}")
    assert window.tune.section(Group.BATCH).is_open()
    assert QApplication.focusWidget() is window.tune.row(folded.key).control.value_widget


def test_that_what_was_done_last_stands_first(make_window: Callable[..., Window]) -> None:
    window = make_window()
    for name in ("command.copy", "panel.log"):
        window.actions_of_window.run(name)
    window.help.show_actions()
    first_two = [entry.id for entry in window.help.list.shown_entries()[:2]]
    assert first_two == ["panel.log", "command.copy"]


def test_that_an_action_that_cannot_be_done_says_why(make_window: Callable[..., Window]) -> None:
    window = make_window()
    window.actions_of_window.run("settings.undo")
    assert window.toast.text() == "No setting was changed."
    window.help.show_actions()
    entry = next(e for e in window.help.list.shown_entries() if e.id == "settings.undo")
    assert entry.reason == "No setting was changed."


def test_that_escape_and_a_click_elsewhere_close_the_list(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    window.areas.go("chat")
    editor = QApplication.focusWidget()
    assert editor is not None
    window.help.show_actions()
    QTest.keyClick(window.help.list.field, Qt.Key.Key_Escape)
    assert not window.help.list.isVisible()
    assert QApplication.focusWidget() is editor
    window.help.show_actions()
    window.areas.go("tune")
    assert not window.help.list.isVisible()


def test_that_f6_goes_round_all_parts_and_back(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    window.areas.go("chat")
    seen = []
    for _ in range(5):
        seen.append(window.areas.current())
        press(window, QKeySequence("F6"))
    assert seen == ["chat", "live", "command", "top", "tune"]
    assert window.areas.current() == "chat"
    press(window, QKeySequence("Shift+F6"))
    assert window.areas.current() == "tune"


def test_that_the_view_of_keys_lists_every_action_that_has_some(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    window.actions_of_window.run("help.keys")
    view = window.help.keys
    assert view is not None
    expected = {(a.text, a.keys_text) for a in window.actions_of_window.all() if a.keys}
    assert set(view.shown_texts()) == expected
    view.field.setText("undo")
    assert view.shown_texts()[0] == ("Undo the last change of a setting", "F9")
    view.close()


def test_that_the_menu_offers_the_actions_and_says_which_cannot_be_done(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    menu = window.top.menu_button.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    entries = {action.text().split("\t")[0]: action for action in menu.actions()}
    # Its look was given from outside.
    assert not entries["Theme: dark"].isEnabled()
    assert [entries[f"Show or hide: {t}"].isChecked() for t in ("Log", "Tune")] == [False, True]
    entries["Show or hide: Log"].trigger()
    assert window.docks.is_shown("log")


def test_that_the_menu_bar_of_macos_holds_every_action_but_the_settings(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    actions = window.actions_of_window
    bar = menu_bar(actions, window)
    bar.hide()
    entries = [e for top in bar.actions() for e in top.menu().actions()]  # type: ignore[attr-defined]
    expected = [a.text for a in actions.all() if not a.id.startswith("set.")]
    assert sorted(entry.text() for entry in entries) == sorted(expected)
    roles = {e.text(): e.menuRole() for e in entries if e.menuRole() != QAction.MenuRole.NoRole}
    assert set(roles) == {"Quit", "About TuneDeck…"}
    actions.qt_action("panel.log").trigger()
    assert window.docks.is_shown("log")


def test_that_an_action_needs_a_name_of_its_own(make_window: Callable[..., Window]) -> None:
    window = make_window()
    with pytest.raises(ValueError, match=r"'app\.quit'"):
        window.actions_of_window.add("app.quit", "Quit", (), window.close, "Help")


# --- Searching -------------------------------------------------------------------------------

ENTRIES = [
    ActionEntry("open", "Open a model file…", "Model", "Ctrl+O", words="gguf"),
    ActionEntry("copy", "Copy the command line", "Settings", "Ctrl+Shift+C"),
    ActionEntry("code", "Copy the last code block", "Messages"),
    ActionEntry("ctx", "Set Context per slot…", "Settings", words="ctx_per_slot_tok"),
    ActionEntry("zoom", "Charts: a shorter time", "Charts"),
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("copy", ["copy", "code"]),
        ("line copy", ["copy"]),
        ("CODE", ["code"]),
        ("gguf", ["open"]),
        ("ctx_per", ["ctx"]),
        ("ctrl+o", ["open"]),
        ("set", ["ctx", "copy"]),  # in the text before in the group
        ("mdl", ["open"]),
        ("cpy", ["copy", "code"]),
        ("nothing like it", []),
    ],
)
def test_that_words_are_found_the_likeliest_first(query: str, expected: list[str]) -> None:
    assert [entry.id for entry in found(ENTRIES, query)] == expected


def first_shown(window: Window, query: str) -> list[ActionEntry]:
    window.help.show_actions()
    window.help.list.field.setText(query)
    shown = list(window.help.list.shown_entries())
    current = window.help.list.current()
    window.help.list.close_list()
    assert current == shown[0]
    return shown


def test_that_what_can_be_done_stands_first_and_a_panel_before_all(
    make_window: Callable[..., Window],
) -> None:
    shown = first_shown(make_window(), "convers")
    assert [entry.id for entry in shown[:2]] == ["panel.conversations", "focus.conversations"]
    texts = [entry for entry in shown if "convers" in entry.text.casefold()]
    can = [not entry.reason for entry in texts]
    assert can == sorted(can, reverse=True)
    assert False in can  # only one conversation is open


def test_that_a_button_is_found_by_its_name(make_window: Callable[..., Window]) -> None:
    entry = first_shown(make_window(), "regen")[0]
    assert entry.id == "chat.regenerate"
    assert entry.text.startswith("Regenerate")
    assert entry.reason  # and nothing that Enter would do stands above it


def test_that_the_list_does_not_offer_itself(make_window: Callable[..., Window]) -> None:
    window = make_window()
    window.actions_of_window.run("help.actions")
    window.help.list.close_list()
    assert "help.actions" not in [entry.id for entry in first_shown(window, "")]


def test_that_keys_work_in_a_panel_that_floats(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    window.docks.set_floating("tune", True)
    fader = window.tune.row("ctx_per_slot_tok").fader
    with qtbot.waitActive(window.docks.dock("tune")):
        window.docks.dock("tune").activateWindow()
    fader.setFocus()
    press(fader, QKeySequence("Ctrl+J, G"))
    assert window.docks.is_shown("log")


def test_that_the_menu_has_the_caches_of_the_conversation(
    make_window: Callable[..., Window],
) -> None:
    menu = make_window().top.menu_button.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    entries = {action.text().split("\t")[0]: action for action in menu.actions()}
    save, load = entries["Save this conversation's cache…"], entries["Load a cache…"]
    assert (save.isEnabled(), load.isEnabled()) == (False, False)
    assert save.toolTip() == "Nothing was said in it yet."
    assert load.toolTip() == "No model is loaded."


# --- The live column -------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "page"), [("charts", 0), ("ceiling", 1), ("room", 2)])
@pytest.mark.parametrize("width_px", [1700, 900])
def test_that_pages_of_the_live_column_are_brought_to_the_front(
    make_window: Callable[..., Window], name: str, page: int, width_px: int
) -> None:
    window = make_window()
    window.resize(width_px, 900)
    QApplication.processEvents()
    pages = window.gauges.pages
    if not window.is_folded:
        window.toggle_panel("live")
    pages.show_page((page + 1) % 3)
    assert not pages.isVisible()
    window.actions_of_window.run(f"live.{name}")
    assert pages.isVisible()
    assert pages.index == page


def test_that_the_word_of_a_page_says_what_it_shows_and_its_key(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    buttons = window.gauges.pages.choice.findChildren(QPushButton)
    for button, name in zip(buttons, ("charts", "ceiling", "room"), strict=True):
        keys = window.actions_of_window.action(f"live.{name}").keys_text
        assert keys
        assert f"({keys})." in button.toolTip()
        assert keys in button.accessibleDescription()
    assert len({button.toolTip() for button in buttons}) == len(buttons)


@pytest.mark.parametrize(("name", "place"), [("ttft", 0), ("tpot", 1)])
def test_that_a_limit_is_asked_for_and_taken_away_by_action(
    make_window: Callable[..., Window], name: str, place: int
) -> None:
    window = make_window()
    actions, chart = window.actions_of_window, (window.live.ttft, window.live.tpot)[place]
    said: list[str] = []
    actions.refused.connect(said.append)
    actions.run(f"charts.no_limit_{name}")
    assert said == [f"No limit of {name.upper()} is set."]
    window.gauges.pages.show_page(2)
    actions.run(f"charts.limit_{name}")
    assert window.gauges.pages.index == 0
    dialog = chart.findChild(LimitDialog)
    assert isinstance(dialog, LimitDialog)
    dialog.field.setText("40")
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert window.live.limits[place] == (40.0, 0.04)[place]
    assert window.live.limits[1 - place] is None
    actions.run(f"charts.no_limit_{name}")
    assert window.live.limits == (None, None)
    assert len(said) == 1
