"""Above a conversation: its system prompt, folded, or what a base model does instead."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from resources.chat_tokens import SYSTEM_PROMPT_LINES
from resources.tokens import STEP_PX, Palette
from widgets.elided_label import ElidedLabel
from widgets.theme import icon

_ARROW_PX = 3 * STEP_PX
_NONE = "not set"
_TIP = (
    "Stands before the conversation and is sent with every message. Changing it makes the engine "
    "read the whole conversation again. While it is not set, the model's template may put in one "
    "of its own."
)


class ConversationHeader(QWidget):
    """The system prompt and its editor.

    Signals:
        system_prompt_changed: The text was edited.
    """

    system_prompt_changed = Signal()

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        """Create a folded, empty system prompt.

        Args:
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._palette = palette
        self._is_completion = False
        self.fold_button = QPushButton("System prompt")
        self.fold_button.setCheckable(True)
        self.fold_button.setProperty("role", "quiet")
        self.fold_button.setIconSize(QSize(_ARROW_PX, _ARROW_PX))
        self.fold_button.setToolTip(_TIP)
        self.summary = ElidedLabel(_NONE)
        self.summary.setProperty("role", "hint")
        self.editor = QPlainTextEdit()
        self.editor.setPlaceholderText("For example: Answer in two sentences.")
        self.editor.setAccessibleName("System prompt")
        self.editor.setAccessibleDescription(_TIP)
        self.editor.setTabChangesFocus(True)
        self.editor.setFixedHeight(
            self.editor.fontMetrics().lineSpacing() * SYSTEM_PROMPT_LINES + 5 * STEP_PX
        )
        self.editor.hide()
        self.mode_label = QLabel("Text completion")
        self.mode_label.setProperty("role", "heading")
        self.mode_label.hide()
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.note.setProperty("role", "hint")
        self.note.hide()
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * STEP_PX)
        row.addWidget(self.fold_button)
        row.addWidget(self.summary, 1)
        row.addStretch(0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX)
        layout.addLayout(row)
        layout.addWidget(self.editor)
        layout.addWidget(self.mode_label)
        layout.addWidget(self.note)
        self.fold_button.toggled.connect(self._on_toggled)
        self.editor.textChanged.connect(self._on_text_changed)
        self._show_arrow()

    def system_prompt(self) -> str:
        """The system prompt; empty for none and for a base model."""
        return "" if self._is_completion else self.editor.toPlainText().strip()

    def set_system_prompt(self, text: str) -> None:
        """Put ``text`` into the editor."""
        self.editor.setPlainText(text)

    def set_mode(self, *, is_completion: bool, note: str) -> None:
        """Show the system prompt, or that there is none and why.

        Args:
            is_completion: The model continues text and takes no system prompt.
            note: What to say about it; empty for nothing.
        """
        self._is_completion = is_completion
        self.fold_button.setVisible(not is_completion)
        self.summary.setVisible(not is_completion)
        self.editor.setVisible(not is_completion and self.fold_button.isChecked())
        self.mode_label.setVisible(is_completion)
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        self._show_arrow()

    def _on_toggled(self, is_open: bool) -> None:
        self.editor.setVisible(is_open)
        self.summary.setVisible(not is_open)
        self._show_arrow()
        if is_open:
            self.editor.setFocus()

    def _on_text_changed(self) -> None:
        self.summary.set_text(" ".join(self.editor.toPlainText().split()) or _NONE)
        self.system_prompt_changed.emit()

    def _show_arrow(self) -> None:
        is_open = self.fold_button.isChecked()
        name = "chevron-down" if is_open else "chevron-right"
        self.fold_button.setIcon(icon(name, self._palette.muted, _ARROW_PX))
        self.fold_button.setAccessibleName(f"System prompt, {'open' if is_open else 'folded'}")
