"""A folded text beside what is typed: what it is, a look at its beginning, a way to drop it."""

from __future__ import annotations

from itertools import islice

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from resources.tokens import STEP_PX, Palette
from widgets.attached_text import Attached
from widgets.composer_paste import described, utf8_bytes
from widgets.markdown_bidi import with_marks_shown
from widgets.theme import icon, mono_font

_PREVIEW_LINES = 40
_PREVIEW_LINE_CHARS = 200
_PREVIEW_CHARS = 64 * 1024
_SHOWN_LINES = 8
_NAME_CHARS = 48


class PasteChip(QFrame):
    """One pasted text or file that is sent along with the message, or was.

    Signals:
        removed: The user dropped it.
    """

    removed = Signal()

    def __init__(
        self,
        attached: Attached,
        palette: Palette,
        parent: QWidget | None = None,
        *,
        can_remove: bool = True,
    ) -> None:
        """Show what ``attached`` is.

        Args:
            attached: The whole text, cleaned, and the file's name.
            palette: Colours.
            parent: Owner.
            can_remove: It is not sent yet.
        """
        super().__init__(parent)
        self._attached = attached
        self.size_bytes = utf8_bytes(attached.text)
        self.setProperty("role", "raised")
        name = with_marks_shown(attached.name)
        words = f"{_shortened(name) or 'Pasted text'} · {described(attached.text)}"
        self.setAccessibleName(f"{name or 'Pasted text'} · {described(attached.text)}")
        self.preview_button = QPushButton(words.replace("&", "&&"))
        self.preview_button.setProperty("role", "flat")
        self.preview_button.setToolTip("Show how it begins")
        self.preview_button.setAccessibleName(self.accessibleName())
        self.preview_button.setCheckable(True)
        self.preview_button.toggled.connect(self._on_preview)
        self.remove_button = QPushButton()
        self.remove_button.setProperty("role", "flat")
        self.remove_button.setToolTip("Do not send this text")
        self.remove_button.setAccessibleName(f"Remove {name or 'the pasted text'}")
        if not can_remove:
            self.remove_button.hide()
        self.remove_button.clicked.connect(self.removed)
        self.preview = QPlainTextEdit()
        self.preview.setReadOnly(True)
        self.preview.setProperty("role", "bare")
        self.preview.setAccessibleName(f"Beginning of {name or 'the pasted text'}")
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

    def attached(self) -> Attached:
        """The whole text, and the file's name."""
        return self._attached

    def text(self) -> str:
        """The whole text."""
        return self._attached.text

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self.remove_button.setIcon(icon("close", palette.muted, 3 * STEP_PX))

    def beginning(self) -> str:
        """The first lines, for the preview; long lines are cut."""
        lines = self.text()[:_PREVIEW_CHARS].split("\n")
        shown = [line[:_PREVIEW_LINE_CHARS] for line in islice(lines, _PREVIEW_LINES)]
        return with_marks_shown("\n".join(shown))

    def _on_preview(self, is_open: bool) -> None:
        if is_open and not self.preview.toPlainText():
            self.preview.setPlainText(self.beginning())
        self.preview.setVisible(is_open)


def _shortened(name: str) -> str:
    """``name`` with its end, which says what it is, in any case."""
    if len(name) <= _NAME_CHARS:
        return name
    return f"{name[: _NAME_CHARS - 12]}…{name[-11:]}"
