"""The dialog of an import: text of any length left, what it says right, and what is taken of it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from widgets.dropped_path import DroppedPath
from widgets.import_drop import command_file
from widgets.import_sheet import (
    ImportAsk,
    ImportChoice,
    ImportCommand,
    ImportModel,
    ImportProblem,
    ImportRow,
    ImportSheet,
)
from widgets.import_start import EXAMPLE
from widgets.import_text import MOST_CHARACTERS, MOST_EDITED
from widgets.import_view import ImportView

pytestmark = pytest.mark.gui

RLO = "\u202e"
ROWS = (
    ImportRow("ctx_per_slot_tok", "Context per slot", "4,096 tok", "8,192 tok"),
    ImportRow(
        "slots", "Parallel slots", "4", "2", is_derived=True, mark="Follows from llama.cpp's rules"
    ),
    ImportRow("draft_model_path", "Draft model", "none", "/d.gguf", is_ticked=False, mark="File"),
    ImportRow("flash_attn", "Flash attention", "auto", "auto", is_changed=False),
)
COMMAND = ImportCommand(
    title="coder · llama-server",
    engine="llama-server",
    summary="llama-server: 4 settings, 3 of which differ from what is set now.",
    rows=ROWS,
    model=ImportModel("/models/a.gguf", "Not opened.", can_confirm=True),
    problems=(
        ImportProblem("error", "-c wants a number."),
        ImportProblem("warning", "It listens on every address."),
        ImportProblem("note", "-fa has a value today."),
    ),
    healed=(("--draft-max 8", "--spec-draft-n-max 8"), ("--log-new", "")),
    kept="--fancy two",
    others=(("host", "0.0.0.0"),),
    notes=("A note.",),
)
SHEET = ImportSheet((COMMAND,))


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ImportView:
    made = ImportView()
    made.resize(1100, 720)
    shown(made)
    return made


def show(view: ImportView, sheet: ImportSheet = SHEET, text: str = "llama-server") -> None:
    view.set_text(text)
    view.show_sheet(sheet, {})


def used(view: ImportView, qtbot: QtBot, *, loads: bool = False) -> list[object]:
    with qtbot.waitSignal(view.use_requested) as asked:
        view.use(loads=loads)
    return list(asked.args or [])


# --- The text ------------------------------------------------------------------------------------


def test_that_an_empty_dialog_says_what_can_be_pasted_and_has_an_example(
    view: ImportView, qtbot: QtBot
) -> None:
    assert not view.is_understood()
    assert "Paste a command" in view.start.words()
    assert not view.use_button.isEnabled()
    with qtbot.waitSignal(view.text_settled) as settled:
        QTest.mouseClick(view.start.example_button, Qt.MouseButton.LeftButton)
    assert settled.args == [EXAMPLE]


def test_that_a_text_is_read_once_its_writer_pauses(view: ImportView, qtbot: QtBot) -> None:
    told: list[str] = []
    view.text_settled.connect(told.append)
    QTest.keyClicks(view.editor, "llama")
    assert told == []
    qtbot.waitUntil(lambda: told == ["llama"], timeout=5000)


def test_that_an_emptied_text_shows_the_beginning_again(view: ImportView) -> None:
    show(view)
    assert view.is_understood()
    view.clear_button.click()
    assert not view.is_understood()
    assert not view.use_button.isEnabled()
    assert QApplication.focusWidget() is view.editor


def test_that_a_megabyte_is_held_and_shown_in_part_without_a_pause(view: ImportView) -> None:
    for text in (
        "x" * (MOST_CHARACTERS - 1),
        "llama-server -c 1\n" * 50_000,
        "模" * 900_000,
        " \u202ea" * 300_000,
    ):
        begin_s = time.perf_counter()
        view.set_text(text)
        QApplication.processEvents()
        assert time.perf_counter() - begin_s < 0.5
        assert view.text() == text
        assert view.editor.isReadOnly()
        assert len(view.editor.toPlainText()) <= MOST_EDITED + 2
        assert "only the beginning is shown" in view.noted()
        assert RLO not in view.editor.toPlainText()
    view.clear_button.click()
    assert not view.editor.isReadOnly()
    QTest.keyClicks(view.editor, "llama")
    assert view.text() == "llama"


def test_that_more_than_a_megabyte_is_refused_in_a_sentence(view: ImportView) -> None:
    view.set_text("llama-server")
    view.editor.put("x" * (MOST_CHARACTERS + 1))
    assert view.text() == "llama-server"
    assert "is no command" in view.noted()


def test_that_a_long_paste_goes_where_the_cursor_is(view: ImportView) -> None:
    view.set_text("head 🎛 tail")
    cursor = view.editor.textCursor()
    cursor.setPosition(len("head "))
    cursor.setPosition(len("head ") + 2, cursor.MoveMode.KeepAnchor)  # two units of UTF-16
    view.editor.setTextCursor(cursor)
    data = QMimeData()
    data.setText("y" * (MOST_EDITED + 1))
    view.editor.insertFromMimeData(data)
    assert view.text() == f"head {'y' * (MOST_EDITED + 1)} tail"


def test_that_signs_that_turn_or_hide_a_text_are_written_out(view: ImportView) -> None:
    view.set_text(f"llama-server -m {RLO}fugg.a \x1b[31m-c 8\x07")
    assert view.text() == "llama-server -m ‹RLO›fugg.a -c 8"
    assert "another order" in view.noted()
    assert "1 control character" in view.noted()


def test_that_files_are_told_and_not_read(view: ImportView, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/some/run.sh")])
    assert view.editor.canInsertFromMimeData(data)
    with qtbot.waitSignal(view.files_dropped) as pasted:
        view.editor.insertFromMimeData(data)
    assert pasted.args == [["/some/run.sh"]]
    assert view.text() == ""


# --- What it says --------------------------------------------------------------------------------


def test_that_a_sheet_shows_all_there_is(view: ImportView) -> None:
    show(view)
    assert view.meaning.summary() == COMMAND.summary
    assert view.meaning.table.texts()[0] == ("Context per slot", "4,096 tok", "8,192 tok", "")
    assert view.meaning.table.texts()[3][3] == "As it is"
    said = view.meaning.findings.words()
    for words in (
        "-c wants a number.", "every address", "-fa has a value", "--draft-max 8 → --spec-draft",
        "--log-new → nothing", "--fancy two", "host: 0.0.0.0", "A note.",
    ):  # fmt: skip
        assert words in said
    assert "/models/a.gguf" in view.meaning.model.words()
    assert not view.meaning.commands.isVisible()


def test_that_a_warning_stands_above_the_settings(view: ImportView) -> None:
    show(view)
    assert view.meaning.warning() == ""
    warned = ImportCommand("x", "llama.cpp", "S.", ROWS, warning="The key is not taken over.")
    show(view, ImportSheet((warned,)))
    assert view.meaning.warning() == "The key is not taken over."


def test_that_a_flag_is_shown_as_it_is_written(view: ImportView) -> None:
    others = (("--host", "0.0.0.0"), ("port", "80"))
    show(view, ImportSheet((ImportCommand("x", "llama.cpp", others=others),)))
    assert view.meaning.findings.words() == "--host 0.0.0.0\nport: 80"


def test_that_what_leaves_and_what_is_not_taken_over_stand_apart(view: ImportView) -> None:
    others = (("--host", "0.0.0.0"), ("system prompt", "You are a pirate."), ("--jinja", ""))
    show(view, ImportSheet((ImportCommand("x", "llama.cpp", others=others),)))
    read = _labels(view)
    flags = read.index("Flags without a setting")  # its lines, then what is said of them
    assert read[flags + 1] == "--host 0.0.0.0\n--jinja"
    assert "Other flags leave in the command line" in read[flags + 2]
    others_at = read.index("Read, and not taken over")
    assert read[others_at + 1] == "system prompt: You are a pirate."
    assert "leave in no command line" in read[others_at + 2]
    show(view, ImportSheet((ImportCommand("x", "Ollama", others=others[1:2]),)), "other")
    read = _labels(view)
    assert "Read, and not taken over" in read
    assert "Flags without a setting" not in read


def _labels(view: ImportView) -> list[str]:
    found = view.meaning.findings.findChildren(QLabel)
    return [label.text() for label in found if label.isVisible()]


def test_that_sections_without_anything_to_say_are_hidden(view: ImportView) -> None:
    show(view)
    show(view, ImportSheet((ImportCommand("x", "llama-server", "Nothing."),)), "other")
    assert view.meaning.findings.words() == ""
    assert not view.meaning.table.isVisible()
    assert not view.meaning.asks.isVisible()


def test_that_a_text_without_a_command_says_so(view: ImportView) -> None:
    show(view, ImportSheet())
    assert "No command was found" in view.start.words()
    show(view, ImportSheet(sentence="This is a picture."), "other")
    assert "This is a picture." in view.start.words()
    view.show_failure("This text could not be read", "A mistake.")
    assert "A mistake." in view.start.words()


def test_that_markup_is_shown_as_it_is(view: ImportView) -> None:
    show(view, ImportSheet((ImportCommand("<b>x</b>", "e", "<i>s</i>", notes=("<u>n</u>",)),)))
    assert view.meaning.summary() == "<i>s</i>"
    for label in (view.meaning.findings, view.meaning):
        for each in label.findChildren(QPushButton):
            assert "<u>" not in each.text()
    assert "<u>n</u>" in view.meaning.findings.words()


def test_that_one_of_several_commands_is_chosen_by_keys(view: ImportView, qtbot: QtBot) -> None:
    second = ImportCommand("drafts · Ollama", "Ollama", "Ollama: 1 setting.", ROWS[:1])
    show(view, ImportSheet((COMMAND, second)))
    commands = view.meaning.commands
    assert commands.isVisible()
    commands.setFocus()
    QTest.keyClick(commands, Qt.Key.Key_Down)
    assert view.meaning.summary() == "Ollama: 1 setting."
    # Read anew, as with every key pressed: the same one stays in front.
    view.show_sheet(ImportSheet((COMMAND, second)), {})
    assert view.meaning.summary() == "Ollama: 1 setting."
    assert used(view, qtbot) == [ImportChoice(1, frozenset({"ctx_per_slot_tok"})), False]


# --- What is taken -------------------------------------------------------------------------------


def test_that_ticked_settings_are_handed_out(view: ImportView, qtbot: QtBot) -> None:
    show(view)
    keys = frozenset({"ctx_per_slot_tok", "slots"})
    assert used(view, qtbot) == [ImportChoice(0, keys), False]


def test_that_the_space_bar_leaves_a_setting_out_and_it_stays_out(
    view: ImportView, qtbot: QtBot
) -> None:
    show(view)
    table = view.meaning.table
    table.setFocus()
    table.setCurrentIndex(table.model().index(1, 3))
    QTest.keyClick(table, Qt.Key.Key_Space)
    view.show_sheet(SHEET, {})
    assert table.currentIndex().row() == 1
    assert used(view, qtbot) == [ImportChoice(0, frozenset({"ctx_per_slot_tok"})), False]
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert "draft_model_path" in table.ticks()
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_Space)  # nothing to leave out of what stays as it is
    assert "flash_attn" not in table.ticks()


def test_that_a_box_is_pressed_by_the_mouse(view: ImportView) -> None:
    show(view)
    table = view.meaning.table
    box = table.visualRect(table.model().index(0, 0))
    QTest.mouseClick(
        table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(box.left() + 10, box.center().y())
    )
    assert "ctx_per_slot_tok" not in table.ticks()


def test_that_all_or_none_are_ticked(view: ImportView) -> None:
    show(view)
    view.meaning.none_button.click()
    assert view.meaning.chosen() == frozenset()
    assert not view.use_button.isEnabled()
    assert "Nothing is ticked" in view.use_button.toolTip()
    view.meaning.all_button.click()
    assert view.meaning.chosen() == {"ctx_per_slot_tok", "slots", "draft_model_path"}


def test_that_another_text_forgets_what_was_unticked(view: ImportView) -> None:
    show(view)
    view.meaning.none_button.click()
    view.clear_button.click()
    show(view)
    assert view.meaning.chosen() == {"ctx_per_slot_tok", "slots"}


def test_that_the_model_is_loaded_only_once_a_person_resolved_it(
    view: ImportView, qtbot: QtBot
) -> None:
    show(view)
    assert not view.load_button.isEnabled()
    assert "Choose the file" in view.load_button.toolTip()
    with qtbot.waitSignal(view.model_confirmed) as confirmed:
        view.meaning.model.confirm_button.click()
    assert confirmed.args == [0]
    resolved = ImportModel("/models/a.gguf", "Opened when you load it.", path="/models/a.gguf")
    show(view, ImportSheet((ImportCommand("x", "llama-server", "S.", ROWS, model=resolved),)))
    assert not view.meaning.model.confirm_button.isVisible()
    assert used(view, qtbot, loads=True)[1] is True


def test_that_a_model_that_runs_needs_no_load(view: ImportView) -> None:
    running = ImportModel("/models/a.gguf", "It is loaded.", is_running=True)
    show(view, ImportSheet((ImportCommand("x", "llama-server", "S.", ROWS, model=running),)))
    assert not view.load_button.isVisible()
    assert not view.meaning.model.choose_button.isVisible()


def test_that_a_text_changed_meanwhile_is_read_before_it_is_used(
    view: ImportView, qtbot: QtBot
) -> None:
    show(view)
    QTest.keyClicks(view.editor, " -c 9")
    with (
        qtbot.assertNotEmitted(view.use_requested),
        qtbot.waitSignal(view.text_settled),
    ):
        QTest.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert "changed since" in view.words()
    view.show_sheet(SHEET, {})
    with qtbot.waitSignal(view.use_requested):
        QTest.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def test_that_an_open_value_is_said_and_its_field_keeps_the_cursor(
    view: ImportView, qtbot: QtBot
) -> None:
    ask = ImportAsk("slots", "Parallel slots", "a whole number from 1 to 256")
    asking = ImportSheet((ImportCommand("x", "llama-server", "S.", ROWS[:1], (ask,)),))
    show(view, asking)
    field = view.meaning.asks.field("slots")
    assert field.placeholderText() == ask.takes
    field.setFocus()
    with qtbot.waitSignal(view.said) as said:
        QTest.keyClicks(field, "m")
    assert said.args == [0, "slots", "m"]
    wrong = ImportAsk("slots", "Parallel slots", ask.takes, "'m' is not a whole number.")
    faulty = ImportSheet((ImportCommand("x", "llama-server", "S.", ROWS[:1], (wrong,)),))
    view.show_sheet(faulty, {(0, "slots"): "m"})
    assert view.meaning.asks.field("slots") is field
    assert QApplication.focusWidget() is field
    assert field.accessibleDescription() == wrong.fault


def test_that_return_in_a_field_presses_no_button(view: ImportView, qtbot: QtBot) -> None:
    ask = ImportAsk("slots", "Parallel slots", "a whole number")
    show(view, ImportSheet((ImportCommand("x", "llama-server", "S.", ROWS, (ask,)),)))
    with (
        qtbot.assertNotEmitted(view.use_requested),
        qtbot.assertNotEmitted(view.file_requested),
    ):
        QTest.keyClick(view.meaning.asks.field("slots"), Qt.Key.Key_Return)
    assert view.isVisible()


# --- Keys and looks ------------------------------------------------------------------------------


def test_that_everything_is_reached_by_tab_and_has_a_name(view: ImportView) -> None:
    second = ImportCommand("drafts", "Ollama", "S.", ROWS[:1])
    show(view, ImportSheet((COMMAND, second)))
    view.editor.setFocus()
    seen: list[QWidget] = []
    for _ in range(30):
        QTest.keyClick(QApplication.focusWidget() or view, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused in seen:
            break
        seen.append(focused)
    for widget in (
        view.open_button, view.clear_button, view.meaning.commands, view.meaning.table,
        view.meaning.model.choose_button, view.meaning.model.confirm_button, view.fill_button,
        view.close_button, view.use_button,
    ):  # fmt: skip
        assert widget in seen, widget
    for each in seen:
        assert each.accessibleName() or getattr(each, "text", str)()


def test_that_resetting_the_others_is_a_box_that_waits_for_a_command(view: ImportView) -> None:
    assert isinstance(view.fill_button, QCheckBox)
    assert not view.fill_button.isEnabled()
    show(view, SHEET)
    assert view.fill_button.isEnabled()
    assert not view.fill_button.isChecked()


def test_that_escape_closes(view: ImportView) -> None:
    show(view)
    QTest.keyClick(view.editor, Qt.Key.Key_Escape)
    assert not view.isVisible()


@pytest.mark.parametrize("width", [560, 900, 1440])
def test_that_nothing_is_cut_off_at_the_side(view: ImportView, width: int) -> None:
    long = ImportCommand(
        "t", "llama-server", "S " * 80, ROWS,
        model=ImportModel("/a" * 140, "About " * 30, can_confirm=True),
        problems=(ImportProblem("error", "x" * 280),), kept="--y" * 90, notes=("n " * 200,),
    )  # fmt: skip
    view.resize(width, 700)
    show(view, ImportSheet((long,)))
    QApplication.processEvents()
    page = view.meaning.widget()
    assert page is not None
    assert page.width() <= view.meaning.viewport().width()
    assert view.width() <= max(width, view.minimumWidth())
    table = view.meaning.table
    columns = sum(table.columnWidth(column) for column in range(4))
    assert columns <= table.viewport().width() + 1


def test_that_a_sheet_is_shown_without_holding_up_the_window(view: ImportView) -> None:
    rows = tuple(ImportRow(f"key{number}", f"Setting {number}", "1", "2") for number in range(100))
    problems = tuple(ImportProblem("warning", f"Sentence {n}." * 5) for n in range(40))
    many = ImportSheet((ImportCommand("t", "e", "S.", rows, problems=problems),))
    show(view, many)
    QApplication.processEvents()
    took_s = []
    for _ in range(5):
        begin_s = time.perf_counter()
        view.show_sheet(many, {})
        took_s.append(time.perf_counter() - begin_s)
    assert min(took_s) < 0.01


# --- Files dropped on a window -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "is_taken"), [("/a/compose.yaml", True), ("/a/Modelfile", True), ("/a/x.gguf", False)]
)
def test_that_a_window_takes_files_of_commands_alone(
    shown: Callable[[QWidget], None], path: str, is_taken: bool
) -> None:
    window = QWidget()
    drops = DroppedPath(window, command_file)
    told: list[str] = []
    drops.dropped.connect(told.append)
    shown(window)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path)])
    around = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton)
    enter = QDragEnterEvent(QPoint(5, 5), *around, Qt.KeyboardModifier.NoModifier)
    enter.ignore()
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted() is is_taken
    drop = QDropEvent(QPointF(5, 5), *around, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, drop)
    assert told == ([path] if is_taken else [])
