"""An answer of the model, shown while it comes.

Tokens only fill a buffer. A timer takes from it, at most 15 times a second and never longer than
a few milliseconds at once; finished blocks are rendered once, the tail as it grows.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from resources.tokens import STEP_PX, Palette
from widgets.markdown_blocks import BlockSplitter, CodeEnd, CodeStart, CodeText, Piece, Prose
from widgets.message_code import CodeBlock
from widgets.message_footer import AnswerFooter
from widgets.message_selection import SelectionGroup
from widgets.message_text import TextRun

TICK_MS = 66
# Spent on text at once before the event loop gets its turn; one block may go over by about 5 ms.
BUDGET_S = 0.006
# A tick that cost 10 ms is followed by 100 ms of peace: streaming never takes more than a tenth.
PEACE_FACTOR = 10
MAX_PAUSE_MS = 250
_SLICE_CHARS = 512
_READING = "Reading the prompt…"


@dataclass(frozen=True)
class AnswerRecord:
    """What an answer is built from.

    Attributes:
        model_name: Who answers.
        text: What was said so far.
        is_streaming: More is expected.
        figures_text: What it cost, one line.
        reason_text: Why it ended, or None.
        is_warning: The reason needs a person.
    """

    model_name: str
    text: str = ""
    is_streaming: bool = True
    figures_text: str = ""
    reason_text: str | None = None
    is_warning: bool = False


class AnswerView(QWidget):
    """Sender, text, code blocks and footer of one answer.

    Signals:
        link_activated: A web address that was clicked.
        painted: ``time.perf_counter_ns()`` after the first paint that showed text.
        settled: All text that came so far is shown.
    """

    link_activated = Signal(str)
    painted = Signal(object)
    settled = Signal()

    def __init__(
        self,
        record: AnswerRecord,
        palette: Palette,
        selection: SelectionGroup,
        parent: QWidget | None = None,
    ) -> None:
        """Show an answer, or one that waits for its first text.

        Args:
            record: Who answers, and what is there already.
            palette: Colours.
            selection: Of the conversation.
            parent: Owner.
        """
        super().__init__(parent)
        self._record = record
        self._palette = palette
        self._selection = selection
        self._received: list[str] = []
        self._pending: deque[str] = deque()
        self._splitter = BlockSplitter()
        self._run: TextRun | None = None
        self._code: CodeBlock | None = None
        self._parts: list[TextRun | CodeBlock] = []
        self._is_streaming = True
        self._is_paint_awaited = True
        self._pause_ms = TICK_MS
        self.setAccessibleName(f"Answer of {record.model_name}")
        sender = QLabel(record.model_name)
        sender.setTextFormat(Qt.TextFormat.PlainText)
        sender.setProperty("role", "muted")
        self._waiting = QLabel(_READING)
        self._waiting.setProperty("role", "hint")
        self.footer = AnswerFooter(self.text)
        self.footer.hide()
        self._body = QVBoxLayout()
        self._body.setSpacing(2 * STEP_PX)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX)
        layout.addWidget(sender)
        layout.addWidget(self._waiting)
        layout.addLayout(self._body)
        layout.addWidget(self.footer)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._on_tick)
        if not record.is_streaming:
            self._is_paint_awaited = False
        self.append(record.text)
        if not record.is_streaming:
            self.finish(record.figures_text, record.reason_text, is_warning=record.is_warning)

    # --- What comes in ------------------------------------------------------------------------

    @property
    def is_streaming(self) -> bool:
        """Whether more text is expected."""
        return self._is_streaming

    @property
    def has_unshown_text(self) -> bool:
        """Whether text has come that a tick has yet to show."""
        return bool(self._pending) or self._timer.isActive()

    @property
    def is_settled(self) -> bool:
        """Whether all is shown and nothing more will come."""
        return not self._is_streaming and not self.has_unshown_text

    def record(self) -> AnswerRecord:
        """What it takes to build this again."""
        return replace(self._record, text=self.text(), is_streaming=self._is_streaming)

    def text(self) -> str:
        """The whole answer, as the model wrote it."""
        return "".join(self._received)

    def append(self, text: str) -> None:
        """Take more text; costs no more than keeping it."""
        if not text:
            return
        is_first = not self._received
        self._received.append(text)
        if self._pending and len(self._pending[-1]) + len(text) <= _SLICE_CHARS:
            self._pending[-1] += text  # one piece to render, however many tokens made it
        else:
            self._pending.extend(
                text[start : start + _SLICE_CHARS] for start in range(0, len(text), _SLICE_CHARS)
            )
        if is_first:
            self._waiting.hide()
            # A paint that comes whenever the tab is opened says nothing about the pipe.
            self._is_paint_awaited = self._is_paint_awaited and self.isVisible()
            self._schedule_now()  # the first word is what the user waits for
        else:
            self._schedule()

    def finish(self, figures_text: str, reason_text: str | None, *, is_warning: bool) -> None:
        """No more text comes; show how it went."""
        self._is_streaming = False
        self._record = replace(
            self._record,
            figures_text=figures_text,
            reason_text=reason_text,
            is_warning=is_warning,
        )
        self._forget_paint()
        self._waiting.hide()
        self.footer.show_end(figures_text, reason_text, is_warning=is_warning)
        self.footer.show()
        self._schedule_now()

    def resume(self) -> None:
        """More text comes after all; it goes on in the same block."""
        self._is_streaming = True
        self.footer.hide()
        self.footer.set_can_continue(False)
        if not self._received:
            self._waiting.show()
        self._schedule_now()

    def set_waiting(self, text: str) -> None:
        """Say what the answer waits for until its first text comes; empty for its prompt."""
        self._waiting.setText(text or _READING)

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        for part in self._parts:
            part.set_palette(palette)

    # --- Ticks --------------------------------------------------------------------------------

    def _schedule(self) -> None:
        # Hidden conversations keep their text until they are looked at; the engine needs the core.
        if self.isVisible() and not self._timer.isActive():
            self._timer.start(self._pause_ms)

    def _schedule_now(self) -> None:
        if self.isVisible():
            self._timer.start(0)

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while the conversation was hidden."""
        super().showEvent(event)
        self._schedule_now()

    def _on_tick(self) -> None:
        if self._selection.is_dragging():
            self._schedule()
        else:
            self.show_now()

    def show_now(self) -> None:
        """Show some of what came, as much as fits into a tick; the timer calls this."""
        self._timer.stop()
        start_s, start_cpu_s = time.perf_counter(), time.thread_time()
        while self._pending and time.perf_counter() - start_s < BUDGET_S:
            for piece in self._splitter.feed(self._pending.popleft()):
                self._take(piece)
        self._show_tail()
        if self._is_streaming:
            # By processor time: when the engine has all cores, waiting longer helps nobody.
            cost_ms = (time.thread_time() - start_cpu_s) * 1000
            self._pause_ms = min(max(TICK_MS, round(cost_ms * PEACE_FACTOR)), MAX_PAUSE_MS)
        else:
            self._pause_ms = 1
        if self._pending:
            self._schedule()
        else:
            self.settled.emit()

    def _take(self, piece: Piece) -> None:
        match piece:
            case Prose(markdown):
                self._prose_run().append_finished(markdown)
            case CodeStart(language, indent):
                self._open_code(language, indent)
            case CodeText(text):
                if self._code is not None:
                    self._code.append_code(text)
            case CodeEnd():
                if self._code is not None:
                    self._code.text.set_caret(is_shown=False)
                self._code = None

    def _show_tail(self) -> None:
        is_final = not self._is_streaming and not self._pending
        tail = self._splitter.tail(is_final=is_final)
        if tail:
            self._prose_run().set_tail(tail)
        elif self._run is not None:
            self._run.set_tail("")
        if is_final and self._code is not None and (held := self._splitter.take_held_code()):
            self._code.append_code(held)
        last = self._parts[-1] if self._parts else None
        for part in self._parts[-2:]:
            text = part.text if isinstance(part, CodeBlock) else part
            text.set_caret(is_shown=self._is_streaming and part is last)

    def _prose_run(self) -> TextRun:
        if self._run is None or self._run.is_full:
            run = TextRun(self._palette)
            run.link_activated.connect(self.link_activated)
            self._add(run)
            self._run = run
        return self._run

    def _open_code(self, language: str, indent: int) -> None:
        if self._run is not None:
            self._run.set_tail("")
            self._run = None
        self._code = CodeBlock(language, indent, self._palette)
        self._add(self._code)

    def _add(self, part: TextRun | CodeBlock) -> None:
        text = part.text if isinstance(part, CodeBlock) else part
        text.painted.connect(self.painted)
        if self._is_paint_awaited and not self._parts:
            text.await_paint()
        self._parts.append(part)
        self._selection.add(text, self)
        row = QHBoxLayout()
        row.setContentsMargins(part.indent_px if isinstance(part, CodeBlock) else 0, 0, 0, 0)
        row.addWidget(part)
        self._body.addLayout(row)
        if isinstance(part, CodeBlock):
            self._order_focus(part)

    def _order_focus(self, part: CodeBlock) -> None:
        """Reach the copy button of ``part`` before the footer's."""
        before = self.footer.continue_button.previousInFocusChain()
        while before is not None and before.focusPolicy() == Qt.FocusPolicy.NoFocus:
            before = before.previousInFocusChain()
        if before is not None:
            QWidget.setTabOrder(before, part.copy_button)

    def _forget_paint(self) -> None:
        self._is_paint_awaited = False
        for part in self._parts[:1]:
            (part.text if isinstance(part, CodeBlock) else part).forget_paint()
