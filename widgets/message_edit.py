"""A question being put otherwise, in its own place."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from resources.tokens import STEP_PX
from widgets.composer_editor import PromptEditor

_HINT = "Enter sends it as another branch; this one stays. Esc gives up."
_TOO_LONG = "That text is too long to be pasted here. Attach it to a new message."
_FILES = "Files can be attached to a new message only."


class MessageEditor(QWidget):
    """The words, to be changed, and two buttons.

    Signals:
        submitted: The new words.
        given_up: Everything stays as it was.
    """

    submitted = Signal(str)
    given_up = Signal()

    def __init__(self, text: str, *, can_be_empty: bool, parent: QWidget | None = None) -> None:
        """Begin with ``text``.

        Args:
            text: What was said; short enough to be edited.
            can_be_empty: Something else is sent along with it.
            parent: Owner.
        """
        super().__init__(parent)
        self._can_be_empty = can_be_empty
        self._can_send = True
        self.editor = PromptEditor()
        self.editor.setAccessibleName("Question to be changed")
        self.editor.setAccessibleDescription(_HINT)
        self.editor.setPlainText(text)
        self.hint = QLabel(_HINT)
        self.hint.setProperty("role", "hint")
        self.hint.setWordWrap(True)
        self.send_button = QPushButton("Send")
        self.send_button.setProperty("role", "primary")
        self.cancel_button = QPushButton("Cancel")
        row = QHBoxLayout()
        row.setSpacing(2 * STEP_PX)
        row.addWidget(self.hint, 1)
        row.addWidget(self.cancel_button)
        row.addWidget(self.send_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX)
        layout.addWidget(self.editor)
        layout.addLayout(row)
        self.editor.submitted.connect(self._on_submitted)
        self.editor.long_text_pasted.connect(lambda _: self.hint.setText(_TOO_LONG))
        self.editor.files_pasted.connect(lambda _: self.hint.setText(_FILES))
        self.editor.textChanged.connect(self._show_state)
        self.send_button.clicked.connect(self._on_submitted)
        self.cancel_button.clicked.connect(self.given_up)

    def start(self) -> None:
        """Take the focus, the cursor at the end."""
        self.editor.setFocus()
        cursor = self.editor.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.editor.setTextCursor(cursor)

    def set_can_send(self, can_send: bool) -> None:
        """Allow sending, or not while an answer is under way or nothing can answer."""
        self._can_send = can_send
        self._show_state()

    def event(self, event: QEvent) -> bool:
        """Esc is meant for this, not for the answer that the conversation could stop."""
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc gives up; what was said stays."""
        if event.key() == Qt.Key.Key_Escape:
            self.given_up.emit()
        else:
            super().keyPressEvent(event)

    def _has_words(self) -> bool:
        return self._can_be_empty or bool(self.editor.toPlainText().strip())

    def _show_state(self) -> None:
        self.send_button.setEnabled(self._can_send and self._has_words())

    def _on_submitted(self) -> None:
        if self._can_send and self._has_words():
            self.submitted.emit(self.editor.toPlainText())
