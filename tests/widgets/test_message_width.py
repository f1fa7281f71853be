"""No message hides a part of itself, whatever width it is shown at and comes to later."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.widgets.chatting import MODEL, code_blocks, runs
from widgets.chat_view import ChatView
from widgets.message_record import AnswerRecord, Branch, Record, UserRecord

pytestmark = pytest.mark.gui
NARROWEST_PX, WIDEST_PX = 240, 1100
_LONG_LINE = "    return [value for value in values if value is not None]  # and so on, and so on"
_CODE = "\n".join(_LONG_LINE if number % 5 == 0 else "    pass" for number in range(28))
TEXTS = (
    f"Steps:\n\n1. **First**: {'word ' * 30}\n2. **Second**: {'word ' * 12}\n\n```python\n{_CODE}",
    f"```\n{_CODE}\n```\nand after it {'words ' * 60}\n\n```\nshort\n```\n",
    "# Heading\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n> " + "quoted " * 40,
    f"<think>\n{'thought ' * 80}\n</think>\n{'said ' * 50}\n\n```\n日本語\n{_CODE}\n日本語\n```",
)
REASON = "The engine ended during this answer. What it said is kept."
FIGURES = "TTFT 1.08 s · TPOT 17.1 ms · 58 tok/s · prompt 827 (814 reused, 13 computed) · 304 new"


def said(count: int, seed: int) -> list[Record]:
    """A conversation of so many messages in some order."""
    chosen = random.Random(seed)
    records: list[Record] = []
    for number in range(1, count + 1, 2):
        records.append(UserRecord("You", "question " * chosen.randint(1, 90), Branch(number)))
        text = chosen.choice(TEXTS)
        branch = Branch(number + 1, 1, chosen.randint(1, 3))
        records.append(AnswerRecord(MODEL, text, False, FIGURES, REASON, True, branch))
    return records


def parts(row: QWidget) -> Iterator[QWidget]:
    """What a message consists of, as far as it is shown."""
    for widget in row.findChildren(QWidget):
        if widget.isVisible() and not widget.findChildren(QWidget):
            yield widget


def cut(label: QLabel) -> bool:
    """Whether a label shows less than all of its words."""
    if not label.isVisible() or not label.wordWrap():
        return False
    widest = max(map(label.fontMetrics().horizontalAdvance, re.split("[ \n]", label.text())))
    return widest > label.width() or label.heightForWidth(label.width()) > label.height()


def hidden_ends(view: ChatView) -> list[str]:
    """What is cut off, in words; empty where everything is there."""
    found = []
    below_px = 0
    for row in view.messages_area.rows:
        if row.live is None:
            continue
        if row.y() < below_px:
            found.append(f"row {row.branch.turn_id} begins above the end of the one before")
        below_px = row.y() + row.height()
        for block in code_blocks(row):
            text = block.text
            last = text.document().lastBlock()
            # From the first line's top to the last line's bottom, as the view itself paints them.
            bottom = text.blockBoundingGeometry(last).translated(text.contentOffset()).bottom()
            if block.isVisible() and bottom > text.viewport().height() + 1:
                found.append(f"code needs {bottom:.0f} px, has {text.viewport().height()}")
        found += [
            f"text needs {run.document().size().height()}, has {run.height()}"
            for run in runs(row)
            if run.isVisible() and run.document().size().height() > run.height() + 1
        ]
        found += [f"cut off: {label.text()!r}" for label in row.findChildren(QLabel) if cut(label)]
        for part in parts(row):
            end = part.mapTo(row, part.rect().bottomRight())
            if end.y() >= row.height() or end.x() >= row.width():
                found.append(f"{type(part).__name__} of {row.branch.turn_id} ends at {end}")
    return found


def wait_whole(qtbot: QtBot, view: ChatView) -> None:
    """All that is built shows all of its text and has found its height."""

    def is_quiet() -> None:
        for row in view.messages_area.rows:
            assert row.live is None or row.live.is_settled
        assert hidden_ends(view) == []

    qtbot.waitUntil(is_quiet, timeout=20_000)


@pytest.mark.parametrize("seed", range(6))
def test_that_no_message_hides_its_end_at_any_width(
    qtbot: QtBot, shown: Callable[[QWidget], None], seed: int
) -> None:
    widths = random.Random(seed)
    view = ChatView()
    view.resize(widths.randint(NARROWEST_PX, WIDEST_PX), 500)
    view.show_turns(said(8, seed))  # before it is shown, as a tab that was restored
    shown(view)
    wait_whole(qtbot, view)
    for _ in range(4):
        view.resize(widths.randint(NARROWEST_PX, WIDEST_PX), widths.randint(300, 900))
        wait_whole(qtbot, view)


@pytest.mark.parametrize("seed", range(3))
def test_that_messages_built_again_hide_nothing_either(
    qtbot: QtBot, shown: Callable[[QWidget], None], seed: int
) -> None:
    widths = random.Random(seed)
    view = ChatView()
    view.resize(400, 500)
    shown(view)
    view.show_turns(said(60, seed))
    area = view.messages_area
    wait_whole(qtbot, view)
    for goal in (0.0, 0.5, 1.0):
        view.resize(widths.randint(NARROWEST_PX, WIDEST_PX), 500)
        bar = area.verticalScrollBar()
        bar.setValue(int(goal * bar.maximum()))
        qtbot.waitUntil(
            lambda: all(r.live is not None for r in area.rows if not r.visibleRegion().isEmpty()),
            timeout=20_000,
        )
        wait_whole(qtbot, view)
    assert any(row.live is None for row in area.rows)


def test_that_code_as_it_streams_into_a_narrow_column_is_whole(
    qtbot: QtBot, shown: Callable[[QWidget], None]
) -> None:
    view = ChatView()
    view.resize(300, 500)
    shown(view)
    view.add_user_message("q")
    view.begin_answer(MODEL)
    for start in range(0, len(TEXTS[0]), 40):
        view.append_text(TEXTS[0][start : start + 40])
        qtbot.waitUntil(lambda: not view.rows.last_answer().has_unshown_text)  # type: ignore[union-attr]
        qtbot.waitUntil(lambda: hidden_ends(view) == [])


def test_that_larger_type_hides_no_end(
    qtbot: QtBot, shown: Callable[[QWidget], None], qapp: QApplication
) -> None:
    view = ChatView()
    view.resize(360, 500)
    shown(view)
    view.show_turns(said(4, 1))
    wait_whole(qtbot, view)
    before = QFont(qapp.font())
    larger = QFont(before)
    larger.setPointSizeF(before.pointSizeF() * 1.5)
    try:
        qapp.setFont(larger)
        wait_whole(qtbot, view)
    finally:
        qapp.setFont(before)
    wait_whole(qtbot, view)
