"""The field a message is written in: grows with the text, takes pastes without choking."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from resources.chat_tokens import COMPOSER_MAX_LINES
from widgets.composer_paste import FOLD_CHARS, cleaned
from widgets.file_drop import local_paths

# Without it Qt counts the last line as not quite visible and lets it scroll.
_SLACK_PX = 1
_ENTER_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter}


class PromptEditor(QPlainTextEdit):
    """Enter submits, Shift+Enter breaks the line, Up in an empty field asks for the last prompt.

    Signals:
        submitted: Enter was pressed while no input method was composing.
        long_text_pasted: A cleaned text too long to be edited here; it was not inserted.
        controls_removed: How many control characters were taken out of a paste.
        recall_requested: Up was pressed in the empty field.
        paged: Page up (False) or page down (True).
        resized: It has another size now.
        files_pasted: Paths (list of str) of files that were pasted or dropped; nothing was read.
    """

    submitted = Signal()
    long_text_pasted = Signal(str)
    controls_removed = Signal(int)
    recall_requested = Signal()
    paged = Signal(bool)
    resized = Signal()
    files_pasted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Create an empty field of one line.

        Args:
            parent: Owner.
        """
        super().__init__(parent)
        self._is_composing = False
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit_height)
        self._fit_height()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Text, and files."""
        return bool(local_paths(source)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Take a paste or a drop: cleaned, and folded by whoever listens where it is long."""
        paths = local_paths(source)
        if paths:
            self.files_pasted.emit(paths)
            return
        clean = cleaned(source.text())
        if clean.removed:
            self.controls_removed.emit(clean.removed)
        if self.document().characterCount() + len(clean.text) > FOLD_CHARS:
            self.long_text_pasted.emit(clean.text)
        else:
            self.insertPlainText(clean.text)
            self.ensureCursorVisible()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Know whether an input method is composing: its Enter is not ours."""
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Submit, recall, page; everything else edits."""
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() in _ENTER_KEYS and not is_shifted:
            if not self._is_composing:
                self.submitted.emit()
        elif event.key() == Qt.Key.Key_Up and self.document().isEmpty():
            self.recall_requested.emit()
        elif event.key() in {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown} and not is_shifted:
            self.paged.emit(event.key() == Qt.Key.Key_PageDown)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrapping, and with it the height, follows the width."""
        super().resizeEvent(event)
        self._fit_height()
        self.resized.emit()

    def one_line_height(self) -> int:
        """How tall the field is with one line of text, in pixels."""
        return self._height_of(1)

    def _fit_height(self) -> None:
        wanted = max(1, round(self.document().size().height()))
        lines = min(wanted, COMPOSER_MAX_LINES)
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if wanted > lines
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        height = self._height_of(lines)
        if height != self.height():
            self.setFixedHeight(height)

    def _height_of(self, lines: int) -> int:
        # Before it is shown the viewport has some size of its own that says nothing.
        is_laid_out = self.isVisible()
        frame = self.height() - self.viewport().height() if is_laid_out else 2 * self.frameWidth()
        text = lines * self.fontMetrics().lineSpacing() + 2 * self.document().documentMargin()
        return round(text) + frame + _SLACK_PX
