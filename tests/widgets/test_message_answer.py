"""An answer while it streams: frozen blocks, few repaints, a selection that survives."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from resources.tokens import LIGHT
from tests.widgets.chatting import (
    MODEL,
    answer,
    answered,
    blocks,
    code_blocks,
    runs,
    shown_text,
    wait_shown,
)
from widgets.chat_view import ChatView
from widgets.message_answer import TICK_MS, AnswerView
from widgets.message_code import MAX_LINE_CHARS

pytestmark = pytest.mark.gui

CODE = """Intro:

```python
def f(x):
    return "a very long line that does not fit into the column of text at all" * 2 + str(x)
```

1. One
2. Two
"""


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ChatView:
    view = ChatView()
    view.resize(600, 500)
    shown(view)
    return view


def begin(view: ChatView) -> AnswerView:
    view.add_user_message("q")
    view.begin_answer(MODEL)
    return answer(view)


def test_that_text_and_code_come_in_order_in_parts_of_their_own(
    qtbot: QtBot, view: ChatView
) -> None:
    message = answered(qtbot, view, CODE)
    assert [run.toPlainText() for run in runs(message)] == ["Intro:", "One\nTwo"]
    [block] = code_blocks(message)
    assert block.code().startswith("def f(x):\n    return")
    assert block.text.lineWrapMode() == block.text.LineWrapMode.NoWrap
    assert block.text.horizontalScrollBar().maximum() > 0
    assert block.text.verticalScrollBar().maximum() == 0
    assert block.accessibleName() == "Code block, python"


@pytest.mark.parametrize("size", [1, 7, 50])
def test_that_a_streamed_answer_looks_like_one_that_came_whole(
    qtbot: QtBot, view: ChatView, size: int
) -> None:
    text = CODE + "\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## End\n\n- x\n- y\n\n> quoted **words**"
    whole = shown_text(answered(qtbot, view, text))
    view.clear()
    begin(view)
    for start in range(0, len(text), size):
        view.append_text(text[start : start + size])
        answer(view).show_now()
    view.finish_answer("", None, False)
    answer(view).show_now()
    assert shown_text(answer(view)) == whole
    formats = [(b.text(), b.blockFormat().headingLevel()) for b in blocks(runs(answer(view))[-1])]
    assert ("End", 2) in formats
    assert all(level == 0 for text, level in formats if text != "End")


def test_that_finished_blocks_are_not_built_again(qtbot: QtBot, view: ChatView) -> None:
    begin(view)
    view.append_text("First paragraph.\n\nSecond")
    wait_shown(qtbot, view)
    [run] = runs(answer(view))
    touched: list[int] = []
    run.document().contentsChange.connect(lambda at, removed, added: touched.append(at))
    for _ in range(20):
        view.append_text(" word")
        answer(view).show_now()
    assert touched
    assert min(touched) >= len("First paragraph.")


def test_that_tokens_do_not_cause_a_repaint_each(qtbot: QtBot, view: ChatView) -> None:
    message = begin(view)
    view.append_text("Begin ")
    wait_shown(qtbot, view)
    [run] = runs(message)

    class Paints(QObject):
        count = 0

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            self.count += event.type() == QEvent.Type.Paint
            return False

    paints = Paints()
    run.viewport().installEventFilter(paints)
    start_s = time.perf_counter()
    for _ in range(300):
        view.append_text("token ")
        QTest.qWait(1)
    ticks = (time.perf_counter() - start_s) * 1000 / TICK_MS + 1
    run.viewport().removeEventFilter(paints)
    assert 0 < paints.count <= 2 * ticks  # the text, and the new height


def test_that_the_first_paint_of_text_is_stamped_once(qtbot: QtBot, view: ChatView) -> None:
    stamps: list[int] = []
    view.first_painted.connect(stamps.append)
    begin(view)
    QTest.qWait(50)
    assert stamps == []
    before_ns = time.perf_counter_ns()
    with qtbot.waitSignal(view.first_painted):
        view.append_text("Word")
    assert before_ns < stamps[0] < time.perf_counter_ns()
    view.append_text(" and more")
    wait_shown(qtbot, view)
    assert len(stamps) == 1


def test_that_code_as_first_text_is_stamped_too(qtbot: QtBot, view: ChatView) -> None:
    begin(view)
    with qtbot.waitSignal(view.first_painted):
        view.append_text("```\nx = 1\n")


def test_that_a_hidden_answer_is_not_rendered_until_it_is_shown(
    qtbot: QtBot, view: ChatView
) -> None:
    stamps: list[int] = []
    view.first_painted.connect(stamps.append)
    message = begin(view)
    view.hide()
    view.append_text("Words that came in the dark.")
    view.finish_answer("TTFT 1 s", None, False)
    assert not runs(message)
    view.show()
    qtbot.waitUntil(lambda: shown_text(message) == "Words that came in the dark.")
    assert stamps == []  # the time would say nothing about the pipe


def test_that_a_selection_in_a_finished_block_survives_new_text(
    qtbot: QtBot, view: ChatView
) -> None:
    message = begin(view)
    view.append_text("Finished words.\n\nTail")
    wait_shown(qtbot, view)
    [run] = runs(message)
    cursor = run.textCursor()
    cursor.setPosition(0)
    cursor.setPosition(8, QTextCursor.MoveMode.KeepAnchor)
    run.setTextCursor(cursor)
    view.append_text(" goes on.\n\nAnd on.\n\n")
    wait_shown(qtbot, view)
    assert run.selected_text() == "Finished"


def test_that_a_selection_in_the_tail_survives_new_text(qtbot: QtBot, view: ChatView) -> None:
    message = begin(view)
    view.append_text("Finished.\n\nTail **with** words")
    wait_shown(qtbot, view)
    [run] = runs(message)
    at = run.toPlainText().index("with")
    cursor = run.textCursor()
    cursor.setPosition(at)
    cursor.setPosition(at + 4, QTextCursor.MoveMode.KeepAnchor)
    run.setTextCursor(cursor)
    for part in (" and more", "\n\n", "next paragraph"):
        view.append_text(part)
        wait_shown(qtbot, view)
        assert run.selected_text() == "with"


def test_that_text_waits_while_the_mouse_selects(qtbot: QtBot, view: ChatView) -> None:
    message = begin(view)
    view.append_text("Some words to select")
    wait_shown(qtbot, view)
    [run] = runs(message)
    QTest.mousePress(run.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    QTest.mouseMove(run.viewport(), QPoint(60, 5))
    view.append_text(" and more")
    QTest.qWait(200)
    assert run.toPlainText() == "Some words to select"
    assert run.textCursor().hasSelection()
    selected = run.selected_text()
    QTest.mouseRelease(run.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 5))
    qtbot.waitUntil(lambda: run.toPlainText() == "Some words to select and more")
    assert run.selected_text() == selected


def test_that_an_answer_goes_on_in_the_same_paragraph(qtbot: QtBot, view: ChatView) -> None:
    answered(qtbot, view, "Half a sen")
    view.set_can_continue(True)
    message = answer(view)
    with qtbot.waitSignal(view.continue_requested):
        message.footer.continue_button.click()
    view.begin_answer(MODEL)
    view.append_text("tence.")
    view.finish_answer("", None, False)
    qtbot.waitUntil(lambda: answer(view).is_settled)
    assert answer(view) is message
    assert shown_text(message) == "Half a sentence."
    assert not message.footer.continue_button.isVisible()


def test_that_copy_gives_what_the_model_wrote(qtbot: QtBot, view: ChatView) -> None:
    message = answered(qtbot, view, CODE)
    message.footer.copy_button.click()
    assert QGuiApplication.clipboard().text() == CODE
    [block] = code_blocks(message)
    block.copy_button.click()
    assert QGuiApplication.clipboard().text() == block.code()
    assert block.copy_button.text() == "Copied"
    qtbot.waitUntil(lambda: block.copy_button.text() == "Copy")
    qtbot.waitUntil(lambda: message.footer.copy_button.text() == "Copy")


def test_that_ctrl_a_and_ctrl_c_take_the_whole_answer(qtbot: QtBot, view: ChatView) -> None:
    message = answered(qtbot, view, "Before `x`.\n\n```\ncode\n```\n\nAfter.")
    run = runs(message)[0]
    run.setFocus()
    QTest.keyClick(run, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(run, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Before x.\ncode\nAfter."


def test_that_a_drag_selects_across_parts(qtbot: QtBot, view: ChatView) -> None:
    message = answered(qtbot, view, "Before.\n\n```\ncode\n```\n\nAfter.")
    first, last = runs(message)
    QTest.mousePress(first.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(1, 8))
    target = last.viewport().mapToGlobal(QPoint(last.width() - 2, 8))
    QTest.mouseMove(first.viewport(), first.viewport().mapFromGlobal(target))
    QTest.mouseRelease(first.viewport(), Qt.MouseButton.LeftButton)
    QTest.keyClick(first, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Before.\ncode\nAfter."
    QTest.mouseClick(last.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert not first.textCursor().hasSelection()


def test_that_a_line_broken_by_the_view_is_copied_whole(qtbot: QtBot, view: ChatView) -> None:
    line = "x" * (2 * MAX_LINE_CHARS + 10)
    message = answered(qtbot, view, f"```\n{line}\nend\n```\n")
    [block] = code_blocks(message)
    assert block.text.blockCount() == 4
    assert block.code() == f"{line}\nend"
    block.text.selectAll()
    assert block.text.selected_text() == f"{line}\nend"


def test_that_code_stays_left_to_right(qtbot: QtBot, view: ChatView) -> None:
    message = answered(qtbot, view, '```\nتعليق = "/home/x"\n```\n')
    [block] = code_blocks(message)
    layout = block.text.document().begin().layout()
    assert layout.textOption().textDirection() == Qt.LayoutDirection.LeftToRight
    cursor = QTextCursor(block.text.document())
    places = []
    for sign in ("=", "/home", "/x"):
        cursor.setPosition(block.code().index(sign))
        places.append(block.text.cursorRect(cursor).x())
    assert places == sorted(places)


def test_that_a_picture_in_an_answer_loads_nothing(
    qtbot: QtBot, view: ChatView, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("pictures") / "secret.png"
    picture = QImage(8, 8, QImage.Format.Format_RGB32)
    picture.fill(QColor("red"))
    assert picture.save(str(path))
    text = f"![a]({path}) ![b](file://{path}) ![c](http://127.0.0.1:1/x.png) <img src='{path}'>"
    message = answered(qtbot, view, text)
    [run] = runs(message)
    assert "picture: a" in run.toPlainText()
    assert "\ufffc" not in run.toPlainText()
    assert run.refused_resources == []  # nothing even asked
    shot = run.grab().toImage()
    reds = [
        (x, y)
        for x in range(shot.width())
        for y in range(shot.height())
        if shot.pixelColor(x, y) == QColor("red")
    ]
    assert reds == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe, which Windows has not")
def test_that_neither_a_file_nor_an_address_is_touched_while_pictures_stream(
    qtbot: QtBot, view: ChatView, tmp_path: Path
) -> None:
    pipe = tmp_path / "p.png"
    os.mkfifo(pipe)  # whoever opens it for reading hangs: the test would run into its time limit
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        here = f"http://127.0.0.1:{server.getsockname()[1]}/p.png?q=secret"
        begin(view)
        text = f"![a]({pipe}) ![b](file://{pipe}) ![c]({here}) [![d]({pipe})]({here})\n\n"
        text += f"| ![e]({pipe}) |\n|---|\n| ![f]({here}) |\n\n<img src='{here}'>"
        for character in text:
            view.append_text(character)
            answer(view).show_now()
        view.finish_answer("", None, False)
        qtbot.waitUntil(lambda: answer(view).is_settled)
        view.grab()
        with pytest.raises(BlockingIOError):
            server.accept()
    assert all(run.refused_resources == [] for run in runs(answer(view)))


def test_that_a_click_on_a_link_only_tells(qtbot: QtBot, view: ChatView) -> None:
    message = answered(qtbot, view, "[link](https://a.example/x) [bad](javascript:alert(1))")
    [run] = runs(message)
    activated: list[str] = []
    view.link_activated.connect(activated.append)
    for word in ("link", "bad"):
        cursor = QTextCursor(run.document())
        cursor.setPosition(run.toPlainText().index(word) + 2)
        at = run.cursorRect(cursor).center()
        QTest.mouseClick(run.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert activated == ["https://a.example/x"]
    assert run.source().isEmpty()


def test_that_another_palette_reaches_what_was_rendered(qtbot: QtBot, view: ChatView) -> None:
    message = answered(qtbot, view, "a [l](http://x.example)")
    view.set_palette(LIGHT)
    [run] = runs(message)
    cursor = QTextCursor(run.document())
    cursor.setPosition(3)
    assert cursor.charFormat().foreground().color() == QColor(LIGHT.accent)


def test_that_complete_characters_arrive_as_they_are(qtbot: QtBot, view: ChatView) -> None:
    text = "👨‍👩‍👧‍👦 🇩🇪 👍🏽 汉字 ภาษาไทย"
    begin(view)
    for character in text:
        view.append_text(character)
        answer(view).show_now()
        assert "\ufffd" not in shown_text(answer(view))
    view.finish_answer("", None, False)
    answer(view).show_now()
    assert shown_text(answer(view)) == text
    answer(view).footer.copy_button.click()
    assert QGuiApplication.clipboard().text() == text


@pytest.mark.parametrize(
    "text",
    [
        "x" * 200_000,
        "```\n" + "x" * 200_000,
        "word " * 40_000,
        "| a |\n|---|\n" + "| 1 |\n" * 9_000,
    ],
    ids=["line", "code line", "words", "table"],
)
def test_that_a_huge_answer_at_once_comes_in_ticks_that_leave_room(
    qtbot: QtBot, view: ChatView, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs_s: list[float] = []
    show_now = AnswerView.show_now

    def timed(self: AnswerView) -> None:
        start_s = time.thread_time()
        show_now(self)
        costs_s.append(time.thread_time() - start_s)

    monkeypatch.setattr(AnswerView, "show_now", timed)
    begin(view)
    view.append_text(text)
    view.finish_answer("", None, False)
    qtbot.waitUntil(lambda: answer(view).is_settled, timeout=60_000)
    # How many ticks it takes is the machine's speed; that it takes several is the behaviour.
    assert len(costs_s) > 1
    # 10 ms on an idle machine; a shared core is up to four times slower.
    assert max(costs_s) < 0.1
    assert answer(view).text() == text
