"""The scrolling rows of the conversation list, and what keys and mouse ask for there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from widgets.conversation_list_delegate import ConversationDelegate
from widgets.conversation_list_model import ConversationListModel
from widgets.painted_rows import set_up_painted_rows, takes_key

_OWN_KEYS = (
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Delete,
    Qt.Key.Key_Backspace,
    Qt.Key.Key_F2,
)


class ConversationListView(QListView):
    """The rows of a ``ConversationListModel``.

    Signals:
        open_asked: Id of a conversation.
        delete_asked: Id of a conversation.
        undo_asked: The last deletion is to be taken back.
        menu_asked: Id of a conversation, and where on the screen its menu belongs.
        edit_ended: A title is no longer being typed.
    """

    open_asked = Signal(str)
    delete_asked = Signal(str)
    undo_asked = Signal()
    menu_asked = Signal(str, QPoint)
    edit_ended = Signal()

    def __init__(self, model: ConversationListModel, parent: QWidget) -> None:
        """Show ``model``."""
        super().__init__(parent)
        self._list = model
        self.rows = ConversationDelegate(model, self)
        self.setModel(model)
        self.setItemDelegate(self.rows)
        set_up_painted_rows(self)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setAccessibleName("Conversations")
        self.setAccessibleDescription(
            "Return opens, F2 renames, Delete deletes, Ctrl+Z takes that back."
        )
        self.doubleClicked.connect(self._on_double_clicked)

    @property
    def is_editing(self) -> bool:
        """Whether a title is being typed."""
        return self.state() is QAbstractItemView.State.EditingState

    def keep_place(self, change: Callable[[], None]) -> None:
        """Change the rows; what is current and what is in sight stays so."""
        before = self.currentIndex()
        row = self._list.conversation_at(before)
        at, scrolled_px = before.row(), self.verticalScrollBar().value()
        change()
        if row is None:
            return
        index = self._list.place_of(row.id)
        self.setCurrentIndex(index if index.isValid() else self._list.nearest(max(0, at)))
        self.verticalScrollBar().setValue(scrolled_px)

    def measure_again(self) -> None:
        """The font changed."""
        self.rows.forget_sizes()
        self.doItemsLayout()

    def event(self, event: QEvent) -> bool:
        """In here the list's keys come before shortcuts of the whole window."""
        return takes_key(event, _OWN_KEYS, (QKeySequence.StandardKey.Undo,)) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of the list; everything else is Qt's."""
        if self.is_editing:
            # The Return that ends the typing of a title comes here too: it opens nothing.
            super().keyPressEvent(event)
            return
        row = self._list.conversation_at(self.currentIndex())
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_asked.emit()
        elif row is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_asked.emit(row.id)
        elif row is not None and key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_asked.emit(row.id)
        elif key == Qt.Key.Key_Escape or event.matches(QKeySequence.StandardKey.Find):
            event.ignore()  # the panel's
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu of the row under the mouse, or by key of the current one."""
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        row = self._list.conversation_at(index)
        if row is not None:
            self.setCurrentIndex(index)
            at = self.visualRect(index).bottomLeft() if by_key else event.pos()
            self.menu_asked.emit(row.id, self.viewport().mapToGlobal(at))

    def closeEditor(self, editor: QWidget, hint: object) -> None:
        """The title is kept or left as it was."""
        super().closeEditor(editor, hint)  # type: ignore[arg-type]
        self.edit_ended.emit()

    def _on_double_clicked(self, index: QModelIndex) -> None:
        row = self._list.conversation_at(index)
        if row is not None:
            self.open_asked.emit(row.id)
