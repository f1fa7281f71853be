"""A button that copies a text and says that it did."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from widgets.theme import small_font

# Long enough to be read, short enough not to be taken for a state.
_SAID_MS = 1500


class CopyButton(QPushButton):
    """Copies what ``text`` returns when it is pressed."""

    def __init__(
        self, text: Callable[[], str], what: str, label: str = "Copy", parent: QWidget | None = None
    ) -> None:
        """Create the button.

        Args:
            text: Called at the press; returns what to copy.
            what: What is copied, for tooltip and accessible name, e.g. ``the answer``.
            label: Words on the button.
            parent: Owner.
        """
        super().__init__(label, parent)
        self._text = text
        self._label = label
        self.setProperty("role", "quiet")
        self.setFont(small_font(self.font()))
        self.setAccessibleName(f"Copy {what}")
        self.setToolTip(f"Copy {what}")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SAID_MS)
        self._timer.timeout.connect(self._on_said)
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._text())
        self.setMinimumWidth(self.width())  # the neighbours stay where they are
        self.setText("Copied")
        self._timer.start()

    def _on_said(self) -> None:
        self.setText(self._label)
