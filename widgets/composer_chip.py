"""A folded paste above the editor: what it is, a look at its beginning, and a way to drop it."""

from __future__ import annotations

from itertools import islice

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from resources.tokens import STEP_PX, Palette
from widgets.composer_paste import described
from widgets.markdown_bidi import with_marks_shown
from widgets.theme import icon, mono_font

_PREVIEW_LINES = 40
_PREVIEW_LINE_CHARS = 200
_PREVIEW_CHARS = 64 * 1024
_SHOWN_LINES = 8


class PasteChip(QFrame):
    """One pasted text that is sent along with the message.

    Signals:
        removed: The user dropped it.
    """

    removed = Signal()

    def __init__(self, text: str, palette: Palette, parent: QWidget | None = None) -> None:
        """Show what ``text`` is.

        Args:
            text: The whole pasted text, cleaned.
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._text = text
        self.setProperty("role", "raised")
        words = f"Pasted text · {described(text)}"
        self.setAccessibleName(words)
        self.preview_button = QPushButton(words)
        self.preview_button.setProperty("role", "flat")
        self.preview_button.setToolTip("Show how it begins")
        self.preview_button.setCheckable(True)
        self.preview_button.toggled.connect(self._on_preview)
        self.remove_button = QPushButton()
        self.remove_button.setProperty("role", "flat")
        self.remove_button.setToolTip("Do not send this text")
        self.remove_button.setAccessibleName("Remove the pasted text")
        self.remove_button.clicked.connect(self.removed)
        self.preview = QPlainTextEdit()
        self.preview.setReadOnly(True)
        self.preview.setProperty("role", "bare")
        self.preview.setAccessibleName("Beginning of the pasted text")
        self.preview.setFont(mono_font(self.font()))
        self.preview.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.preview.setTabChangesFocus(True)
        self.preview.setFixedHeight(self.preview.fontMetrics().lineSpacing() * _SHOWN_LINES)
        self.preview.hide()
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.preview_button)
        row.addWidget(self.remove_button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(STEP_PX // 2, 0, STEP_PX // 2, 0)
        layout.setSpacing(0)
        layout.addLayout(row)
        layout.addWidget(self.preview)
        self.set_palette(palette)

    def text(self) -> str:
        """The whole pasted text."""
        return self._text

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self.remove_button.setIcon(icon("close", palette.muted, 3 * STEP_PX))

    def beginning(self) -> str:
        """The first lines, for the preview; long lines are cut."""
        lines = self._text[:_PREVIEW_CHARS].split("\n")
        shown = [line[:_PREVIEW_LINE_CHARS] for line in islice(lines, _PREVIEW_LINES)]
        return with_marks_shown("\n".join(shown))

    def _on_preview(self, is_open: bool) -> None:
        if is_open and not self.preview.toPlainText():
            self.preview.setPlainText(self.beginning())
        self.preview.setVisible(is_open)
