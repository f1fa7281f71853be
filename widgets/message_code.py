"""A fenced code block: monospace, left to right, unwrapped, with its language and a copy button."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import (
    QPaintEvent,
    QTextBlock,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import STEP_PX, Palette
from widgets.markdown_bidi import with_marks_shown
from widgets.message_copy import CopyButton
from widgets.message_text import paint_caret, stamp
from widgets.theme import mono_font

# Qt shapes a whole line whenever it changes: 200,000 characters in one would hold up the window.
MAX_LINE_CHARS = 2000
_CONTINUES = 1
"""Block state: the line goes on from the one before; only the view broke it."""
_INDENT_PX_PER_COLUMN = 6


class CodeText(QPlainTextEdit):
    """The code itself, as tall as it is.

    Signals: as those of ``TextRun`` of the same names.
    """

    painted = Signal(object)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        """Create an empty text.

        Args:
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._palette = palette
        self._column = 0
        self._settled_blocks = 0
        self._settled_height = 0.0
        self._has_caret = False
        self._is_awaited = False
        self._is_fitting = False
        self.setProperty("role", "bare")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(mono_font(self.font()))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the message has one
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        self.document().setDefaultTextOption(option)
        self.document().setDocumentMargin(0)
        self.horizontalScrollBar().rangeChanged.connect(self.fit_height)
        self.fit_height()

    def append_code(self, text: str) -> None:
        """Add ``text`` at the end; lines too long for the view are broken in the view only."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        for index, line in enumerate(with_marks_shown(text).split("\n")):
            if index:
                cursor.insertBlock()
                cursor.block().setUserState(-1)
                self._column = 0
            self._insert_line(cursor, line)
        cursor.endEditBlock()
        self.fit_height()

    def _insert_line(self, cursor: QTextCursor, line: str) -> None:
        while line:
            room = MAX_LINE_CHARS - self._column
            if room <= 0:
                cursor.insertBlock()
                cursor.block().setUserState(_CONTINUES)
                self._column = 0
                continue
            cursor.insertText(line[:room])
            self._column += min(room, len(line))
            line = line[room:]

    def selected_text(self) -> str:
        """The selection as it was written, without the view's own line breaks."""
        cursor = self.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        block: QTextBlock = self.document().findBlock(start)
        parts: list[str] = []
        while block.isValid() and block.position() < max(end, start + 1):
            if parts and block.userState() != _CONTINUES:
                parts.append("\n")
            piece = QTextCursor(block)
            piece.setPosition(max(start, block.position()))
            last = block.position() + block.length() - 1
            piece.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
            parts.append(piece.selectedText())
            block = block.next()
        if parts and block.isValid() and end == block.position() != start:
            parts.append("" if block.userState() == _CONTINUES else "\n")
        return "".join(parts) if end > start else ""

    def await_paint(self) -> None:
        """Say once, by ``painted``, when text has been painted."""
        self._is_awaited = True

    def forget_paint(self) -> None:
        """Say nothing of paints, until asked again."""
        self._is_awaited = False

    def set_caret(self, *, is_shown: bool) -> None:
        """Show or hide the mark at the end that says that text is still coming."""
        self._has_caret = is_shown
        self.viewport().update()

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        self.viewport().update()

    def fit_height(self) -> None:
        """Be as tall as all lines and, where there is one, the horizontal scroll bar."""
        if self._is_fitting:
            return  # measuring lays out, which moves the bar's range: its height is read below
        self._is_fitting = True
        try:
            height = self._measured_height()
        finally:
            self._is_fitting = False
        bar = self.horizontalScrollBar()
        extra = bar.sizeHint().height() if bar.maximum() > 0 else 0
        self.setFixedHeight(math.ceil(height) + extra + 1)

    def _measured_height(self) -> float:
        """Of all lines; those before the last never change and are measured once."""
        block = self.document().findBlockByNumber(self._settled_blocks)
        while block.isValid() and block.next().isValid():
            block_height = self.blockBoundingRect(block).height()
            self._settled_height += block_height
            self._settled_blocks += 1
            block = block.next()
        last = self.blockBoundingRect(block).height() if block.isValid() else 0
        return self._settled_height + last

    def changeEvent(self, event: QEvent) -> None:
        """Another size of type: every line is measured again."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._settled_blocks = 0
            self._settled_height = 0.0
            self.fit_height()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint, and stamp the first paint that shows text."""
        super().paintEvent(event)
        if self._has_caret:
            end = QTextCursor(self.document())
            end.movePosition(QTextCursor.MoveOperation.End)
            paint_caret(self.viewport(), self.cursorRect(end), self._palette)
        if self._is_awaited and not self.document().isEmpty():
            self._is_awaited = False
            self.painted.emit(stamp())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll sideways here; leave up and down to the conversation."""
        is_sideways = abs(event.angleDelta().x()) > abs(event.angleDelta().y())
        if is_sideways or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().wheelEvent(event)
        else:
            event.ignore()

    def createMimeDataFromSelection(self) -> QMimeData:
        """The selection as it was written."""
        data = QMimeData()
        data.setText(self.selected_text())
        return data


class CodeBlock(QFrame):
    """A frame around code, with its language and a button that copies all of it."""

    def __init__(
        self, language: str, indent: int, palette: Palette, parent: QWidget | None = None
    ) -> None:
        """Create an empty block.

        Args:
            language: As written after the fence; untrusted, may be empty.
            indent: Columns the fence was indented by, 0 to 12.
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._parts: list[str] = []
        self.setProperty("role", "raised")
        name = with_marks_shown(language)[:40] or "code"
        self.setAccessibleName(f"Code block, {name}")
        self._label = QLabel(name)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setProperty("role", "hint")
        self.copy_button = CopyButton(self.code, "this code block")
        self.text = CodeText(palette)
        self.text.setAccessibleName(f"Code, {name}")
        head = QHBoxLayout()
        head.addWidget(self._label)
        head.addStretch(1)
        head.addWidget(self.copy_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * STEP_PX, STEP_PX // 2, STEP_PX, 2 * STEP_PX)
        layout.setSpacing(STEP_PX // 2)
        layout.addLayout(head)
        layout.addWidget(self.text)
        self.indent_px = indent * _INDENT_PX_PER_COLUMN

    def append_code(self, text: str) -> None:
        """Add code at the end."""
        self._parts.append(text)
        self.text.append_code(text)

    def code(self) -> str:
        """All of the code, as it was written."""
        return "".join(self._parts)

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self.text.set_palette(palette)
