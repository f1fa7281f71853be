"""The command line: all of it readable, copied as it is, for the engine chosen."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QPalette, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from resources.tokens import DARK
from tests.widgets.finding import child
from widgets.command_bar import DEFAULT_TARGETS, CommandBar
from widgets.command_notes import first_sentence
from widgets.command_view import CommandView
from widgets.export_sheet import ExportTarget

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
SHORT = "llama serve -m tiny.gguf"
PATH = "/data/two  spaces and a very-long-name/" + "x" * 150 + ".gguf"
LONG = shlex.join(
    ["llama", "serve", "-m", PATH, "-c", "131072", "-np", "4", "--no-kv-unified", "-fit", "off",
     "-fa", "on", "-ctk", "q8_0", "-ctv", "q8_0", "--spec-type", "ngram-simple", "-ngl", "all"]
)  # fmt: skip


@pytest.fixture
def bar(shown: Callable[[QWidget], None]) -> CommandBar:
    made = CommandBar()
    made.set_palette(DARK)
    made.resize(1000, made.sizeHint().height())
    shown(made)
    return made


def view(bar: CommandBar) -> CommandView:
    return child(bar, CommandView)


def copy_button(bar: CommandBar) -> QPushButton:
    buttons = bar.findChildren(QPushButton)
    return next(button for button in buttons if button.text() in ("Copy", "Copied"))


def note(bar: CommandBar) -> QLabel:
    return child(bar, QLabel)


def test_that_the_copy_is_the_command_to_the_letter(bar: CommandBar, qtbot: QtBot) -> None:
    bar.set_export(LONG, (), {})
    with qtbot.waitSignal(bar.copy_requested) as copied:
        QTest.mouseClick(copy_button(bar), LEFT)
    assert copied.args == [LONG]
    assert QGuiApplication.clipboard().text() == LONG
    assert bar.text() == LONG


def test_that_the_copy_is_confirmed_in_place(bar: CommandBar, qtbot: QtBot) -> None:
    bar.set_export(SHORT, (), {})
    QApplication.processEvents()
    before = copy_button(bar).geometry()
    bar.copy()
    QApplication.processEvents()
    assert copy_button(bar).text() == "Copied"
    assert copy_button(bar).geometry() == before
    qtbot.waitUntil(lambda: copy_button(bar).text() == "Copy", timeout=4000)


def test_that_there_is_nothing_to_copy_without_a_command(bar: CommandBar, qtbot: QtBot) -> None:
    assert not copy_button(bar).isEnabled()
    with qtbot.assertNotEmitted(bar.copy_requested):
        bar.copy()
    assert "once a model is chosen" in view(bar).placeholderText()


def test_that_choosing_an_engine_is_told(bar: CommandBar, qtbot: QtBot) -> None:
    engines = child(bar, QComboBox)
    assert [engines.itemText(i) for i in range(engines.count())] == ["llama serve", "llama-server"]
    with qtbot.waitSignal(bar.target_changed) as changed:
        engines.setCurrentText("llama-server")
    assert changed.args == ["llama-server"]
    with qtbot.assertNotEmitted(bar.target_changed):
        bar.set_targets([ExportTarget("vllm", "vLLM"), ExportTarget("ollama", "Ollama")])
    assert engines.currentText() == "vLLM"


def test_that_the_view_of_all_engines_is_one_click_away(bar: CommandBar, qtbot: QtBot) -> None:
    assert bar.export_button.isEnabled(), "also before there is a command"
    with qtbot.waitSignal(bar.export_requested):
        QTest.mouseClick(bar.export_button, LEFT)


def test_that_a_long_command_can_be_unfolded_to_show_all_of_it(bar: CommandBar) -> None:
    unfold = child(bar, QToolButton)
    bar.set_export(SHORT, (), {})
    assert not unfold.isVisible()
    folded = view(bar).height()
    bar.set_export(LONG, (), {})
    assert unfold.isVisible()
    QTest.mouseClick(unfold, LEFT)
    QApplication.processEvents()
    assert view(bar).height() > folded
    lines = view(bar).toPlainText().split("\n")
    assert "".join(lines) == LONG
    metrics = view(bar).fontMetrics()
    assert all(metrics.horizontalAdvance(line) <= view(bar).width() for line in lines)
    assert not view(bar).verticalScrollBar().maximum()
    QTest.mouseClick(unfold, LEFT)
    QApplication.processEvents()
    assert view(bar).height() == folded


def test_that_flags_are_never_broken_in_two(bar: CommandBar) -> None:
    bar.set_export(LONG, (), {})
    view(bar).set_wrapped(True)
    for line in view(bar).toPlainText().split("\n"):
        assert not line.rstrip().endswith("-")


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_that_a_selection_is_copied_as_it_stands_in_the_command(
    bar: CommandBar, is_wrapped: bool
) -> None:
    bar.set_export(LONG, (), {})
    view(bar).set_wrapped(is_wrapped)
    cursor = view(bar).textCursor()
    cursor.select(QTextCursor.SelectionType.Document)
    view(bar).setTextCursor(cursor)
    assert view(bar).createMimeDataFromSelection().text() == LONG


def test_that_the_folded_line_scrolls_sideways(bar: CommandBar) -> None:
    bar.set_export(LONG, (), {})
    QApplication.processEvents()
    at = view(bar).mapTo(bar, view(bar).rect().center())
    QTest.wheelEvent(bar.windowHandle(), QPointF(at), QPoint(0, -120))
    assert view(bar).horizontalScrollBar().value() > 0


def test_that_a_selection_outlives_an_unchanged_command(bar: CommandBar) -> None:
    bar.set_export(LONG, (), {})
    cursor = view(bar).textCursor()
    cursor.setPosition(6, QTextCursor.MoveMode.KeepAnchor)
    view(bar).setTextCursor(cursor)
    bar.set_export(LONG, (), {})
    assert view(bar).textCursor().selectedText() == "llama "


def test_that_what_is_not_carried_over_is_said_with_its_reason(bar: CommandBar) -> None:
    bar.set_export(LONG, ("Threads as measured here.",), {"prefill_chunk_tok": "no such flag"})
    assert "prefill_chunk_tok" in note(bar).text()
    assert "no such flag" in note(bar).text()
    assert "Threads as measured here." in note(bar).toolTip()
    bar.set_export(LONG, (), {})
    assert note(bar).text() == "Every setting is carried over."


def test_that_nothing_moves_when_the_command_changes(bar: CommandBar) -> None:
    def places() -> list[object]:
        QApplication.processEvents()
        return [bar.sizeHint(), view(bar).geometry(), copy_button(bar).geometry()]

    before = places()
    bar.set_export(SHORT, (), {})
    assert places() == before
    bar.set_export(LONG, ("a note",), {"prefill_chunk_tok": "no such flag"})
    assert places() == before


def test_that_a_folded_line_shows_where_it_goes_on(bar: CommandBar) -> None:
    bar.set_export(SHORT, (), {})
    QApplication.processEvents()
    assert view(bar).more_at() == (False, False)
    bar.set_export(LONG, (), {})
    QApplication.processEvents()
    assert view(bar).more_at() == (False, True)
    scroll = view(bar).horizontalScrollBar()
    cut = view(bar).grab().toImage()
    scroll.setValue(scroll.maximum())
    assert view(bar).more_at() == (True, False)
    assert view(bar).grab().toImage() != cut
    view(bar).set_wrapped(True)
    assert view(bar).more_at() == (False, False)


def test_that_no_sliver_of_a_letter_stands_behind_the_ellipsis(bar: CommandBar) -> None:
    bar.set_export("x" + "█" * 600, (), {})
    QApplication.processEvents()
    shown = view(bar)
    rows = range(shown.viewport().height() // 3, 2 * shown.viewport().height() // 3)
    base = QGuiApplication.palette().color(QPalette.ColorRole.Base)
    for scrolled in range(12):
        shown.horizontalScrollBar().setValue(scrolled)
        image = shown.viewport().grab().toImage()
        edge = image.width() - 1
        assert {image.pixelColor(edge, y).name() for y in rows} == {base.name()}, scrolled


def test_that_an_unfolded_line_begins_with_a_word(bar: CommandBar) -> None:
    bar.set_export(LONG, (), {})
    view(bar).set_wrapped(True)
    lines = view(bar).toPlainText().split("\n")
    assert len(lines) > 1
    assert not any(line.startswith(" ") for line in lines)
    assert "".join(lines) == LONG


@pytest.mark.parametrize("width", [1424, 1008, 880])
def test_that_the_first_sentence_stands_whole_and_the_rest_is_one_click_away(
    bar: CommandBar, width: int
) -> None:
    first = (
        "Automatic threads are left to llama serve, which takes the physical cores: no engine "
        "has said yet what it takes here."
    )
    bar.resize(width, bar.height())
    bar.set_export(LONG, (f"{first} What follows is long. " + "It goes on. " * 30, "Another."), {})
    QApplication.processEvents()
    assert note(bar).text() == first
    assert note(bar).height() >= note(bar).heightForWidth(note(bar).width())
    assert bar.notes.more_button.text() == "All notes"
    QTest.mouseClick(bar.notes.more_button, LEFT)
    QApplication.processEvents()
    assert note(bar).text().endswith("\nAnother.")
    assert note(bar).height() >= note(bar).heightForWidth(note(bar).width())
    assert view(bar).is_wrapped()
    QTest.mouseClick(bar.notes.more_button, LEFT)
    assert note(bar).text() == first


def test_that_one_short_note_has_no_button(bar: CommandBar) -> None:
    bar.set_export(SHORT, ("A note.",), {})
    assert not bar.notes.more_button.isVisible()


def test_that_settings_left_out_are_named_not_only_counted(bar: CommandBar) -> None:
    missing = {f"Setting {number}": "no such flag" for number in range(6)}
    bar.set_export(SHORT, (), missing)
    assert note(bar).text() == (
        "Settings that this line leaves out: Setting 0, Setting 1, Setting 2 and 3 more."
    )
    bar.set_export(SHORT, (), dict(list(missing.items())[:4]))
    assert note(bar).text().endswith("Setting 0, Setting 1, Setting 2 and Setting 3.")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("-fit off keeps it. Beside that it keeps more.", "-fit off keeps it."),
        ("It needs 0.5 GiB, e.g. for a cache. Then more.", "It needs 0.5 GiB, e.g. for a cache."),
        ("One only", "One only"),
    ],
)
def test_that_a_sentence_ends_where_it_ends(text: str, first: str) -> None:
    assert first_sentence(text) == first


def test_that_every_word_of_the_notes_can_be_read(bar: CommandBar) -> None:
    bar.resize(500, bar.height())
    missing = {f"setting_number_{number}": "no such flag" for number in range(9)}
    bar.set_export(SHORT, ("A note that is not short.",), missing)
    QApplication.processEvents()
    unfold = child(bar, QToolButton)
    assert unfold.isVisible()
    assert all(key in note(bar).toolTip() for key in missing)
    QTest.mouseClick(unfold, LEFT)
    QApplication.processEvents()
    shown = [label for label in bar.findChildren(QLabel) if label.isVisible()]
    assert len(shown) == 1
    assert all(key in shown[0].text() for key in missing)
    assert shown[0].height() >= shown[0].heightForWidth(shown[0].width())


SHELLS = (("posix", "POSIX sh"), ("cmd", "cmd.exe"), ("powershell", "PowerShell"))


def shells(bar: CommandBar) -> QComboBox:
    return bar.findChildren(QComboBox)[1]


def test_that_choosing_a_shell_is_told_by_its_id(bar: CommandBar, qtbot: QtBot) -> None:
    assert not shells(bar).isVisible()
    with qtbot.assertNotEmitted(bar.shell_changed):
        bar.set_shells(SHELLS, "cmd")
    assert shells(bar).isVisible()
    assert shells(bar).currentText() == "cmd.exe"
    assert shells(bar).accessibleName()
    with qtbot.waitSignal(bar.shell_changed) as changed:
        shells(bar).setCurrentText("PowerShell")
    assert changed.args == ["powershell"]


def test_that_the_engine_of_the_last_time_is_chosen(bar: CommandBar, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(bar.target_changed):
        bar.set_targets(DEFAULT_TARGETS, "llama-server")
    assert child(bar, QComboBox).currentText() == "llama-server"
    bar.set_targets(DEFAULT_TARGETS[:1], "gone")
    assert child(bar, QComboBox).currentText() == "llama serve"


def test_that_a_line_that_a_shell_cannot_be_given_is_told_with_its_reason(bar: CommandBar) -> None:
    bar.set_export("", ("cmd.exe cannot be given that name.",), {"Seed": "no such flag"})
    assert "the reason stands below" in view(bar).placeholderText()
    assert note(bar).text() == "cmd.exe cannot be given that name."
    assert not copy_button(bar).isEnabled()
    bar.set_export("", (), {})
    assert "once a model is chosen" in view(bar).placeholderText()
    assert note(bar).text() == ""


def test_that_another_shell_does_not_move_the_rest(bar: CommandBar) -> None:
    bar.set_shells(SHELLS, "posix")
    bar.set_export(LONG, (), {})
    QApplication.processEvents()
    before = [view(bar).geometry(), copy_button(bar).geometry(), bar.sizeHint()]
    shells(bar).setCurrentText("cmd.exe")
    QApplication.processEvents()
    assert [view(bar).geometry(), copy_button(bar).geometry(), bar.sizeHint()] == before


def test_that_what_is_left_out_is_said_before_the_notes_and_after_a_refusal(
    bar: CommandBar,
) -> None:
    bar.resize(3000, bar.height())
    QApplication.processEvents()
    bar.set_export(
        LONG, ("A note.",), {"Prefill chunk": "no such flag."}, refusals=("It is refused.",)
    )
    assert note(bar).text() == "It is refused."
    bar.notes.more_button.click()
    assert note(bar).text().split("\n") == [
        "It is refused.",
        "The setting “Prefill chunk” is left out of this line: no such flag.",
        "A note.",
    ]


def test_that_each_option_can_have_a_line_of_its_own_and_is_copied_so(bar: CommandBar) -> None:
    listed = "llama serve \\\n  -m tiny.gguf \\\n  -c 4096"
    bar.set_export(LONG, (), {}, listed=listed)
    (one_a_line,) = [b for b in bar.findChildren(QPushButton) if b.text() == "One option a line"]
    assert not one_a_line.isVisible()
    child(bar, QToolButton).click()
    assert one_a_line.isVisible()
    one_a_line.click()
    assert view(bar).toPlainText() == listed
    view(bar).selectAll()
    assert view(bar).createMimeDataFromSelection().text() == listed
    bar.copy()
    assert QGuiApplication.clipboard().text() == listed
    child(bar, QToolButton).click()
    bar.copy()
    assert QGuiApplication.clipboard().text() == LONG


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_that_lines_of_a_grammar_stay_in_the_one_line_and_are_copied_as_lines(
    bar: CommandBar, is_wrapped: bool
) -> None:
    bar.set_export(SHORT, (), {})
    QApplication.processEvents()
    height = view(bar).height()
    command = f"{LONG} --grammar 'root ::= a\na ::= \"↵\"\n'"
    bar.set_export(command, (), {})
    view(bar).set_wrapped(is_wrapped)
    QApplication.processEvents()
    assert is_wrapped or (view(bar).blockCount(), view(bar).height()) == (1, height)
    view(bar).selectAll()
    assert view(bar).createMimeDataFromSelection().text() == command
