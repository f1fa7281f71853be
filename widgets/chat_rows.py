"""The messages of one conversation: which stand there, and what is asked for at them.

A whole stored conversation is taken over in pieces from its end, each message as a place of about
the right height; what comes near the viewport is built.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication

from resources.chat_tokens import COLUMN_MAX_PX
from resources.tokens import STEP_PX, Palette
from widgets.chat_reveal import Reveal
from widgets.chat_scroll import ConversationScroll
from widgets.message_answer import AnswerView
from widgets.message_marks import Find
from widgets.message_record import AnswerRecord, Detail, Record, UserRecord
from widgets.message_row import Message, MessageRow
from widgets.message_selection import SelectionGroup
from widgets.message_user import WHOLE_CHARS, UserMessage

# A place costs about 0.15 ms; the event loop gets its turn between two pieces.
_PIECE_ROWS = 50
# Qt lays all of a column out anew at every change; what is older than this comes when it is looked
# for.
_STANDING_ROWS = 600
# So many are built at once: a question that was just asked is seen at once.
_FEW_ROWS = 2


class ChatRows(QObject):
    """Rows in a ``ConversationScroll``, and the signals of what is in them.

    Signals:
        link_activated: A web address that was clicked.
        first_painted: ``time.perf_counter_ns()`` (int) after the first paint of an answer's text.
        continue_requested: Go on where the last answer stopped.
        again_requested: Number of an answer: another one is wanted.
        edit_sent: Number of a question, the text that should stand there.
        branch_requested: Number of a message, -1 for the branch before it or 1 for the one after.
        conversation_copy_requested: The whole conversation is wanted on the clipboard.
    """

    link_activated = Signal(str)
    first_painted = Signal(object)
    continue_requested = Signal()
    again_requested = Signal(int)
    edit_sent = Signal(int, str)
    branch_requested = Signal(int, int)
    conversation_copy_requested = Signal()

    def __init__(
        self,
        area: ConversationScroll,
        selection: SelectionGroup,
        palette: Palette,
        parent: QObject,
    ) -> None:
        """Begin without messages.

        Args:
            area: Where they stand.
            selection: Of the conversation.
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._area = area
        self._selection = selection
        self._palette = palette
        self._can_change = True
        self._earlier: list[Record] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._on_timer_timeout)
        area.top_neared.connect(self._on_top_neared)
        self._reveal = Reveal(area, selection, palette, self)

    # --- What stands there --------------------------------------------------------------------

    def is_empty(self) -> bool:
        """Whether there is no message."""
        return not self._area.rows

    def last_answer(self) -> AnswerView | None:
        """The newest message, if that is an answer."""
        rows = self._area.rows
        if not rows:
            return None
        rows[-1].wake()
        return rows[-1].live if isinstance(rows[-1].live, AnswerView) else None

    def start_in_thought(self) -> None:
        """Say that the answer under way begins inside a thought that the template opened."""
        answer = self.last_answer()
        if answer is not None:
            answer.start_in_thought()

    def set_think_tok(self, think_tok: int) -> None:
        """Say how many tokens of the newest answer were thought."""
        answer = self.last_answer()
        if answer is not None:
            answer.set_think_tok(think_tok)

    def set_details(self, details: Sequence[Detail]) -> None:
        """Say what the newest answer was made of."""
        answer = self.last_answer()
        if answer is not None:
            answer.set_details(details)

    def set_dropped_text(self, text: str) -> None:
        """Say what the model had to forget to go on with the newest answer."""
        answer = self.last_answer()
        if answer is not None:
            answer.set_dropped_text(text)

    def add(self, record: Record) -> None:
        """Put a message at the end."""
        self._area.add_row(MessageRow(record, self._build))

    def show_all(self, records: Sequence[Record]) -> None:
        """Show these messages and no others; those that stand there already stay.

        Args:
            records: Oldest first; a message is known again by its number.
        """
        kept = self._kept(records)
        if kept < len(self._earlier) or not kept:
            self.clear()
            kept = 0
        else:
            self._area.remove_rows_from(kept - len(self._earlier))
        self._earlier[:] = records[: len(self._earlier)]
        standing = records[len(self._earlier) : kept]
        for row, record in zip(self._area.rows, standing, strict=True):
            row.set_branch(record.branch)
        new = records[kept:]
        if not kept:
            self._earlier = list(new[:-_PIECE_ROWS])
            new = new[-_PIECE_ROWS:]
            if self._earlier:
                self._timer.start()
        if len(new) <= _FEW_ROWS:
            for record in new:
                self.add(record)
        else:
            self._area.add_rows([self._place(record) for record in new])

    def reveal(self, turn_id: int, find: Find) -> None:
        """Bring a message into view and mark words in it, however far up it stands.

        Args:
            turn_id: Number of the message.
            find: Finds the words in a text; they are marked in this message.
        """
        self._reveal.show(turn_id, find)
        if self._is_earlier(turn_id):
            self._timer.start()

    def unmark(self) -> None:
        """Take the marks of ``reveal`` away."""
        self._reveal.clear()

    def clear(self) -> None:
        """Take all messages away."""
        self._earlier = []
        self._area.clear_rows()

    # --- State --------------------------------------------------------------------------------

    def set_can_change(self, *, can_change: bool) -> None:
        """Allow other answers, questions and branches, or not now."""
        self._can_change = can_change
        for row in self._area.rows:
            if row.live is not None:
                row.live.set_can_change(can_change)

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        self._reveal.set_palette(palette)
        for row in self._area.rows:
            if row.live is not None:
                row.live.set_palette(palette)

    # --- What the keys ask for ----------------------------------------------------------------

    def ask_again(self) -> None:
        """Another answer in the place of the newest, if there is one with a number."""
        answer = self.last_answer()
        if self._can_change and answer is not None and answer.turn_id:
            self.again_requested.emit(answer.turn_id)

    def edit_last(self) -> None:
        """Put the newest question otherwise."""
        for row in reversed(self._area.rows):
            if isinstance(row.record, UserRecord):
                row.wake()
                if isinstance(row.live, UserMessage) and row.branch.turn_id:
                    self._area.ensureWidgetVisible(row)
                    row.live.start_edit()
                return

    def step_branch(self, step: int) -> None:
        """Show another branch of the newest message that has several."""
        for row in reversed(self._area.rows):
            branch = row.branch
            if branch.count > 1:
                if self._can_change and 1 <= branch.number + step <= branch.count:
                    self.branch_requested.emit(branch.turn_id, step)
                return

    def _on_stepped(self, number: int, step: int) -> None:
        """Another branch is shown at once; who came by the keyboard stands at its switch again."""
        place = next((i for i, r in enumerate(self._area.rows) if r.branch.turn_id == number), -1)
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self._area.rows[place].isAncestorOf(focus)
        self.branch_requested.emit(number, step)
        if had_focus and place < len(self._area.rows):
            row = self._area.rows[place]
            row.wake()
            if row.live is not None:
                row.live.switch.focus(step)

    # --- Inside -------------------------------------------------------------------------------

    def _kept(self, records: Sequence[Record]) -> int:
        """How many messages from the first on are there already."""
        branches = [record.branch for record in self._earlier]
        branches += [row.branch for row in self._area.rows]
        kept = 0
        for branch, record in zip(branches, records, strict=False):
            if not branch.turn_id or branch.turn_id != record.branch.turn_id:
                break
            kept += 1
        return kept

    def _place(self, record: Record) -> MessageRow:
        return MessageRow(record, self._build, height_px=self._guessed_px(record))

    def _guessed_px(self, record: Record) -> int:
        """About how tall a message will be: a wrong guess only moves the scroll bar."""
        metrics = self._area.fontMetrics()
        width = min(COLUMN_MAX_PX, max(1, self._area.viewport().width()))
        text = record.text
        if isinstance(record, UserRecord):
            text = text[:WHOLE_CHARS]
        lines = text.count("\n") + len(text) * metrics.averageCharWidth() // width + 3
        return lines * metrics.lineSpacing() + 2 * STEP_PX

    def _on_timer_timeout(self) -> None:
        self._put_piece()
        is_looked_for = self._is_earlier(self._reveal.goal)
        if self._earlier and (is_looked_for or len(self._area.rows) < _STANDING_ROWS):
            self._timer.start()
        self._reveal.look()

    def _is_earlier(self, turn_id: int) -> bool:
        return any(record.branch.turn_id == turn_id > 0 for record in self._earlier)

    def _on_top_neared(self) -> None:
        if self._earlier:
            self._timer.start()  # not within the scrolling itself

    def _put_piece(self) -> None:
        piece = self._earlier[-_PIECE_ROWS:]
        del self._earlier[-_PIECE_ROWS:]
        if piece:
            self._area.put_rows_first([self._place(record) for record in piece])

    def _build(self, record: Record) -> Message:
        message: Message
        if isinstance(record, UserRecord):
            message = self._build_question(record)
        else:
            message = self._build_answer(record)
        message.set_can_change(self._can_change)
        message.conversation_copy_requested.connect(self.conversation_copy_requested)
        return message

    def _build_question(self, record: UserRecord) -> UserMessage:
        message = UserMessage(record, self._palette, self._selection)
        number = record.branch.turn_id
        message.edit_sent.connect(lambda text: self.edit_sent.emit(number, text))
        message.switch.stepped.connect(lambda step: self._on_stepped(number, step))
        return message

    def _build_answer(self, record: AnswerRecord) -> AnswerView:
        answer = AnswerView(record, self._palette, self._selection)
        number = record.branch.turn_id
        # What is read or selected is not folded away under the reader's eyes.
        answer.may_fold = lambda: (
            self._area.is_following and not self._selection.has_selection(answer)
        )
        answer.link_activated.connect(self.link_activated)
        # Queued: whoever listens must not work inside a paint event.
        answer.painted.connect(self.first_painted, Qt.ConnectionType.QueuedConnection)
        footer = answer.footer
        footer.continue_requested.connect(self.continue_requested)
        footer.again_requested.connect(lambda: self.again_requested.emit(number))
        footer.switch.stepped.connect(lambda step: self._on_stepped(number, step))
        return answer
