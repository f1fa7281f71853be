"""A sentence at the bottom of the list with one thing to do about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from resources.tokens import DARK, STEP_PX, Palette
from widgets.elided_label import ElidedLabel
from widgets.theme import icon, set_role

# Long enough to read a sentence and reach for the mouse.
_STAYS_MS = 20_000


class UndoBar(QFrame):
    """``Deleted “…”`` and a button that takes it back; goes by itself after a while.

    Signals:
        undone: Id of what is to be brought back.
    """

    undone = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        """Make a hidden bar."""
        super().__init__(parent)
        set_role(self, "raised")
        self._id = ""
        self._words = ElidedLabel("", self)
        self._words.setMinimumWidth(1)
        self.button = QPushButton("Undo", self)
        set_role(self.button, "link")
        self.button.setToolTip("Bring it back (Ctrl+Z in the list)")
        self.button.setCursor(Qt.CursorShape.PointingHandCursor)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * STEP_PX, STEP_PX, 2 * STEP_PX, STEP_PX)
        layout.setSpacing(2 * STEP_PX)
        layout.addWidget(self._words, 1)
        layout.addWidget(self.button)
        self._timer = QTimer(self, singleShot=True, interval=_STAYS_MS)
        self._timer.timeout.connect(self.dismiss)
        self.button.clicked.connect(self.undo)
        self.hide()

    def show_deleted(self, conversation_id: str, title: str) -> None:
        """Offer to bring ``conversation_id`` back."""
        self.offer(conversation_id, f"Deleted “{title}”")

    def offer(self, undone_id: str, words: str) -> None:
        """Say what was done in ``words``; ``undone`` tells ``undone_id`` if it is taken back."""
        self._id = undone_id
        self._words.set_text(words)
        self.button.setAccessibleName("Undo")
        self.button.setAccessibleDescription(f"{words}. Brings it back.")
        self.setAccessibleName(words)
        self._timer.start()
        self.show()

    def undo(self) -> None:
        """Ask for the last deletion to be taken back, if it still can be."""
        if self._id:
            conversation_id = self._id
            self.dismiss()
            self.undone.emit(conversation_id)

    def dismiss(self) -> None:
        """Offer nothing any more."""
        self._id = ""
        self._timer.stop()
        self.hide()

    def words(self) -> str:
        """What it says; empty while it is hidden."""
        return "" if self.isHidden() else self._words.full_text()


class ProblemBar(QFrame):
    """A sentence about something that did not work, or is to be known, until it is closed."""

    def __init__(self, parent: QWidget) -> None:
        """Make a hidden bar."""
        super().__init__(parent)
        set_role(self, "banner-warning")
        self._words = QLabel(self)
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setWordWrap(True)
        self._words.setMinimumWidth(1)
        set_role(self._words, "hint")
        self._close = QToolButton(self)
        self._close.setAccessibleName("Dismiss")
        self._close.setToolTip("Dismiss")
        set_role(self._close, "flat")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * STEP_PX, STEP_PX, STEP_PX, STEP_PX)
        layout.setSpacing(STEP_PX)
        layout.addWidget(self._words, 1)
        layout.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._close.clicked.connect(self.hide)
        self.set_palette(DARK)
        self.hide()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._close.setIcon(icon("close", palette.muted))

    def show_sentence(self, sentence: str, *, is_problem: bool = True) -> None:
        """Show ``sentence``; the empty string hides the bar."""
        set_role(self, "banner-warning" if is_problem else "banner-info")
        self._words.setText(sentence)
        self.setAccessibleName(sentence)
        self.setVisible(bool(sentence))

    def sentence(self) -> str:
        """What it says; empty while it is hidden."""
        return "" if self.isHidden() else self._words.text()
