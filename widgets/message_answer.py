"""An answer of the model, shown while it comes.

Tokens only fill a buffer. A timer takes from it, at most 15 times a second and never longer than
a few milliseconds at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from engine_bridge.thoughts import ThoughtReader
from resources.tokens import STEP_PX, Palette
from widgets.message_body import MarkdownBody
from widgets.message_branches import BranchSwitch
from widgets.message_footer import AnswerFooter
from widgets.message_menu import Entry, copy_text, open_menu
from widgets.message_record import AnswerRecord, Branch, Detail
from widgets.message_selection import SelectionGroup
from widgets.message_thought import ThoughtView

TICK_MS = 66
# Spent on text at once before the event loop gets its turn; one block may go over by about 5 ms.
BUDGET_S = 0.006
# A tick that cost 10 ms is followed by 100 ms of peace: streaming never takes more than a tenth.
PEACE_FACTOR = 10
MAX_PAUSE_MS = 250
_READING = "Reading the prompt…"


class AnswerView(QWidget):
    """Sender, thought, text, code blocks and footer of one answer.

    Signals:
        link_activated: A web address that was clicked.
        painted: ``time.perf_counter_ns()`` after the first paint that showed text.
        settled: All text that came so far is shown.
        conversation_copy_requested: The whole conversation is wanted on the clipboard.
    """

    conversation_copy_requested = Signal()
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

        ``may_fold`` says whether nobody reads the thought when it is over; its owner sets it.
        """
        super().__init__(parent)
        self._record = record
        self._palette = palette
        self._selection = selection
        self._received: list[str] = []
        self._said: list[str] = []
        self._reader = ThoughtReader(starts_inside=record.starts_in_thought)
        self._think_tok = record.think_tok
        self._is_streaming = True
        self._is_paint_awaited = record.is_streaming
        self._pause_ms = TICK_MS
        self.thought: ThoughtView | None = None
        self.may_fold: Callable[[], bool] = lambda: True
        self.setAccessibleName(f"Answer of {record.model_name}")
        sender = QLabel(record.model_name)
        sender.setTextFormat(Qt.TextFormat.PlainText)
        sender.setProperty("role", "muted")
        self._waiting = QLabel(_READING)
        self._waiting.setProperty("role", "hint")
        self.dropped = QLabel()
        self.dropped.setTextFormat(Qt.TextFormat.PlainText)
        self.dropped.setWordWrap(True)
        self.dropped.setProperty("role", "hint")
        self.dropped.setAccessibleName("What the model had to forget")
        self.footer = AnswerFooter(self.answer_text, palette)
        self.footer.set_branch(record.branch)
        self.footer.hide()
        self.body = MarkdownBody(palette, selection)
        if record.is_plain:
            self.body.be_plain()
        self.body.belong_to(self, self.footer.first_button)
        self.body.link_activated.connect(self.link_activated)
        self.body.painted.connect(self.painted)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(STEP_PX)
        for widget in (sender, self._waiting, self.body, self.dropped, self.footer):
            self._layout.addWidget(widget)
        self.set_dropped_text(record.dropped_text)
        self.set_details(record.details)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._on_tick)
        if not record.is_streaming:
            self._is_streaming = False
        self.append(record.text)
        if not record.is_streaming:
            self.finish(record.figures_text, record.reason_text, is_warning=record.is_warning)

    # --- What comes in ------------------------------------------------------------------------

    @property
    def is_streaming(self) -> bool:
        """Whether more text is expected."""
        return self._is_streaming

    @property
    def has_text(self) -> bool:
        """Whether any text has come."""
        return bool(self._received)

    @property
    def has_unshown_text(self) -> bool:
        """Whether text has come that a tick has yet to show; a folded thought waits unshown."""
        return self.body.has_pending or self._has_pending_thought or self._timer.isActive()

    @property
    def is_settled(self) -> bool:
        """Whether all is shown and nothing more will come."""
        return not self._is_streaming and not self.has_unshown_text

    @property
    def switch(self) -> BranchSwitch:
        """Leads to the other answers in this place."""
        return self.footer.switch

    @property
    def turn_id(self) -> int:
        """Number of the message; 0 where it has none."""
        return self._record.branch.turn_id

    def record(self) -> AnswerRecord:
        """What it takes to build this again."""
        return replace(
            self._record,
            text=self.text(),
            is_streaming=self._is_streaming,
            think_tok=self._think_tok,
        )

    def text(self) -> str:
        """The whole answer, as the model wrote it."""
        return "".join(self._received)

    def answer_text(self) -> str:
        """The answer without what was thought before it."""
        return "".join(self._said)

    def append(self, text: str) -> None:
        """Take more text; costs no more than keeping it."""
        if not text:
            return
        is_first = not self._received
        self._received.append(text)
        if is_first:
            self._waiting.hide()
            # A paint that comes whenever the tab is opened says nothing about the pipe.
            self._is_paint_awaited = self._is_paint_awaited and self.isVisible()
        self._put([(False, text)] if self._record.is_plain else self._reader.feed(text))
        if is_first:
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
        if not self._reader.is_inside:
            self._put(self._reader.finish())
        if self.thought is not None:
            self.thought.set_thinking(is_thinking=False, may_fold=self.may_fold())
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
        if self.thought is not None and self._reader.is_inside:
            self.thought.set_thinking(is_thinking=True)
        if not self._received:
            self._waiting.show()
        self._schedule_now()

    def set_waiting(self, text: str) -> None:
        """Say what the answer waits for until its first text comes; empty for its prompt."""
        self._waiting.setText(text or _READING)

    def start_in_thought(self) -> None:
        """The template opened a thought: what comes first is thought, not said."""
        if not self._received:
            self._record = replace(self._record, starts_in_thought=True)
            self._reader = ThoughtReader(starts_inside=True)

    def set_think_tok(self, think_tok: int) -> None:
        """Say how many tokens of the answer were thought."""
        self._think_tok = think_tok
        if self.thought is not None:
            self.thought.set_think_tok(think_tok)

    def set_dropped_text(self, text: str) -> None:
        """Say what the model had to forget to go on; empty for nothing."""
        self._record = replace(self._record, dropped_text=text)
        self.dropped.setText(text)
        self.dropped.setVisible(bool(text))

    def set_details(self, details: Sequence[Detail]) -> None:
        """Say what the answer was made of, for whoever unfolds it."""
        self._record = replace(self._record, details=tuple(details))
        self.footer.set_details(self._record.details)

    def set_branch(self, branch: Branch) -> None:
        """Show which of how many answers this is."""
        self._record = replace(self._record, branch=branch)
        self.footer.set_branch(branch)

    def set_can_change(self, can_change: bool) -> None:
        """Allow another answer and another branch, or not now."""
        self.footer.set_can_change(can_change)

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        self.body.set_palette(palette)
        self.footer.set_palette(palette)
        if self.thought is not None:
            self.thought.set_palette(palette)

    def fit(self) -> None:
        """Be laid out now instead of in the next turn."""
        if self.thought is not None:
            self.thought.body.fit()
        self.body.fit()
        self._layout.activate()

    # --- Thought ------------------------------------------------------------------------------

    def _put(self, pieces: list[tuple[bool, str]]) -> None:
        for is_thought, text in pieces:
            if is_thought:
                self._thought_view().push(text)
                continue
            if not self._said and self.thought is not None:
                self.thought.set_thinking(is_thinking=False, may_fold=self.may_fold())
            elif not self._said and self._is_paint_awaited:
                self.body.await_paint()
            self._said.append(text)
            self.body.push(text)

    def _thought_view(self) -> ThoughtView:
        if self.thought is None:
            thought = ThoughtView(self._palette, self._selection, is_open=self._is_streaming)
            thought.set_think_tok(self._think_tok)
            thought.toggled.connect(self._schedule_now)
            thought.body.link_activated.connect(self.link_activated)
            thought.body.painted.connect(self.painted)
            if self._is_paint_awaited:
                thought.body.await_paint()
            self._layout.insertWidget(self._layout.indexOf(self.body), thought)
            self.thought = thought
        return self.thought

    @property
    def _has_pending_thought(self) -> bool:
        return self.thought is not None and self.thought.is_open and self.thought.body.has_pending

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
        is_thinking = self._is_streaming and self._reader.is_inside
        if self.thought is not None and self.thought.is_open:
            self.thought.body.show_some(start_s + BUDGET_S, is_growing=is_thinking)
        self.body.show_some(start_s + BUDGET_S, is_growing=self._is_streaming and not is_thinking)
        if self._is_streaming:
            # By processor time: when the engine has all cores, waiting longer helps nobody.
            cost_ms = (time.thread_time() - start_cpu_s) * 1000
            self._pause_ms = min(max(TICK_MS, round(cost_ms * PEACE_FACTOR)), MAX_PAUSE_MS)
        else:
            self._pause_ms = 1
        if self.body.has_pending or self._has_pending_thought:
            self._schedule()
        else:
            self.settled.emit()

    def _forget_paint(self) -> None:
        self._is_paint_awaited = False
        self.body.forget_paint()
        if self.thought is not None:
            self.thought.body.forget_paint()

    # --- Menu ---------------------------------------------------------------------------------

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be copied; the answer alone first, the thought only when asked for."""
        entries: list[Entry] = [("Copy the answer", lambda: copy_text(self.answer_text()))]
        thought = self.thought
        if thought is not None:
            entries += [
                ("Copy the thought", lambda: copy_text(thought.text())),
                ("Copy the answer with its thought", lambda: copy_text(self.text())),
            ]
        entries.append(("Copy the conversation", self.conversation_copy_requested.emit))
        open_menu(self, event, self._selection, entries)
