"""The panel of all kept conversations: found by day or by words, opened, renamed, deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import DARK, PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.conversation_list_bar import ProblemBar, UndoBar
from widgets.conversation_list_model import ConversationListModel, ListedConversation
from widgets.conversation_list_view import ConversationListView
from widgets.theme import set_role

# Typing goes on within this time; a search through all conversations may cost a while.
_SEARCH_DELAY_MS = 180
_EMPTY = "No conversations yet. What you ask and what is answered is kept here."
_LOADING = "Reading the conversations…"


class ConversationList(QFrame):
    """Every kept conversation, newest first.

    Keys in the list: Return opens, F2 renames, Del deletes, Ctrl+Z takes the last deletion back,
    Ctrl+F goes to the search, Esc ends it.

    Signals:
        conversation_opened: Id of the one to be brought to the front.
        conversation_renamed: Id and title; an empty title takes the first words again.
        conversation_deleted: Id; the list shows it no more and offers to take that back.
        delete_undone: Id of a deleted one that is wanted back.
        conversation_duplicated: Id of the one of which a copy is wanted.
        export_chosen: Id, and ``markdown`` or ``json``.
        words_searched: Words to look for (answer with ``show_hits``); empty once the search ends.
        retried: Reading the list anew is wanted after it failed.
    """

    conversation_opened = Signal(str)
    conversation_renamed = Signal(str, str)
    conversation_deleted = Signal(str)
    delete_undone = Signal(str)
    conversation_duplicated = Signal(str)
    export_chosen = Signal(str, str)
    words_searched = Signal(str)
    retried = Signal()

    def __init__(
        self, parent: QWidget | None = None, clock_s: Callable[[], float] = time.time
    ) -> None:
        """Make a list that is still being read; ``clock_s`` says what day it is."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("Conversations")
        self._entries: dict[str, ListedConversation] | None = None
        self._hits: list[ListedConversation] | None = None
        self._waiting: Callable[[], None] | None = None
        self._gone: set[str] = set()
        self._brought_back = ""
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search conversations")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Search conversations")
        self.search.setAccessibleDescription("Down goes to the results, Escape clears the search.")
        self.count_label = QLabel(self)
        set_role(self.count_label, "hint")
        self.model = ConversationListModel(self, clock_s)
        self.view = ConversationListView(self.model, self)
        self._message = QLabel(self)
        self._message.setWordWrap(True)
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._message.setMinimumWidth(1)
        set_role(self._message, "muted")
        self.retry_button = QPushButton("Try again", self)
        self.undo_bar = UndoBar(self)
        self.problem_bar = ProblemBar(self)
        self._stack = QStackedWidget(self)
        self._search_timer = QTimer(self, singleShot=True, interval=_SEARCH_DELAY_MS)
        self._lay_out()
        self._connect()
        self.set_palette(DARK)
        self.set_loading()

    # --- What is shown ----------------------------------------------------------------------

    def set_entries(self, entries: Sequence[ListedConversation]) -> None:
        """Show these; while a title is typed or a search is on they wait for its end."""
        self._entries = {entry.id: entry for entry in entries}
        self._gone &= self._entries.keys()
        self._refresh()

    def update_entry(self, entry: ListedConversation) -> None:
        """Show ``entry`` in the place of its older self, or as a new one.

        Cheap where it stays where it is: it may come every second while an answer is written.
        """
        if self._entries is None:
            return
        self._entries[entry.id] = entry
        is_plain = not (self.words() or self.view.is_editing)
        if not (is_plain and self.model.exchange(entry)):
            self._refresh()

    def show_hits(self, words: str, hits: Sequence[ListedConversation]) -> None:
        """Show what a search for ``words`` found, best first; older searches are passed over."""
        if words == self.words():
            self._hits = list(hits)
            self._refresh()

    def set_loading(self) -> None:
        """The conversations are being read."""
        self._entries = None
        self._show_message(_LOADING)

    def set_failed(self, sentence: str, *, can_retry: bool = True) -> None:
        """The conversations could not be read, as ``sentence`` says."""
        self._entries = None
        self._show_message(sentence, can_retry=can_retry)

    def set_open(self, conversation_ids: Iterable[str]) -> None:
        """Mark those that are open in a tab."""
        self.model.set_open(conversation_ids)

    def set_streaming(self, conversation_ids: Iterable[str]) -> None:
        """Mark those in which an answer is being written."""
        self.model.set_streaming(conversation_ids)

    def show_problem(self, sentence: str) -> None:
        """Say that something did not work; the empty string takes that back."""
        self.problem_bar.show_sentence(sentence)

    def show_note(self, sentence: str) -> None:
        """Say something that is good to know, in the place of a problem."""
        self.problem_bar.show_sentence(sentence, is_problem=False)

    def put_back(self, conversation_id: str) -> None:
        """Show a deleted conversation again: it could not be deleted, or that was undone."""
        self._gone.discard(conversation_id)
        self.undo_bar.dismiss()
        self._refresh()

    def select(self, conversation_id: str) -> None:
        """Make a conversation the current one, if it is in the list."""
        index = self.model.place_of(conversation_id)
        if index.isValid():
            self.view.setCurrentIndex(index)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.view.rows.set_palette(palette)
        self.problem_bar.set_palette(palette)
        self.view.viewport().update()

    def rename(self, conversation_id: str) -> None:
        """Let the title of a conversation be typed anew."""
        self._edit(conversation_id)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation as if it had been asked for in the list; it can be undone there."""
        self._on_deleted(conversation_id)

    def words(self) -> str:
        """What is searched for; empty without a search."""
        return " ".join(self.search.text().split())

    def message(self) -> str:
        """What stands in place of the list; empty while there is a list."""
        return self._message.text() if self._stack.currentIndex() else ""

    def go_to_search(self) -> None:
        """Go to the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    # --- What Qt says -----------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Midnight may have passed since."""
        super().showEvent(event)
        self._refresh()

    def changeEvent(self, event: QEvent) -> None:
        """Rows are as high as the font makes them."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.view.measure_again()

    def event(self, event: QEvent) -> bool:
        """In here the panel's keys come before shortcuts of the whole window."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_end = event.key() == Qt.Key.Key_Escape and bool(self.search.text())
            if is_end or event.matches(QKeySequence.StandardKey.Find):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc ends a search, Down leaves its field, Ctrl+F goes there."""
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Find):
            self.go_to_search()
        elif key == Qt.Key.Key_Escape and self.search.text():
            self.search.clear()
            self.search.setFocus()
        elif key == Qt.Key.Key_Down and self.search.hasFocus():
            self._go_to_list()
        else:
            super().keyPressEvent(event)

    # --- Inside -----------------------------------------------------------------------------

    def _lay_out(self) -> None:
        message = QWidget(self)
        column = QVBoxLayout(message)
        column.setContentsMargins(2 * STEP_PX, 6 * STEP_PX, 2 * STEP_PX, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addWidget(self._message)
        column.addWidget(self.retry_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self._stack.addWidget(self.view)
        self._stack.addWidget(message)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PANEL_GAP_PX, PANEL_PADDING_PX, PANEL_GAP_PX, PANEL_GAP_PX)
        layout.setSpacing(STEP_PX)
        layout.addWidget(self.search)
        layout.addWidget(self.count_label)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.problem_bar)
        layout.addWidget(self.undo_bar)
        self.count_label.setContentsMargins(STEP_PX, 0, STEP_PX, 0)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._on_search_changed)
        self.search.returnPressed.connect(self._on_search_entered)
        self._search_timer.timeout.connect(lambda: self.words_searched.emit(self.words()))
        self.retry_button.clicked.connect(self.retried)
        self.model.conversation_renamed.connect(self._on_renamed)
        self.view.open_asked.connect(self._on_opened)
        self.view.delete_asked.connect(self._on_deleted)
        self.view.undo_asked.connect(self.undo_bar.undo)
        self.view.menu_asked.connect(self._on_menu_asked)
        self.view.edit_ended.connect(self._on_edit_ended)
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        self.undo_bar.undone.connect(self._on_undone)

    def _refresh(self) -> None:
        """Show what there is now, with the same row selected at the same place."""
        if self.view.is_editing:
            self._waiting = self._refresh
            return
        if self._entries is None:
            return
        is_search = bool(self.words())
        hits = _named(self._hits, self._entries) if is_search and self._hits is not None else None
        source = self._entries.values() if hits is None else hits
        rows = [row for row in source if row.id not in self._gone]
        wanted = self._brought_back
        self.view.keep_place(lambda: self.model.show(rows, by_day=not is_search))
        if wanted:
            self.select(wanted)
            self._brought_back = wanted
        self._say_count(len(rows), is_search=is_search)
        if rows:
            self._stack.setCurrentIndex(0)
        elif is_search and self._hits is not None:
            self._show_message("No conversation has these words. Esc clears the search.")
        elif not is_search:
            self._show_message(_EMPTY)

    def _say_count(self, count: int, *, is_search: bool) -> None:
        if is_search and self._hits is None:
            self.count_label.setText("Searching…")
            return
        if not count:  # said in the middle of the panel
            self.count_label.setText("")
            return
        noun = "conversation" if count == 1 else "conversations"
        have = " has these words" if count == 1 else " have these words"
        self.count_label.setText(f"{count:,} {noun}{have if is_search else ''}")

    def _show_message(self, words: str, *, can_retry: bool = False) -> None:
        self._message.setText(words)
        self._message.setAccessibleName(words)
        self.retry_button.setVisible(can_retry)
        set_role(self._message, "warning" if can_retry else "muted")
        if self._entries is None:
            self.count_label.setText("")
        self._stack.setCurrentIndex(1)

    def _on_search_changed(self) -> None:
        self._search_timer.stop()
        if self.words():
            self._search_timer.start()
            if self._entries is not None and self._hits is None:
                self.count_label.setText("Searching…")
            return
        was_search, self._hits = self._hits is not None, None
        if was_search:
            self.words_searched.emit("")
        self._refresh()

    def _on_search_entered(self) -> None:
        """Return searches at once; where the hits are there already it goes to them."""
        if self._search_timer.isActive():
            self._search_timer.stop()
            self.words_searched.emit(self.words())
        elif self._hits:
            self._go_to_list()

    def _go_to_list(self) -> None:
        if not self.view.currentIndex().isValid():
            self.view.setCurrentIndex(self.model.nearest(0))
        self.view.setFocus(Qt.FocusReason.TabFocusReason)

    def _on_opened(self, conversation_id: str) -> None:
        self.undo_bar.dismiss()
        self.conversation_opened.emit(conversation_id)

    def _on_renamed(self, conversation_id: str, title: str) -> None:
        self.undo_bar.dismiss()
        if title and self._entries is not None and conversation_id in self._entries:
            # Shown at once; what was kept follows as data.
            self.update_entry(replace(self._entries[conversation_id], title=title))
        self.conversation_renamed.emit(conversation_id, title)

    def _on_deleted(self, conversation_id: str) -> None:
        row = self.model.conversation_at(self.model.place_of(conversation_id))
        if row is None:
            return
        self._gone.add(conversation_id)
        self._refresh()
        self.undo_bar.show_deleted(conversation_id, row.title)
        self.conversation_deleted.emit(conversation_id)

    def _on_undone(self, conversation_id: str) -> None:
        self._gone.discard(conversation_id)
        # Selected as often as the list is read anew, until another one is: the next reading may be
        # of a moment before.
        self._brought_back = conversation_id
        self._refresh()
        self.view.setFocus()
        self.delete_undone.emit(conversation_id)

    def _on_current_changed(self) -> None:
        self._brought_back = ""

    def _on_edit_ended(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting()

    def _on_menu_asked(self, conversation_id: str, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for words, keys, slot in self._deeds(conversation_id):
            action = menu.addAction(words)
            action.triggered.connect(slot)
            if keys:
                action.setShortcut(QKeySequence(keys))
                action.setShortcutVisibleInContextMenu(True)
        menu.insertSeparator(menu.actions()[-1])
        menu.popup(at)

    def _deeds(self, conversation_id: str) -> tuple[tuple[str, str, Callable[[], None]], ...]:
        """What can be done with a conversation: words, keys, and what does it."""
        emit = self.export_chosen.emit
        return (
            ("Open", "Return", lambda: self._on_opened(conversation_id)),
            ("Rename", "F2", lambda: self._edit(conversation_id)),
            ("Duplicate", "", lambda: self.conversation_duplicated.emit(conversation_id)),
            ("Export as Markdown…", "", lambda: emit(conversation_id, "markdown")),
            ("Export as JSON…", "", lambda: emit(conversation_id, "json")),
            ("Delete", "Del", lambda: self._on_deleted(conversation_id)),
        )

    def _edit(self, conversation_id: str) -> None:
        index = self.model.place_of(conversation_id)
        if index.isValid():
            self.view.setCurrentIndex(index)
            self.view.edit(index)


def _named(
    hits: Sequence[ListedConversation], entries: Mapping[str, ListedConversation]
) -> list[ListedConversation]:
    """Hits of a search by the names of now."""
    return [replace(hit, title=entries.get(hit.id, hit).title) for hit in hits]
