"""A run of text in a message: finished paragraphs, and a tail that may still change.

Shows untrusted text: it loads nothing, opens nothing, and only says that a link was activated.
"""

from __future__ import annotations

import math
import time

from PySide6.QtCore import QMimeData, QRect, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QPainter,
    QPaintEvent,
    QTextCursor,
    QTextDocument,
    QTextDocumentFragment,
    QTextFormat,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from resources.chat_tokens import CARET_WIDTH_PX, LIST_INDENT_PX, QUOTE_BAR_PX
from resources.tokens import PANEL_PADDING_PX, Palette
from widgets.markdown_bidi import with_marks_shown, without_isolates
from widgets.markdown_render import gap_format, is_web_address, rendered, restyle
from widgets.theme import mono_font

# Beyond this a new run begins, so that no single document grows without bound.
MAX_RUN_CHARS = 16 * 1024


class TextRun(QTextBrowser):
    """Text as tall as it is, without scroll bars of its own.

    Signals:
        link_activated: A web address that was clicked; nothing has been opened.
        painted: ``time.perf_counter_ns()`` after the first paint with text since ``await_paint``.
    """

    link_activated = Signal(str)
    painted = Signal(object)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        """Create an empty run.

        Args:
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._palette = palette
        self._end_of_finished = 0
        self._is_empty = True
        self._is_awaited = False
        self._has_caret = False
        self._has_quote = False
        self._is_plain = False
        self.refused_resources: list[str] = []
        self.setProperty("role", "bare")
        self.setAccessibleName("Text of the message")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the message has one
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(LIST_INDENT_PX)  # setting it later lays everything out anew
        self.document().documentLayout().documentSizeChanged.connect(self._fit_height)
        self.anchorClicked.connect(self._on_anchor_clicked)
        self._fit_height()

    # --- Text ---------------------------------------------------------------------------------

    @property
    def is_full(self) -> bool:
        """Whether more text should go to a new run."""
        return self._end_of_finished > MAX_RUN_CHARS

    @property
    def is_overfull(self) -> bool:
        """Whether more text should go to a new run even where no line ends."""
        return self._end_of_finished > 2 * MAX_RUN_CHARS

    def append_finished(self, markdown: str) -> None:
        """Put a finished block in the place of the tail; it never changes again."""
        self._replace_tail(markdown)
        self._end_of_finished = self._last_position()
        self._is_empty = False

    def set_tail(self, markdown: str) -> None:
        """Show ``markdown`` after the finished blocks; empty takes the tail away."""
        self._replace_tail(markdown)

    def set_plain(self, text: str) -> None:
        """Show ``text`` exactly as it is, with direction marks made visible."""
        self.setPlainText(with_marks_shown(text))
        self._end_of_finished = self._last_position()
        self._is_empty, self._is_plain = False, True

    def append_plain(self, text: str) -> None:
        """Add ``text`` at the end exactly as it is, with direction marks made visible."""
        before = self.textCursor()
        anchor, position = before.anchor(), before.position()
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(with_marks_shown(text))
        if before.hasSelection():  # one that reached the end would have grown
            before.setPosition(anchor)
            before.setPosition(position, QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(before)
        self._end_of_finished = self._last_position()
        self._is_empty, self._is_plain = False, True

    def be_mono(self) -> None:
        """Use type in which columns of code stand below each other."""
        self.setFont(mono_font(self.font()))

    def await_paint(self) -> None:
        """Say once, by ``painted``, when text has been painted."""
        self._is_awaited = True

    def forget_paint(self) -> None:
        """Say nothing of paints, until asked again."""
        self._is_awaited = False

    def set_caret(self, *, is_shown: bool) -> None:
        """Show or hide the mark at the end that says that text is still coming."""
        if is_shown != self._has_caret:
            # Text that comes paints the place where it was and the place where it is.
            self._has_caret = is_shown
            self.viewport().update()

    def set_palette(self, palette: Palette) -> None:
        """Change colours without building the text anew."""
        self._palette = palette
        if not self._is_plain:  # its lines are no paragraphs that stand apart
            restyle(self.document(), palette, self.font().pointSizeF())
        self.viewport().update()

    def selected_text(self) -> str:
        """The selection as plain text, without what was put in to show it."""
        return without_isolates(self.textCursor().selection().toPlainText())

    def _replace_tail(self, markdown: str) -> None:
        before = self.textCursor()
        anchor, position = before.anchor(), before.position()
        selected = before.selection().toPlainText() if before.hasSelection() else ""
        document = self.document()
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        if self._is_empty:
            document.clear()  # what is left of a removed list or heading would shape the next text
        else:
            cursor.setPosition(self._end_of_finished)
            finished = cursor.blockFormat()
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            if cursor.hasSelection():
                cursor.removeSelectedText()
                if cursor.block().length() == 1:
                    cursor.setBlockFormat(finished)  # an empty block takes over the removed one's
        if markdown.strip():
            source = rendered(markdown, self._palette, self.font().pointSizeF())
            self._has_quote = self._has_quote or ">" in markdown
            _insert(cursor, source, is_first=self._is_empty)
        cursor.endEditBlock()
        if selected:
            self._select_again(anchor, position, selected)

    def _select_again(self, anchor: int, position: int, selected: str) -> None:
        cursor = self.textCursor()
        last = self._last_position()
        cursor.setPosition(min(anchor, last))
        cursor.setPosition(min(position, last), QTextCursor.MoveMode.KeepAnchor)
        if cursor.selection().toPlainText() != selected:
            cursor.clearSelection()
        self.setTextCursor(cursor)

    def _last_position(self) -> int:
        return self.document().characterCount() - 1

    # --- Size and paint -----------------------------------------------------------------------

    def _fit_height(self) -> None:
        self.setFixedHeight(max(1, math.ceil(self.document().size().height())))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint, and stamp the first paint that shows text."""
        super().paintEvent(event)
        if self._has_quote:
            self._paint_quote_bars()
        if self._has_caret:
            end = QTextCursor(self.document())
            end.movePosition(QTextCursor.MoveOperation.End)
            paint_caret(self.viewport(), self.cursorRect(end), self._palette)
        if self._is_awaited and not self.document().isEmpty():
            self._is_awaited = False
            self.painted.emit(stamp())

    def _paint_quote_bars(self) -> None:
        layout = self.document().documentLayout()
        painter = QPainter(self.viewport())
        block = self.document().begin()
        while block.isValid():
            level = block.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel)
            rect = layout.blockBoundingRect(block)
            for step in range(level):
                painter.fillRect(
                    QRectF(step * PANEL_PADDING_PX, rect.y(), QUOTE_BAR_PX, rect.height()),
                    QColor(self._palette.line),
                )
            block = block.next()
        painter.end()

    # --- Events -------------------------------------------------------------------------------

    def loadResource(self, type_: int, name: QUrl | str) -> object:
        """Load nothing, whatever is asked for, and remember that it was asked for."""
        del type_
        self.refused_resources.append(name if isinstance(name, str) else name.toString())
        return None

    def _on_anchor_clicked(self, url: QUrl) -> None:
        address = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        if is_web_address(address):
            self.link_activated.emit(address)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the conversation."""
        event.ignore()

    def createMimeDataFromSelection(self) -> QMimeData:
        """The selection as plain text only."""
        data = QMimeData()
        data.setText(self.selected_text())
        return data


def paint_caret(viewport: QWidget, at: QRect, palette: Palette) -> None:
    """Paint the mark of text still coming at ``at``, in coordinates of ``viewport``."""
    painter = QPainter(viewport)
    painter.fillRect(at.x() + 1, at.y(), CARET_WIDTH_PX, at.height(), QColor(palette.muted))
    painter.end()


def stamp() -> int:
    """``time.perf_counter_ns()``: the clock by which paints are dated."""
    return time.perf_counter_ns()


def _insert(cursor: QTextCursor, source: QTextDocument, *, is_first: bool) -> None:
    """Insert all of ``source`` as blocks of their own."""
    if not is_first:
        # The first block of a fragment melts into the block it is inserted in, so it gets an empty
        # one. Where that block is empty too (after a table) it takes over the format.
        front = QTextCursor(source)
        if source.begin().text() or source.begin().textList() is not None:
            front.insertBlock()
            front.movePosition(QTextCursor.MoveOperation.Start)
        front.setBlockFormat(gap_format())
    cursor.insertFragment(QTextDocumentFragment(source))
