"""One conversation: messages, what is under way, and where the next message is written.

Holds the view only. Who sends, what the model sees and when an answer ends is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from resources.tokens import DARK, STEP_PX, Palette
from widgets.chat_activity import ActivityLine
from widgets.chat_empty import EmptyConversation
from widgets.chat_header import ConversationHeader
from widgets.chat_rows import ChatRows
from widgets.chat_scroll import ConversationScroll, column_margin
from widgets.composer import Composer, Draft, draft_of
from widgets.file_drop import FileDrop
from widgets.message_notice import NoticeView
from widgets.message_record import ALONE, AnswerRecord, Branch, Record, UserRecord, user_name
from widgets.message_selection import SelectionGroup


class ChatView(QWidget):
    """A conversation with its composer.

    Signals:
        sent: The text of a message; the owner adds it with ``add_user_message``.
        stop_requested: Esc or the stop button, while an answer is under way.
        continue_requested: Go on where the last answer stopped; ``begin_answer`` then resumes it.
        retry_requested: Try again after a failure; ``begin_answer`` then resumes the last answer.
        repair_requested: The repair that a failure offers is wanted.
        link_activated: A web address (http or https) that was clicked; nothing was opened.
        first_painted: ``time.perf_counter_ns()`` (int) after the first paint that showed text of an
            answer; not for an answer that began out of sight.
        draft_changed: What would be sent has changed.
        system_prompt_changed: The system prompt was edited.
        activity_changed: An answer began, waits in the queue at another place, or ended.
        again_requested: Number of an answer: another one is wanted in its place.
        edit_sent: Number of a question, the text that should stand in its place.
        branch_requested: Number of a message, -1 for the branch before it or 1 for the one after.
        conversation_copy_requested: The whole conversation is wanted on the clipboard.
        attach_requested: Files are to be chosen for the draft.
        files_dropped: Paths (list of str) of files dropped or pasted here; nothing was read.
    """

    sent = Signal(str)
    stop_requested = Signal()
    continue_requested = Signal()
    retry_requested = Signal()
    repair_requested = Signal()
    link_activated = Signal(str)
    first_painted = Signal(object)
    draft_changed = Signal()
    system_prompt_changed = Signal()
    activity_changed = Signal()
    again_requested = Signal(int)
    edit_sent = Signal(int, str)
    branch_requested = Signal(int, int)
    conversation_copy_requested = Signal()
    attach_requested = Signal()
    files_dropped = Signal(object)

    def __init__(self, palette: Palette = DARK, parent: QWidget | None = None) -> None:
        """Create an empty conversation.

        Args:
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._palette = palette
        self._notice: NoticeView | None = None
        self._is_completion = False
        self._is_resuming = False
        self._reason: str | None = None
        self.setAccessibleName("Conversation")
        self._selection = SelectionGroup(self)
        self.header = ConversationHeader(palette)
        self.empty = EmptyConversation()
        self.messages_area = ConversationScroll(self._selection)
        self.rows = ChatRows(self.messages_area, self._selection, palette, self)
        self._activity = ActivityLine()
        self.composer = Composer(palette)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.messages_area)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * STEP_PX)
        for widget in (self.header, self._stack, self._activity, self.composer):
            layout.addWidget(widget, 1 if widget is self._stack else 0)
        self._stop_shortcut = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        self._stop_shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._stop_shortcut.activated.connect(self._on_escape)
        self._connect()
        self.set_mode(is_completion=False, note="")

    def _connect(self) -> None:
        drop = FileDrop(self)
        drop.dropped.connect(self.files_dropped)
        drop.hovered.connect(
            lambda is_over: self.composer.show_note("Drop to attach" if is_over else "")
        )
        self.composer.sent.connect(self._on_sent)
        self.composer.stop_requested.connect(self.stop_requested)
        self.composer.draft_changed.connect(self.draft_changed)
        self.composer.attach_requested.connect(self.attach_requested)
        self.composer.files_pasted.connect(self.files_dropped)
        self.composer.paged.connect(lambda is_down: self.messages_area.page(is_down=is_down))
        self.header.system_prompt_changed.connect(self.system_prompt_changed)
        self.empty.prompt_chosen.connect(self._on_prompt_chosen)
        self._selection.selected.connect(self.messages_area.stop_following)
        self._selection.paged.connect(lambda is_down: self.messages_area.page(is_down=is_down))
        rows = self.rows
        rows.link_activated.connect(self.link_activated)
        rows.first_painted.connect(self.first_painted)
        rows.continue_requested.connect(self.ask_to_continue)
        rows.again_requested.connect(self.again_requested)
        rows.edit_sent.connect(self.edit_sent)
        rows.branch_requested.connect(self.branch_requested)
        rows.conversation_copy_requested.connect(self.conversation_copy_requested)

    # --- Messages -----------------------------------------------------------------------------

    def add_user_message(self, text: str, branch: Branch = ALONE) -> None:
        """Show what the user said and go to the end.

        Args:
            text: Any length.
            branch: Which of the questions in this place; without one it cannot be changed.
        """
        self._clear_notice()
        self._offer_nothing()
        self._add(UserRecord(user_name(is_completion=self._is_completion), text, branch))
        self.messages_area.jump_to_end()

    def begin_answer(self, model_name: str, branch: Branch = ALONE) -> None:
        """Show that ``model_name`` answers, or goes on after continue or retry was asked for.

        Args:
            model_name: Who answers.
            branch: Which of the answers in this place; the number of the last one resumes it.
        """
        self._clear_notice()
        last = self.rows.last_answer()
        is_same = last is not None and last.turn_id == branch.turn_id > 0
        if last is not None and (self._is_resuming or is_same):
            last.set_branch(branch)
            last.resume()
        else:
            self._offer_nothing()
            self._add(AnswerRecord(model_name, branch=branch, is_plain=self._is_completion))
        self._is_resuming = False
        self._show_activity()

    def show_turns(self, records: Sequence[Record], *, stays: bool = False) -> None:
        """Show a whole conversation, or another branch of it.

        What stands there already stays; the rest is built when it comes near the viewport.

        Args:
            records: Oldest first; a message is known again by the number of its branch.
            stays: What is in view stays there, else the end is shown.
        """
        self._clear_notice()
        self._is_resuming = False
        self.set_can_continue(False)
        if stays:
            self.messages_area.stop_following()
        self.rows.show_all(records)
        self._show_page(self.messages_area if records else self.empty)
        if not stays:
            self.messages_area.jump_to_end()
        self._show_activity()

    def append_text(self, text: str) -> None:
        """Add text to the answer under way; costs next to nothing, painting comes by a timer.

        Args:
            text: Complete characters.

        Raises:
            RuntimeError: If no answer is under way.
        """
        answer = self.rows.last_answer()
        if answer is None or not answer.is_streaming:
            raise RuntimeError("Text came for a conversation in which no answer is under way.")
        answer.append(text)

    def finish_answer(self, figures_text: str, reason_text: str | None, is_warning: bool) -> None:
        """End the answer under way.

        Args:
            figures_text: What it cost, one line.
            reason_text: Why it ended, or None where that needs no word.
            is_warning: The reason needs a person.
        """
        answer = self.rows.last_answer()
        if answer is not None and answer.is_streaming:
            answer.finish(figures_text, reason_text, is_warning=is_warning)
        self._activity.queue_position = None
        self._show_activity()

    def set_can_continue(self, can_continue: bool) -> None:
        """Offer to go on with the last answer: it was cut short and there is room."""
        answer = self.rows.last_answer()
        if answer is not None:
            answer.footer.set_can_continue(can_continue)

    def set_error(self, sentence: str, *, can_retry: bool = True, repair_text: str = "") -> None:
        """Show in the conversation what went wrong, why and what to do.

        Args:
            sentence: For the user; an answer under way is over.
            can_retry: Offer to try the same again.
            repair_text: Words of a button that repairs the cause; empty for none.
        """
        self._clear_notice()
        if self.is_streaming:
            self.finish_answer("", None, False)
        self._notice = NoticeView(sentence, can_retry=can_retry, repair_text=repair_text)
        self._show_reason()
        self._notice.retry_requested.connect(self._on_retry)
        self._notice.repair_requested.connect(self.repair_requested)
        self.messages_area.add(self._notice)
        QWidget.setTabOrder(self._notice.repair_button, self._notice.retry_button)
        self._order_focus(self._notice.retry_button)
        self._show_page(self.messages_area)

    def clear(self) -> None:
        """Take all messages away; the draft and the system prompt stay."""
        self._clear_notice()
        self.rows.clear()
        self._activity.queue_position = None
        self._show_page(self.empty)
        self._show_activity()

    # --- State --------------------------------------------------------------------------------

    @property
    def is_streaming(self) -> bool:
        """Whether an answer is under way."""
        answer = self.rows.last_answer()
        return answer is not None and answer.is_streaming

    @property
    def queue_position(self) -> int | None:
        """Place in the queue for a slot, 1 is next; None when not waiting."""
        return self._activity.queue_position

    def set_queued(self, position: int | None) -> None:
        """Say that the message waits for a slot.

        Args:
            position: 1 is next; None when it waits no longer.
        """
        self._activity.queue_position = position
        self._show_activity()

    def set_reading(self, words: str) -> None:
        """Say how far the prompt is read; empty for nothing. Called ten times a second."""
        if words != self._activity.reading:
            self._activity.reading = words
            self._show_waiting()

    def set_mode(self, is_completion: bool, note: str) -> None:
        """Chat, or text completion with a base model.

        Args:
            is_completion: There is no chat template: no system prompt, no turns.
            note: What to say about it above the conversation; empty for nothing.
        """
        self._is_completion = is_completion
        self.header.set_mode(is_completion=is_completion, note=note)
        self.empty.set_completion(is_completion=is_completion)
        self.composer.set_placeholder("Begin a text…" if is_completion else "Ask something…")

    def set_enabled_reason(self, reason: str | None) -> None:
        """Say why nothing can be sent and what to do, or allow sending with None."""
        self._reason = reason
        self.empty.set_reason(reason)
        self._show_reason()
        self._show_can_change()

    def set_palette(self, palette: Palette) -> None:
        """Change colours of everything that is painted by hand or was rendered."""
        self._palette = palette
        self.header.set_palette(palette)
        self.composer.set_palette(palette)
        self.rows.set_palette(palette)

    def system_prompt(self) -> str:
        """The system prompt; empty for none and in completion mode."""
        return self.header.system_prompt()

    def set_system_prompt(self, text: str) -> None:
        """Put ``text`` into the system prompt's editor."""
        self.header.set_system_prompt(text)

    def draft(self) -> str:
        """The message that would be sent now."""
        return self.composer.draft().text()

    def set_draft_text(self, text: str) -> bool:
        """Put ``text`` into the composer if that is empty, long text folded; tell whether."""
        return self.composer.set_draft_text(text)

    def submit(self, text: str) -> None:
        """Send ``text`` as if it had been typed; ``sent`` follows unless sending is impossible."""
        self.composer.set_draft(draft_of(text))
        self.composer.submit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep all in the column of the text."""
        super().resizeEvent(event)
        side = column_margin(self.width())
        for widget in (self.header, self.composer, self._activity):
            widget.setContentsMargins(side, 0, side, 0)

    # --- Inside -------------------------------------------------------------------------------

    def _add(self, record: Record) -> None:
        self._show_page(self.messages_area)
        self.rows.add(record)
        answer = self.rows.last_answer()
        if answer is not None:
            self._order_focus(answer.footer.copy_button)

    def _order_focus(self, last: QWidget) -> None:
        """Let the composer follow ``last``, so that Shift+Tab leads back to the newest message."""
        QWidget.setTabOrder(last, self.composer.editor)
        QWidget.setTabOrder(self.composer.editor, self.composer.attach_button)
        QWidget.setTabOrder(self.composer.attach_button, self.composer.button)

    def _show_page(self, page: QWidget) -> None:
        if self._stack.currentWidget() is not page:
            self._stack.setCurrentWidget(page)
            self.set_enabled_reason(self._reason)

    def _show_reason(self) -> None:
        """A notice with its way on, or the empty page, says what the composer would say too."""
        is_said = self._notice is not None or self._stack.currentWidget() is self.empty
        self.composer.set_reason(self._reason, is_said_elsewhere=is_said)

    def _offer_nothing(self) -> None:
        self.set_can_continue(False)
        self._is_resuming = False

    def _clear_notice(self) -> None:
        if self._notice is not None:
            self.messages_area.remove(self._notice)
            self._notice = None
            self._show_reason()

    def _show_activity(self) -> None:
        self._show_waiting()
        self.composer.set_busy(self._is_busy())
        self._show_can_change()
        self.activity_changed.emit()

    def _show_waiting(self) -> None:
        words = self._activity.words()
        answer = self.rows.last_answer()
        if answer is not None and answer.is_streaming:
            answer.set_waiting(words)
            words = words if answer.has_text else ""  # an answer with text has no place for it
        self._activity.show_words(words)

    def _is_busy(self) -> bool:
        return self.is_streaming or self.queue_position is not None

    def _show_can_change(self) -> None:
        self.rows.set_can_change(can_change=not self._is_busy() and self._reason is None)

    # --- Events -------------------------------------------------------------------------------

    def _on_sent(self, text: str) -> None:
        self._is_resuming = False
        self.sent.emit(text)

    def ask_to_continue(self) -> None:
        """Ask to go on where the last answer stopped, as its button does."""
        self._is_resuming = True
        self.continue_requested.emit()

    def _on_retry(self) -> None:
        self._is_resuming = True
        self.retry_requested.emit()

    def _on_escape(self) -> None:
        if self._is_busy():
            self.stop_requested.emit()

    def _on_prompt_chosen(self, text: str) -> None:
        self.composer.set_draft(Draft(text))
        self.composer.editor.setFocus()
