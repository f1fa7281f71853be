"""Writing a message: keys, huge pastes, control characters, one button."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from resources.chat_tokens import COMPOSER_MAX_LINES, SHELF_MAX_PX
from resources.tokens import DARK
from widgets.attached_text import Attached, message_text
from widgets.composer import Composer, Draft
from widgets.composer_chip import PasteChip
from widgets.composer_paste import FOLD_CHARS, cleaned, described

pytestmark = pytest.mark.gui
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def composer(shown: Callable[[QWidget], None]) -> Composer:
    composer = Composer(DARK)
    composer.resize(600, 200)
    shown(composer)
    composer.editor.setFocus()
    return composer


def sent_by(composer: Composer) -> list[str]:
    sent: list[str] = []
    composer.sent.connect(sent.append)
    return sent


def paste(composer: Composer, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    composer.editor.insertFromMimeData(data)


def chips_shown(composer: Composer, count: int) -> list[PasteChip]:
    QTest.qWait(1)
    found = composer.chips()
    assert len(found) == count
    assert all(chip.isVisible() for chip in found)
    return found


def test_that_enter_sends_and_shift_enter_breaks_the_line(composer: Composer) -> None:
    sent = sent_by(composer)
    QTest.keyClicks(composer.editor, "one")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return, SHIFT)
    QTest.keyClicks(composer.editor, "two")
    assert sent == []
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == ["one\ntwo"]
    assert composer.draft() == Draft()


def test_that_nothing_is_sent_without_words(composer: Composer) -> None:
    sent = sent_by(composer)
    QTest.keyClicks(composer.editor, "  ")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == []


def test_that_the_enter_of_an_input_method_does_not_send(composer: Composer) -> None:
    sent = sent_by(composer)
    composer.editor.insertPlainText("x")
    QApplication.sendEvent(composer.editor, QInputMethodEvent("にほ", []))
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == []
    done = QInputMethodEvent("", [])
    done.setCommitString("日本")
    QApplication.sendEvent(composer.editor, done)
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == ["x日本"]


def test_that_up_recalls_the_last_message_in_an_empty_field_only(composer: Composer) -> None:
    composer.set_draft(Draft("first"))
    composer.submit()
    QTest.keyClick(composer.editor, Qt.Key.Key_Up)
    assert composer.draft().typed == "first"
    composer.set_draft(Draft("other"))
    QTest.keyClick(composer.editor, Qt.Key.Key_Up)
    assert composer.draft().typed == "other"


def test_that_the_field_grows_with_the_text_up_to_a_limit(composer: Composer) -> None:
    line_px = composer.editor.fontMetrics().lineSpacing()
    one_px = composer.editor.height()
    composer.editor.setPlainText("a\nb\nc")
    assert composer.editor.height() == one_px + 2 * line_px
    composer.editor.setPlainText("\n" * 50)
    assert composer.editor.height() == one_px + (COMPOSER_MAX_LINES - 1) * line_px
    composer.editor.clear()
    assert composer.editor.height() == one_px
    assert composer.editor.verticalScrollBar().maximum() == 0


def test_that_the_button_keeps_its_size_and_place(composer: Composer, qtbot: QtBot) -> None:
    stops: list[bool] = []
    composer.stop_requested.connect(lambda: stops.append(True))
    QTest.keyClicks(composer.editor, "x")
    QTest.qWait(1)
    before = composer.button.geometry()
    assert before.height() == composer.editor.height()
    composer.set_busy(True)
    QTest.qWait(1)
    assert composer.button.text() == "Stop"
    assert composer.button.geometry() == before
    composer.button.click()
    assert stops == [True]
    composer.set_busy(False)
    QTest.qWait(1)
    assert composer.button.text() == "Send"
    assert composer.button.geometry() == before


def test_that_nothing_is_sent_while_an_answer_is_under_way(composer: Composer) -> None:
    sent = sent_by(composer)
    composer.set_busy(True)
    QTest.keyClicks(composer.editor, "later")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == []
    assert composer.draft().typed == "later"


def test_that_a_reason_is_shown_and_keeps_the_draft(composer: Composer) -> None:
    sent = sent_by(composer)
    composer.set_reason("Load a model first.")
    QTest.keyClicks(composer.editor, "draft")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == []
    assert composer.reason_label.text() == "Load a model first."
    assert composer.reason_label.isVisible()
    assert not composer.button.isEnabled()
    composer.set_reason(None)
    assert composer.button.isEnabled()
    assert not composer.reason_label.isVisible()


# --- Pastes (S45) --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        ("word " * 20_000 + "\n") * 50,
        "a line of text here\n" * 200_000,
        "längere Zeile 漢字 " * 300_000,
        "x" * (FOLD_CHARS - 1),
        "ab\n" * (FOLD_CHARS // 3 - 1),
    ],
    ids=["5 MB long lines", "200,000 lines", "not ASCII", "just below, one line", "just below"],
)
def test_that_a_huge_paste_undo_and_delete_return_at_once(composer: Composer, text: str) -> None:
    start_s = time.thread_time()
    paste(composer, text)
    pasted_s = time.thread_time() - start_s
    composer.editor.undo()
    composer.editor.selectAll()
    composer.editor.textCursor().removeSelectedText()
    QApplication.processEvents()
    all_s = time.thread_time() - start_s
    assert pasted_s < 0.2
    assert all_s < 0.4


def test_that_a_long_paste_is_folded_and_sent_before_the_words(composer: Composer) -> None:
    sent = sent_by(composer)
    text = "a line of text here\n" * 200_000
    QTest.keyClicks(composer.editor, "Sum this up")
    paste(composer, text)
    [chip] = chips_shown(composer, 1)
    assert chip.preview_button.text() == "Pasted text · 3.8 MiB · 200,000 lines"
    assert composer.draft().typed == "Sum this up"
    composer.submit()
    assert sent == [f"{text}\n\nSum this up"]
    chips_shown(composer, 0)
    QTest.keyClick(composer.editor, Qt.Key.Key_Up)
    assert composer.draft() == Draft("Sum this up", (Attached("", text),))


def test_that_many_short_pastes_do_not_fill_the_editor(composer: Composer) -> None:
    for _ in range(10):
        paste(composer, "y" * 4_000)
    assert len(composer.editor.toPlainText()) <= FOLD_CHARS
    assert len(composer.draft().text()) >= 40_000


def test_that_a_folded_paste_can_be_removed_and_looked_at(composer: Composer, qtbot: QtBot) -> None:
    paste(composer, "first line\n" + "z" * 40_000)
    [chip] = chips_shown(composer, 1)
    assert chip.beginning() == "first line\n" + "z" * 200
    chip.preview_button.click()
    assert chip.preview.isVisible()
    assert chip.preview.toPlainText() == chip.beginning()
    chip.remove_button.click()
    chips_shown(composer, 0)
    assert composer.draft() == Draft()


def test_that_control_characters_are_removed_with_a_note(composer: Composer) -> None:
    paste(composer, "a\0b\x1b[0m\r\nc\td\x7f")
    assert composer.draft().typed == "ab[0m\nc\td"
    assert composer.note_label.full_text() == "3 control characters removed from the pasted text"


def test_that_a_change_of_the_draft_is_told(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.waitSignal(composer.draft_changed):
        QTest.keyClicks(composer.editor, "a")
    with qtbot.waitSignal(composer.draft_changed):
        paste(composer, "x" * (FOLD_CHARS + 1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "1 B · 1 line"),
        ("a\n", "2 B · 1 line"),
        ("é" * 1_000, "2.0 KiB · 1 line"),
        ("ab\n" * 1_000_000, "2.9 MiB · 1,000,000 lines"),
    ],
)
def test_that_a_text_is_described_by_size_and_lines(text: str, words: str) -> None:
    assert described(text) == words


def test_that_a_clean_text_is_the_same_object() -> None:
    text = "nothing to do\there\n"
    assert cleaned(text).text is text


# --- Files ---------------------------------------------------------------------------------------


def test_that_an_attached_file_is_shown_and_sent_under_its_name(composer: Composer) -> None:
    sent = sent_by(composer)
    composer.attach(Attached("notes & more.txt", "one\ntwo\n"))
    [chip] = chips_shown(composer, 1)
    assert chip.preview_button.text() == "notes && more.txt · 8 B · 2 lines"
    assert chip.accessibleName() == "notes & more.txt · 8 B · 2 lines"
    QTest.keyClicks(composer.editor, "Sum up")
    assert composer.size_bytes() == 8 + len("Sum up")
    composer.submit()
    assert sent == ["File: notes & more.txt\n```txt\none\ntwo\n```\n\nSum up"]


def test_that_a_long_name_keeps_its_end(composer: Composer) -> None:
    composer.attach(Attached("x" * 200 + ".py", "1"))
    [chip] = chips_shown(composer, 1)
    assert len(chip.preview_button.text()) < 80
    assert "….py" in chip.preview_button.text() or "xxx.py" in chip.preview_button.text()
    assert chip.accessibleName().startswith("x" * 200 + ".py")


def test_that_pasted_files_are_told_and_not_written(composer: Composer) -> None:
    told: list[object] = []
    composer.files_pasted.connect(told.append)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/some/notes.txt"), QUrl("https://example.org/x")])
    assert composer.editor.canInsertFromMimeData(data)
    composer.editor.insertFromMimeData(data)
    assert told == [["/some/notes.txt"]]
    assert composer.draft() == Draft()


def test_that_trouble_is_said_until_the_draft_changes(composer: Composer) -> None:
    composer.show_trouble("photo.png is not a text file.")
    assert composer.trouble_label.isVisible()
    QTest.keyClicks(composer.editor, "x")
    assert not composer.trouble_label.isVisible()


def test_that_a_message_comes_back_with_its_files(composer: Composer) -> None:
    files = (Attached("a.txt", "one"), Attached("b.txt", "two"))
    assert composer.set_draft_text(message_text(files, "Compare"))
    assert composer.draft() == Draft("Compare", files)


def test_that_many_files_leave_the_conversation_its_room(composer: Composer) -> None:
    composer.attach(Attached("0.txt", "x"))
    one = composer.sizeHint().height()
    for number in range(1, 20):
        composer.attach(Attached(f"{number}.txt", "x"))
    chips_shown(composer, 20)
    many = composer.sizeHint().height()
    assert one < many < one + SHELF_MAX_PX
    for chip in composer.chips():
        chip.remove_button.click()
    assert not composer._shelf.isVisible()
    assert composer.sizeHint().height() < one


def test_that_a_hint_is_said_whole_or_not_at_all(composer: Composer) -> None:
    QApplication.processEvents()
    said = composer.note_label.text()
    assert said == "Shift+Enter: new line"
    for width in (150, 100, 60, 20):
        composer.note_label.setFixedWidth(width)
        QApplication.processEvents()
        assert composer.note_label.text() in (said, "")
    assert composer.note_label.text() == ""
    assert said in composer.note_label.toolTip()
