"""Settings that are written: a list in its field, a text in its dialog."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from engine_bridge.settings.table import BY_KEY
from engine_bridge.settings.text_domain import TextDomain
from resources.theme import mixed
from resources.tokens import DARK, LIGHT
from widgets.items_control import ItemsControl
from widgets.setting_row import SettingRow
from widgets.text_control import TextControl, WordsControl
from widgets.text_dialog import TextDialog

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
GRAMMAR = 'root ::= answer\nanswer ::= "yes" | "no"\n'
Make = Callable[[str], SettingRow]


@pytest.fixture
def make(themed: QApplication) -> Iterator[Make]:
    rows: list[SettingRow] = []

    def build(key: str) -> SettingRow:
        row = SettingRow(BY_KEY[key])
        rows.append(row)
        row.resize(320, 60)
        row.show()
        QApplication.processEvents()
        return row

    yield build
    for row in rows:
        row.close()
        row.deleteLater()


def _changes(row: SettingRow) -> list[object]:
    seen: list[object] = []
    row.changed.connect(lambda _, value: seen.append(value))
    return seen


def _checked(dialog: TextDialog) -> None:
    """Wait until what stands in the dialog is checked, which goes on beside the GUI thread."""
    while dialog.checker.is_busy:
        for thread in threading.enumerate():
            if thread.name == "text check":
                thread.join(60.0)
                assert not thread.is_alive()
        QApplication.processEvents()


def _opened(row: SettingRow) -> TextDialog:
    control = row.control
    assert isinstance(control, TextControl)
    QTest.mouseClick(control.button, LEFT)
    assert control.dialog is not None
    return control.dialog


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("logit_bias", "15043+1, 2-inf", ("15043+1", "2-inf")),
        ("dry_sequence_breakers", r"\n \s ab\, \\", ("\n", " ", "ab,", "\\")),
        ("dry_sequence_breakers", "none", ()),
    ],
)
def test_that_a_list_is_typed_and_stays_as_it_is_read(
    make: Make, key: str, typed: str, value: tuple[str, ...]
) -> None:
    row = make(key)
    seen = _changes(row)
    assert isinstance(row.control, WordsControl | ItemsControl)
    field = row.control.field
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, typed)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert seen == [value]
    assert BY_KEY[key].domain.parse(field.text()) == value


def test_that_a_word_that_is_none_of_the_list_s_is_refused_in_a_sentence(make: Make) -> None:
    row = make("logit_bias")
    seen = _changes(row)
    assert isinstance(row.control, ItemsControl)
    QTest.keyClicks(row.control.field, "hello")
    QTest.keyClick(row.control.field, Qt.Key.Key_Return)
    assert seen == []
    assert row.is_refused()
    assert "15043+1" in row.hint()


def test_that_a_text_is_written_in_a_dialog_and_its_first_line_shown(make: Make) -> None:
    row = make("grammar")
    seen = _changes(row)
    dialog = _opened(row)
    dialog.editor.setPlainText(GRAMMAR)
    QTest.mouseClick(dialog.ok_button, LEFT)
    _checked(dialog)
    assert seen == [GRAMMAR]
    assert row.value() == GRAMMAR
    assert isinstance(row.control, TextControl)
    assert row.control.button.text().startswith("root ::=")
    assert "answer ::=" in row.control.button.toolTip()


def test_that_a_faulty_text_names_its_place_and_cannot_be_accepted(make: Make) -> None:
    row = make("grammar")
    seen = _changes(row)
    dialog = _opened(row)
    dialog.editor.setPlainText('root ::= answer\nanswer ::= "yes | "no"')
    dialog.accept()
    _checked(dialog)
    assert seen == []
    assert dialog.isVisible()
    assert not dialog.ok_button.isEnabled()
    assert "Line 2" in dialog.fault_label.text()
    assert dialog.editor.marked_line() == 2
    dialog.reject()
    assert row.value() == ""


def test_that_the_keyboard_opens_inserts_accepts_and_comes_back(make: Make, qtbot: QtBot) -> None:
    row = make("json_schema")
    seen = _changes(row)
    assert isinstance(row.control, TextControl)
    row.control.button.setFocus()
    QTest.keyClick(row.control.button, Qt.Key.Key_Space)
    dialog = row.control.dialog
    assert dialog is not None
    qtbot.waitUntil(dialog.isActiveWindow, timeout=60_000)
    QTest.keyClick(dialog.example_button, Qt.Key.Key_Space)
    assert dialog.text()
    QTest.keyClick(dialog.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    _checked(dialog)
    assert len(seen) == 1
    assert '"type": "object"' in str(seen[0])
    assert row.control.dialog is None


def test_that_spaces_alone_are_no_text(make: Make) -> None:
    row = make("grammar")
    row.set_value(GRAMMAR)
    seen = _changes(row)
    dialog = _opened(row)
    dialog.editor.setPlainText(" \n ")
    dialog.accept()
    assert seen == [""]


def test_that_both_say_their_names(make: Make) -> None:
    row = make("grammar")
    dialog = _opened(row)
    row.set_palette(LIGHT)
    assert dialog.editor.accessibleName() == "Grammar"
    assert row.control.main.accessibleName() == "Grammar"
    row.set_value(GRAMMAR)
    assert "root ::= answer, 2 lines" in row.control.main.accessibleDescription()
    dialog.reject()


def test_that_what_was_written_goes_only_when_asked_twice(make: Make) -> None:
    row = make("grammar")
    dialog = _opened(row)
    dialog.editor.setPlainText(GRAMMAR)
    QTest.keyClick(dialog.editor, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert "Not taken yet" in dialog.fault_label.text()
    assert dialog.cancel_button.text() == "Discard"
    QTest.keyClicks(dialog.editor, "# more")
    dialog.reject()
    assert dialog.isVisible()
    QTest.mouseClick(dialog.cancel_button, LEFT)
    assert isinstance(row.control, TextControl)
    assert row.control.dialog is None
    assert row.value() == ""


def test_that_an_unchanged_text_is_left_at_once(make: Make) -> None:
    row = make("grammar")
    row.set_value(GRAMMAR)
    dialog = _opened(row)
    QTest.keyClick(dialog.editor, Qt.Key.Key_Escape)
    assert isinstance(row.control, TextControl)
    assert row.control.dialog is None
    assert row.value() == GRAMMAR


def test_that_no_button_of_the_dialog_has_a_picture_of_the_system_s(make: Make) -> None:
    dialog = _opened(make("grammar"))
    assert all(button.icon().isNull() for button in dialog.findChildren(QAbstractButton))


def test_that_all_rows_of_a_wrapped_faulty_line_are_marked(make: Make) -> None:
    dialog = _opened(make("grammar"))
    dialog.set_text("root ::= " + '"yes" | ' * 60 + ")\n")
    _checked(dialog)
    QApplication.processEvents()
    editor = dialog.editor
    assert editor.marked_line() == 1
    rows = editor.document().firstBlock().layout().lineCount()
    assert rows > 1
    image = editor.viewport().grab().toImage()
    row_px = editor.fontMetrics().height()
    top_px = round(editor.document().documentMargin()) + row_px // 2
    right_px = image.width() - round(editor.document().documentMargin()) - 2
    scale = image.devicePixelRatio()
    seen = [
        image.pixelColor(round(right_px * scale), round((top_px + row * row_px) * scale)).name()
        for row in range(rows + 1)
    ]
    ground = mixed(DARK.raised, DARK.warning, 0.25).lower()
    assert seen[:rows] == [ground] * rows
    assert seen[rows] != ground


# --- Where a text is checked -----------------------------------------------------------------


class _SlowDomain(TextDomain):
    """Texts whose check ends when the test says so."""

    def check(self, value: object) -> str:
        """Note who asks, and wait."""
        asked.append((value, threading.current_thread() is threading.main_thread()))
        assert may_end.wait(60.0)
        return super().check(value)


asked: list[tuple[object, bool]] = []
may_end = threading.Event()


@pytest.fixture
def slow(themed: QApplication) -> Iterator[TextDialog]:
    asked.clear()
    may_end.clear()
    domain = BY_KEY["grammar"].domain
    assert isinstance(domain, TextDomain)
    like = {name: getattr(domain, name) for name in domain.__dataclass_fields__}
    dialog = TextDialog("Grammar", "about", _SlowDomain(**like))
    dialog.open()
    yield dialog
    may_end.set()
    _checked(dialog)
    dialog.close()
    dialog.deleteLater()


def test_that_the_window_goes_on_while_a_text_is_checked(slow: TextDialog) -> None:
    taken: list[str] = []
    slow.text_accepted.connect(taken.append)
    slow.editor.setPlainText(GRAMMAR)
    slow.accept()
    QApplication.processEvents()
    assert slow.isVisible()
    assert taken == []
    may_end.set()
    _checked(slow)
    assert taken == [GRAMMAR]
    assert not slow.isVisible()
    assert asked == [(GRAMMAR, False)]


def test_that_only_the_newest_of_several_texts_is_checked_and_none_taken_unasked(
    slow: TextDialog,
) -> None:
    taken: list[str] = []
    slow.text_accepted.connect(taken.append)
    for end in ("1", "2", "3"):
        slow.editor.setPlainText(f'root ::= "{end}')
        slow.accept()
    slow.editor.setPlainText(GRAMMAR)
    may_end.set()
    _checked(slow)
    slow.accept()
    _checked(slow)
    assert taken == [GRAMMAR]
    texts = [text for text, _ in asked]
    assert (texts[0], texts[-1]) == ('root ::= "1', GRAMMAR)
    assert 'root ::= "2' not in texts


def test_that_a_dialog_may_close_while_its_text_is_checked(slow: TextDialog) -> None:
    slow.editor.setPlainText(GRAMMAR)
    slow.accept()
    slow.reject()
    assert "Not taken yet" in slow.fault_label.text()
    slow.reject()
    assert not slow.isVisible()
