"""The model of an imported command: named, not opened, and taken only by a person."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.import_sheet import ImportModel
from widgets.long_words import breakable
from widgets.sentence_label import sentence_label
from widgets.theme import set_role


class ImportModelPanel(QFrame):
    """What the text names, what a person chose, and the two ways to choose.

    Signals:
        choose_requested: The person wants to choose the file.
        confirmed: The path is right as it stands.
    """

    choose_requested = Signal()
    confirmed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Name nothing."""
        super().__init__(parent)
        set_role(self, "raised")
        title = QLabel("Model", self)
        set_role(title, "heading")
        self._named = sentence_label("mono", self)
        self._path = sentence_label("mono", self)
        self._about = sentence_label("hint", self)
        for label in (self._named, self._path, self._about):
            label.setMinimumWidth(1)
        self.choose_button = QPushButton("Choose the file…", self)
        self.confirm_button = QPushButton("The path is right", self)
        self.confirm_button.setToolTip("Take the path as it stands; it is opened when you load it.")
        for button in (self.choose_button, self.confirm_button):
            button.setAutoDefault(False)
        self.choose_button.clicked.connect(self.choose_requested)
        self.confirm_button.clicked.connect(self.confirmed)
        buttons = QHBoxLayout()
        buttons.setSpacing(PANEL_GAP_PX)
        buttons.addWidget(self.choose_button)
        buttons.addWidget(self.confirm_button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        column.setSpacing(STEP_PX)
        for widget in (title, self._named, self._path, self._about):
            column.addWidget(widget)
        column.addSpacing(STEP_PX)
        column.addLayout(buttons)

    def show_model(self, model: ImportModel) -> None:
        """Show ``model``."""
        is_other = bool(model.path) and model.path != model.named
        self._named.setText(breakable(model.named))
        self._named.setVisible(bool(model.named))
        self._path.setText(breakable(f"→ {model.path}"))
        self._path.setVisible(is_other)
        self._about.setText(model.about)
        self.choose_button.setVisible(not model.is_running)
        self.choose_button.setText("Choose another file…" if model.path else "Choose the file…")
        self.confirm_button.setVisible(model.can_confirm)
        self.confirm_button.setAccessibleName(f"The path is right: {model.named}")
        self.setAccessibleName(" ".join(filter(None, ("Model", model.named, model.about))))

    def words(self) -> str:
        """What it says."""
        labels = (self._named, self._path, self._about)
        return " ".join(
            label.text().replace("\u200b", "") for label in labels if not label.isHidden()
        )
