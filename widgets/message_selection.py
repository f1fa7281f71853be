"""One selection across all the texts of a conversation.

Each run of text and each code block is a widget of its own; here a drag, Ctrl+A and Ctrl+C treat
them as one text.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from widgets.message_code import CodeText
from widgets.message_text import TextRun

Part = TextRun | CodeText

_KEEP = QTextCursor.MoveMode.KeepAnchor
_PAGE_KEYS = {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class SelectionGroup(QObject):
    """Watches the parts that were added, in the order in which they stand.

    Signals:
        selected: There is a selection, and it has changed.
        paged: Page up (False) or page down (True) was pressed in a part.
    """

    selected = Signal()
    paged = Signal(bool)

    def __init__(self, parent: QObject) -> None:
        """Create an empty group.

        Args:
            parent: Owner.
        """
        super().__init__(parent)
        self._parts: list[Part] = []
        self._owners: dict[Part, QWidget] = {}
        self._by_watched: dict[QObject, Part] = {}
        self._pressed: Part | None = None

    def add(self, part: Part, owner: QWidget) -> None:
        """Take ``part``, which belongs to the message ``owner``, at the end of the group."""
        self._parts.append(part)
        self._owners[part] = owner
        for watched in (part, part.viewport()):
            self._by_watched[watched] = part
            watched.installEventFilter(self)
        part.selectionChanged.connect(self._on_selection_changed)

    def remove_owner(self, owner: QWidget) -> None:
        """Forget all parts of ``owner`` and of what is within it."""
        gone = self.parts_of(owner)
        for part in gone:
            del self._owners[part]
            for watched in (part, part.viewport()):
                watched.removeEventFilter(self)
                self._by_watched.pop(watched, None)
        self._parts = [part for part in self._parts if part in self._owners]
        if self._pressed in gone:
            self._pressed = None

    def is_dragging(self) -> bool:
        """Whether the mouse is down in one of the parts: text under it should stay."""
        return self._pressed is not None

    def parts_of(self, owner: QWidget) -> list[Part]:
        """The parts of one message, in order, those of what is within it too."""
        return [part for part in self._parts if _is_within(self._owners[part], owner)]

    def has_selection(self, owner: QWidget) -> bool:
        """Whether something in one message is selected."""
        return any(part.textCursor().hasSelection() for part in self.parts_of(owner))

    def selected_text(self) -> str:
        """What is selected, each part on lines of its own."""
        self._sort()
        return "\n".join(p.selected_text() for p in self._parts if p.textCursor().hasSelection())

    def select_all(self, owner: QWidget) -> None:
        """Select one whole message."""
        for part in self._parts:
            if self._owners[part] is owner:
                part.selectAll()
            else:
                _clear(part)

    def copy(self) -> None:
        """Put the selection on the clipboard; without one, leave the clipboard alone."""
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)

    def _sort(self) -> None:
        # A message that was built again has been added at the end.
        self._parts.sort(key=_top)

    def _on_selection_changed(self) -> None:
        if any(part.textCursor().hasSelection() for part in self._parts):
            self.selected.emit()

    # --- Events -------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what concerns more than one part; everything else goes its way."""
        part = self._by_watched.get(watched)
        if part is None:
            return False
        if isinstance(event, QMouseEvent) and watched is not part:
            return self._on_mouse(part, event)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._on_key(part, event)
        return False

    def _on_mouse(self, part: Part, event: QMouseEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonPress:
            if event.button() == Qt.MouseButton.LeftButton:
                self._pressed = part
                self._sort()
                for other in self._parts:
                    if other is not part:
                        _clear(other)
        elif event.type() == QEvent.Type.MouseButtonRelease:
            self._pressed = None
        elif event.type() == QEvent.Type.MouseMove and self._pressed is part:
            return self._drag(part, event.globalPosition().toPoint())
        return False

    def _on_key(self, part: Part, event: QKeyEvent) -> bool:
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all(self._owners[part])
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() in _PAGE_KEYS:
            self.paged.emit(event.key() == Qt.Key.Key_PageDown)
        else:
            return False
        return True

    def _drag(self, start: Part, at: QPoint) -> bool:
        """Extend the selection to ``at`` (global); False while that is inside ``start``."""
        start_index = self._parts.index(start)
        end_index = self._index_at(at, start_index)
        if end_index == start_index:
            for other in self._parts:
                if other is not start:
                    _clear(other)
            return False
        is_down = end_index > start_index
        low, high = sorted((start_index, end_index))
        for index, part in enumerate(self._parts):
            if part is start:
                _extend(part, to_end=is_down)
            elif index == end_index:
                _select_upto(part, at, from_start=is_down)
            elif low < index < high:
                part.selectAll()
            else:
                _clear(part)
        return True

    def _index_at(self, at: QPoint, index: int) -> int:
        """The part nearest to ``at``, searched from part ``index`` on."""
        last = len(self._parts) - 1
        while index < last and at.y() >= _top(self._parts[index + 1]):
            index += 1
        while index > 0 and at.y() < _top(self._parts[index]):
            index -= 1
        return index


def _is_within(inner: QWidget, outer: QWidget) -> bool:
    return inner is outer or outer.isAncestorOf(inner)


def _top(part: Part) -> int:
    return part.mapToGlobal(QPoint(0, 0)).y()


def _clear(part: Part) -> None:
    cursor = part.textCursor()
    if cursor.hasSelection():
        cursor.clearSelection()
        part.setTextCursor(cursor)


def _extend(part: Part, *, to_end: bool) -> None:
    cursor = part.textCursor()
    where = QTextCursor.MoveOperation.End if to_end else QTextCursor.MoveOperation.Start
    cursor.movePosition(where, _KEEP)
    part.setTextCursor(cursor)


def _select_upto(part: Part, at: QPoint, *, from_start: bool) -> None:
    cursor = part.textCursor()
    edge = QTextCursor.MoveOperation.Start if from_start else QTextCursor.MoveOperation.End
    cursor.movePosition(edge)
    target = part.cursorForPosition(part.viewport().mapFromGlobal(at))
    cursor.setPosition(target.position(), _KEEP)
    part.setTextCursor(cursor)
