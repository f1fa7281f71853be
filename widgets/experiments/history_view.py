"""The history of experiments: found by words, kind and tag; opened, compared, deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QMenu,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import DARK, PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.conversation_list_bar import ProblemBar, UndoBar
from widgets.experiments.comparison_sheet import ComparisonSheet
from widgets.experiments.comparison_view import ComparisonView
from widgets.experiments.history_deeds import FORMS
from widgets.experiments.history_details import MOST_NAMED, HistoryDetails
from widgets.experiments.history_entry import EntryList
from widgets.experiments.history_filters import HistoryFilters
from widgets.experiments.history_list import HistoryList
from widgets.experiments.history_message import HistoryMessage
from widgets.experiments.history_model import HistoryModel
from widgets.theme import set_role

# From here on what is picked stands beside the list, not below it.
_BESIDE_FROM_PX = 180 * STEP_PX
_BESIDE_PX = 76 * STEP_PX
# Qt's own word for no bound.
_ANY_WIDTH_PX = 16_777_215
_UNDONE = "undone"


class HistoryView(QFrame):
    """The list of all experiments, newest first, and what can be done with them.

    Keys: Return opens, Del deletes, Ctrl+Z takes the last deletion back, Ctrl+F goes to the search,
    Esc ends it.

    Signals:
        opened: Key of the one to be shown whole.
        new_wanted: Kind (``sweep``) of the experiment that is to be set up.
        searched: Words to look for; empty once the search ends.
        filtered: Kind and tag that are shown alone; empty for all.
        tags_edited: Key, and its tags (tuple of str) as typed.
        note_edited: Key, and its note as typed.
        compare_wanted: Keys of the two, the older one first.
        delete_wanted: Keys (tuple of str); the list shows them no more and offers to take it back.
        restore_wanted: Keys (tuple of str) of deleted ones that are wanted back.
        export_wanted: Keys (tuple of str), and ``csv``, ``json``, ``markdown`` or ``card``.
        resume_wanted: Key of a stopped sweep that is to go on.
        retried: Reading the history anew is wanted.
        looked_at: It is looked at again; others may have written to the history meanwhile.
    """

    opened = Signal(str)
    new_wanted = Signal(str)
    searched = Signal(str)
    filtered = Signal(str, str)
    tags_edited = Signal(str, tuple)
    note_edited = Signal(str, str)
    compare_wanted = Signal(str, str)
    delete_wanted = Signal(tuple)
    restore_wanted = Signal(tuple)
    export_wanted = Signal(tuple, str)
    resume_wanted = Signal(str)
    retried = Signal()
    looked_at = Signal()

    def __init__(
        self, parent: QWidget | None = None, clock_s: Callable[[], float] = time.time
    ) -> None:
        """Make a list that is still being read; ``clock_s`` says what day it is."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("History of experiments")
        self._deleted: tuple[str, ...] = ()
        self._gone: set[str] = set()
        self.colours = DARK
        self.filters = HistoryFilters(self)
        self.model = HistoryModel(self, clock_s)
        self.list = HistoryList(self.model, self)
        self.message = HistoryMessage(self)
        self.details = HistoryDetails(self)
        self.comparison = ComparisonView(self)
        self.problem_bar = ProblemBar(self)
        self.undo_bar = UndoBar(self)
        self._stack = QStackedWidget(self)
        self._screens = QStackedWidget(self)
        self._lay_out()
        self._connect()
        self.setFocusProxy(self.list)
        self.set_palette(DARK)
        self.set_loading()

    # --- What is shown ----------------------------------------------------------------------

    def set_entries(self, entries: EntryList, tags: Sequence[str] = ()) -> None:
        """Show these, in this order; ``tags`` are all that can be chosen from."""
        self.filters.set_tags(tags)
        self._gone = {key for key in self._gone if entries.place_of(key) is not None}
        self._show(entries.without(self._gone))

    def set_loading(self) -> None:
        """The history is being read."""
        self.filters.say_count(None)
        self.message.say_loading()
        self._show_message()

    def set_failed(self, sentence: str) -> None:
        """The history could not be read, as ``sentence`` says."""
        self.filters.say_count(None)
        self.message.say_failed(sentence)
        self._show_message()

    @property
    def is_listed(self) -> bool:
        """Whether experiments are shown."""
        return self._stack.currentIndex() == 0

    def show_comparison(self, sheet: ComparisonSheet) -> None:
        """Show two experiments side by side, with a way back to the list."""
        self.comparison.show_sheet(sheet)
        self._screens.setCurrentWidget(self.comparison)
        self.comparison.back_button.setFocus()

    def show_list(self) -> None:
        """Go back to the list."""
        if self._screens.currentWidget() is self.comparison:
            self._screens.setCurrentIndex(0)
            self.list.setFocus()

    def show_problem(self, sentence: str) -> None:
        """Say that something did not work; the empty string takes that back."""
        self.problem_bar.show_sentence(sentence)

    def show_note(self, sentence: str) -> None:
        """Say something that is good to know."""
        self.problem_bar.show_sentence(sentence, is_problem=False)

    def put_back(self, keys: Iterable[str]) -> None:
        """Show deleted ones again once they are listed: they could not be deleted."""
        self._gone.difference_update(keys)
        self.undo_bar.dismiss()

    def pick(self, keys: Iterable[str]) -> None:
        """Pick these in the list."""
        self.list.pick(keys)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.colours = palette
        self.list.delegate.set_palette(palette)
        self.list.viewport().update()
        for part in (self.filters, self.details, self.problem_bar):
            part.set_palette(palette)

    # --- What Qt says -----------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """The view's keys come before the window's; a window that comes to the front is said."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_end = event.key() == Qt.Key.Key_Escape and self._can_escape()
            if is_end or event.matches(QKeySequence.StandardKey.Find):
                event.accept()
                return True
        if event.type() is QEvent.Type.WindowActivate and self.isVisible():
            self.looked_at.emit()
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Others may have written to the history since, and midnight may have passed."""
        super().showEvent(event)
        self.looked_at.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What is picked stands where there is room for it."""
        super().resizeEvent(event)
        is_beside = self.width() >= _BESIDE_FROM_PX
        way = QBoxLayout.Direction.LeftToRight if is_beside else QBoxLayout.Direction.TopToBottom
        if self._body.direction() != way:
            self._body.setDirection(way)
        self.details.setMaximumWidth(_BESIDE_PX if is_beside else _ANY_WIDTH_PX)
        self.details.setMinimumWidth(_BESIDE_PX if is_beside else 0)
        self.details.arrange(is_tall=is_beside)

    def changeEvent(self, event: QEvent) -> None:
        """Rows are as high as the font makes them."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.list.measure_again()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc goes back, or ends search and filter; Down leaves the search, Ctrl+F goes there."""
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Find):
            self.show_list()
            self.filters.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.filters.search.selectAll()
        elif key == Qt.Key.Key_Escape and self._can_escape():
            self.filters.clear()
        elif key == Qt.Key.Key_Down and self.filters.search.hasFocus():
            self._go_to_list()
        else:
            super().keyPressEvent(event)

    # --- Inside -----------------------------------------------------------------------------

    def _lay_out(self) -> None:
        listing = QWidget(self)
        self._body = QBoxLayout(QBoxLayout.Direction.TopToBottom, listing)
        self._body.setContentsMargins(0, 0, 0, 0)
        self._body.setSpacing(PANEL_GAP_PX)
        self._body.addWidget(self.list, 1)
        self._body.addWidget(self.details)
        self._stack.addWidget(listing)
        self._stack.addWidget(self.message)
        first = QWidget(self)
        column = QVBoxLayout(first)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addWidget(self.filters)
        column.addWidget(self._stack, 1)
        self._screens.addWidget(first)
        self._screens.addWidget(self.comparison)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(self._screens, 1)
        layout.addWidget(self.problem_bar)
        layout.addWidget(self.undo_bar)

    def _connect(self) -> None:
        filters, deeds = self.filters, self.details.deeds
        filters.searched.connect(self.searched)
        filters.filtered.connect(self.filtered)
        filters.new_wanted.connect(self.new_wanted)
        filters.search.returnPressed.connect(self._on_search_entered)
        self.message.new_wanted.connect(self.new_wanted)
        self.message.retried.connect(self.retried)
        self.message.cleared.connect(filters.clear)
        self.list.open_asked.connect(self.opened)
        self.list.delete_asked.connect(self._on_delete_asked)
        self.list.undo_asked.connect(self.undo_bar.undo)
        self.list.menu_asked.connect(self._on_menu_asked)
        self.list.picked.connect(self._on_picked)
        self.details.tags_edited.connect(self.tags_edited)
        self.details.note_edited.connect(self.note_edited)
        deeds.open_asked.connect(self._on_open_asked)
        deeds.compare_asked.connect(self._on_compare_asked)
        deeds.resume_asked.connect(self._on_resume_asked)
        deeds.export_asked.connect(self._on_export_asked)
        deeds.delete_asked.connect(self._on_delete_asked)
        self.comparison.closed.connect(self.show_list)
        self.comparison.opened.connect(self.opened)
        self.undo_bar.undone.connect(self._on_undone)

    def _show(self, entries: EntryList) -> None:
        """Show these, with the same ones picked at the same place."""
        self.list.keep_place(lambda: self.model.show(entries))
        self.filters.say_count(len(entries))
        if len(entries):
            self._stack.setCurrentIndex(0)
            return
        if self.filters.is_narrowed:
            self.message.say_none_found()
        else:
            self.message.say_empty()
        self._show_message()

    def _show_message(self) -> None:
        self._stack.setCurrentWidget(self.message)

    def _can_escape(self) -> bool:
        return self._screens.currentIndex() == 0 and self.filters.is_narrowed

    def _go_to_list(self) -> None:
        if self.is_listed:
            self.list.setFocus(Qt.FocusReason.TabFocusReason)

    # --- What is asked for ------------------------------------------------------------------

    def _on_search_entered(self) -> None:
        self.filters.search_now()
        self._go_to_list()

    def _on_picked(self) -> None:
        self.details.show_picked(self.list.picked_entries(MOST_NAMED), self.list.picked_count())

    def _on_open_asked(self) -> None:
        for key in self.list.picked_keys()[:1]:
            self.opened.emit(key)

    def _on_compare_asked(self) -> None:
        keys = self.list.picked_keys()
        if len(keys) == 2:
            newer, older = keys
            self.compare_wanted.emit(older, newer)

    def _on_resume_asked(self) -> None:
        for key in self.list.picked_keys()[:1]:
            self.resume_wanted.emit(key)

    def _on_export_asked(self, form: str) -> None:
        self.details.keep()
        if keys := self.list.picked_keys():
            self.export_wanted.emit(keys, form)

    def _on_delete_asked(self) -> None:
        self.details.keep()
        keys = self.list.picked_keys()
        if not keys:
            return
        first = self.list.picked_entries(1)[0].title
        words = f"Deleted “{first}”" if len(keys) == 1 else f"Deleted {len(keys):,} experiments"
        self._deleted = keys
        self._gone.update(keys)
        self._show(self.model.entries.without(keys))
        self.undo_bar.offer(_UNDONE, words)
        self.delete_wanted.emit(keys)

    def _on_undone(self, _: str) -> None:
        keys, self._deleted = self._deleted, ()
        self._gone.difference_update(keys)
        self.list.setFocus()
        self.restore_wanted.emit(keys)

    def _on_menu_asked(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        deeds = self.details.deeds
        for words, keys, button in (
            ("Open", "Return", deeds.open_button),
            ("Compare", "", deeds.compare_button),
            ("Go on", "", deeds.resume_button),
        ):
            action = menu.addAction(words, button.click)
            action.setEnabled(button.isEnabled())
            if keys:
                action.setShortcut(QKeySequence(keys))
                action.setShortcutVisibleInContextMenu(True)
        menu.addSeparator()
        for form, words in FORMS:
            export = menu.addAction(f"Export as {words}")
            export.triggered.connect(lambda _=False, form=form: self._on_export_asked(form))
        menu.addSeparator()
        delete = menu.addAction("Delete", self._on_delete_asked)
        delete.setShortcut(QKeySequence("Del"))
        delete.setShortcutVisibleInContextMenu(True)
        menu.popup(at)
