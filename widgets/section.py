"""A heading that folds what stands below it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from resources.tokens import DARK, STEP_PX, Palette
from widgets.theme import icon, set_role

_ARROW_PX = 3 * STEP_PX


class Section(QWidget):
    """A folded group of widgets.

    Signals:
        unfolded: Whether (bool) the section is open now.
    """

    unfolded = Signal(bool)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        """Make an empty, folded section named ``title``."""
        super().__init__(parent)
        self._colours = DARK
        self._button = QPushButton(title, self)
        self._button.setCheckable(True)
        self._button.setIconSize(QSize(_ARROW_PX, _ARROW_PX))
        set_role(self._button, "section")
        self._content = QWidget(self)
        self._inner = QVBoxLayout(self._content)
        self._inner.setContentsMargins(0, 0, 0, 0)
        self._inner.setSpacing(0)
        self._note = QLabel(self._content)
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        self._note.setWordWrap(True)
        self._note.setContentsMargins(0, 0, 0, STEP_PX)
        set_role(self._note, "hint")
        self._inner.addWidget(self._note)
        self._note.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, STEP_PX, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._button)
        layout.addWidget(self._content)
        self._button.toggled.connect(self._on_toggled)
        self._on_toggled(False)

    def add(self, widget: QWidget) -> None:
        """Put ``widget`` at the end."""
        self._inner.addWidget(widget)

    def set_note(self, text: str) -> None:
        """Say ``text`` above what it holds, in as many lines as it takes; empty says nothing."""
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def note(self) -> str:
        """What is said above what it holds."""
        return self._note.text()

    def is_open(self) -> bool:
        """Whether the content shows."""
        return self._button.isChecked()

    def set_open(self, is_open: bool) -> None:
        """Unfold or fold."""
        self._button.setChecked(is_open)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours for the arrow."""
        self._colours = palette
        self._show_arrow()

    def _show_arrow(self) -> None:
        name = "chevron-down" if self.is_open() else "chevron-right"
        self._button.setIcon(icon(name, self._colours.muted, _ARROW_PX))

    def _on_toggled(self, is_open: bool) -> None:
        self._content.setVisible(is_open)
        self._show_arrow()
        state = "open" if is_open else "folded"
        self._button.setAccessibleName(f"{self._button.text()}, {state}")
        self.unfolded.emit(is_open)
