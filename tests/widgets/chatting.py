"""What the chat tests share: waiting for an answer to be shown, and reading what is shown."""

from __future__ import annotations

from PySide6.QtGui import QTextBlock
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from widgets.chat_view import ChatView
from widgets.message_answer import AnswerView
from widgets.message_code import CodeBlock
from widgets.message_text import TextRun

MODEL = "Model 1B"
_LEVELS = 10


def answer(view: ChatView) -> AnswerView:
    """The last message, which has to be an answer."""
    row = view.messages_area.rows[-1]
    assert isinstance(row.live, AnswerView)
    return row.live


def wait_shown(qtbot: QtBot, view: ChatView) -> None:
    """Let the ticks do their work until all text that came is shown."""
    qtbot.waitUntil(lambda: not answer(view).has_unshown_text, timeout=20_000)


def answered(qtbot: QtBot, view: ChatView, markdown: str, question: str = "q") -> AnswerView:
    """Put a whole question and answer into ``view`` and wait for it."""
    view.add_user_message(question)
    view.begin_answer(MODEL)
    view.append_text(markdown)
    view.finish_answer("TTFT 1 s", None, False)
    qtbot.waitUntil(lambda: answer(view).is_settled, timeout=20_000)
    lay_out(view)
    return answer(view)


def lay_out(view: ChatView) -> None:
    """Let Qt give what is shown its place: a turn of the event loop for each level of widgets."""
    for _ in range(_LEVELS):
        QApplication.processEvents()
    assert view.isVisible()


def runs(widget: QWidget) -> list[TextRun]:
    """The runs of text below ``widget``, in order."""
    found = widget.findChildren(TextRun)
    return sorted(found, key=lambda run: run.mapTo(widget, run.rect().topLeft()).y())


def code_blocks(widget: QWidget) -> list[CodeBlock]:
    """The code blocks below ``widget``, in order."""
    found = widget.findChildren(CodeBlock)
    return sorted(found, key=lambda block: block.mapTo(widget, block.rect().topLeft()).y())


def shown_text(widget: QWidget) -> str:
    """All text of all runs below ``widget``."""
    return "\n".join(run.toPlainText() for run in runs(widget))


def blocks(run: TextRun) -> list[QTextBlock]:
    """The paragraphs of a run."""
    found = []
    block = run.document().begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found
