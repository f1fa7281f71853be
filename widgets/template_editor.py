"""A field for the source of a template: numbered lines, one of which can be marked."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from resources.theme import mixed
from resources.tokens import DARK, STEP_PX, Palette
from widgets.theme import mono_font, set_role

# The longest template known has some 100,000 characters; a text view slows down far above that.
MOST_CHARACTERS = 200_000
# One of 100,000 takes a quarter of a second to lay out in Chinese.
MOST_CHARACTERS_A_LINE = 20_000
# Looking for a word's end takes quadratic time: a line of 40,000 without one 0.1 s.
_WRAP_ANYWHERE_FROM = 4_000
_INDENT = "  "
_INDENT_COLUMNS = 4


def wrap_mode(text: str) -> QTextOption.WrapMode:
    """How lines of ``text`` can be broken without holding up the window."""
    longest = max(map(len, text.split("\n")))
    if longest >= _WRAP_ANYWHERE_FROM:
        return QTextOption.WrapMode.WrapAnywhere
    return QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere


class TemplateEditor(QPlainTextEdit):
    """Plain text in a monospace font; Tab indents, Ctrl+Tab and Shift+Tab leave.

    Signals:
        paste_refused: A sentence: why a text was not put in.
    """

    paste_refused = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty field."""
        super().__init__(parent)
        self._palette = DARK
        self._line = 0
        self.setFont(mono_font(self.font()))
        set_role(self, "mono")
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTabStopDistance(_INDENT_COLUMNS * self.fontMetrics().horizontalAdvance(" "))
        self._gutter = _Gutter(self)
        self.blockCountChanged.connect(lambda _: self._set_margin())
        self.updateRequest.connect(self._on_update_requested)
        self._set_margin()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._palette = palette
        self.mark_line(self._line)
        self._gutter.update()

    def mark_line(self, line: int) -> None:
        """Mark the line that an error comes from, counted from 1; 0 marks none."""
        self._line = line
        block = self._block_of(line)
        if not block.isValid():
            self.setExtraSelections([])
            return
        # A cursor without a selection marks one row at full width, and one with a selection every
        # row of a wrapped line, of its last only the text.
        rows, last = self._mark_at(block), self._mark_at(block)
        rows.cursor.movePosition(
            QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor
        )
        last.cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        self.setExtraSelections([rows, last])

    def _mark_at(self, block: QTextBlock) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        ground = QColor(mixed(self._palette.raised, self._palette.warning, 0.25))
        mark.format.setBackground(ground)
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        mark.cursor = QTextCursor(block)
        return mark

    def marked_line(self) -> int:
        """The line marked, 0 for none."""
        return self._line

    def go_to_line(self, line: int) -> None:
        """Put the cursor there."""
        block = self._block_of(line)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()
            self.setFocus()

    def gutter_width_px(self) -> int:
        """Room for the numbers."""
        digits = max(2, len(str(self.blockCount())))
        return self.fontMetrics().horizontalAdvance("0") * digits + 3 * STEP_PX

    def paint_gutter(self, event: QPaintEvent) -> None:
        """The numbers of the lines in sight."""
        painter = QPainter(self._gutter)
        painter.setFont(self.font())
        painter.setPen(QColor(self._palette.muted))
        room = self._gutter.width() - 2 * STEP_PX
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= event.rect().bottom():
            place = QRect(0, round(top), room, self.fontMetrics().height())
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1))
            top += self.blockBoundingRect(block).height()
            block = block.next()
        painter.end()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Take a text in, unless it is far too long for a template."""
        text = source.text()
        if len(text) + self.document().characterCount() > MOST_CHARACTERS:
            self.paste_refused.emit(
                f"A text of {len(text):,} characters is no chat template and was not put in; the "
                f"field holds {MOST_CHARACTERS:,}."
            )
            return
        longest = max(map(len, text.split("\n")))
        if longest > MOST_CHARACTERS_A_LINE:
            self.paste_refused.emit(
                f"A text with a line of {longest:,} characters is no chat template and was not put "
                f"in; a line holds {MOST_CHARACTERS_A_LINE:,}."
            )
            return
        self.wrap_for(self.toPlainText() + text)
        super().insertFromMimeData(source)

    def wrap_for(self, text: str) -> None:
        """Break lines as ``text`` needs it, before it is put in."""
        mode = wrap_mode(text)
        if mode is not self.wordWrapMode():
            self.setWordWrapMode(mode)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tab indents; Shift+Tab leaves the field, as nothing could otherwise by keys."""
        if event.key() == Qt.Key.Key_Backtab:
            # The field's own way answers that Tab belongs to its text.
            QWidget.focusNextPrevChild(self, False)
        elif event.key() == Qt.Key.Key_Tab and not self.isReadOnly():
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                QWidget.focusNextPrevChild(self, True)
            else:
                self.textCursor().insertText(_INDENT)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The numbers stand left of the text."""
        super().resizeEvent(event)
        inner = self.contentsRect()
        self._gutter.setGeometry(inner.left(), inner.top(), self.gutter_width_px(), inner.height())

    def _set_margin(self) -> None:
        self.setViewportMargins(self.gutter_width_px(), 0, 0, 0)

    def _on_update_requested(self, rect: QRect, scrolled_px: int) -> None:
        if scrolled_px:
            self._gutter.scroll(0, scrolled_px)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    def _block_of(self, line: int) -> QTextBlock:
        return self.document().findBlockByNumber(line - 1) if line > 0 else QTextBlock()


class _Gutter(QWidget):
    """Where the numbers stand."""

    def __init__(self, editor: TemplateEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width_px(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_gutter(event)
