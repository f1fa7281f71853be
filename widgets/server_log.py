"""What a server that was started here says: the newest line in sight until somebody scrolls up."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX
from widgets.theme import mono_font, set_role

# A server that says more of every step is read from its end.
_MOST_LINES = 5_000


class ServerLog(QWidget):
    """The lines, and a copy of all of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty log."""
        super().__init__(parent)
        title = QLabel("Log of the server", self)
        set_role(title, "heading")
        self.copy_button = QPushButton("Copy the log", self)
        self.copy_button.setEnabled(False)
        self.copy_button.clicked.connect(self.copy)
        self.view = QPlainTextEdit(self)
        self.view.setReadOnly(True)
        self.view.setTabChangesFocus(True)
        self.view.setUndoRedoEnabled(False)
        self.view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.view.setMaximumBlockCount(_MOST_LINES)
        self.view.setFont(mono_font(self.view.font()))
        set_role(self.view, "mono-small")
        self.view.setAccessibleName("Log of the server")
        self.view.setPlaceholderText("What llama-server says will appear here.")
        head = QHBoxLayout()
        head.addWidget(title)
        head.addStretch(1)
        head.addWidget(self.copy_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addLayout(head)
        column.addWidget(self.view, 1)

    def clear(self) -> None:
        """Begin anew."""
        self.view.clear()
        self.copy_button.setEnabled(False)

    def append(self, lines: Sequence[str]) -> None:
        """Add ``lines`` at the end; many at once."""
        if not lines:
            return
        bar = self.view.verticalScrollBar()
        is_at_end = bar.value() >= bar.maximum()
        cursor = QTextCursor(self.view.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        begin = "" if self.view.document().isEmpty() else "\n"
        cursor.insertText(begin + "\n".join(lines[-_MOST_LINES:]))
        self.copy_button.setEnabled(True)
        if is_at_end:
            bar.setValue(bar.maximum())

    def copy(self) -> None:
        """Put all of it on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def text(self) -> str:
        """All that is kept."""
        return self.view.toPlainText()
