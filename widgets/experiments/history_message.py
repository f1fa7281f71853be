"""What stands in place of the history's list: what experiments answer, or why none are shown."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.experiments.kind_words import KINDS
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

_TITLE = "Measure instead of guessing"
_TEXT = (
    "An experiment runs the model on work like yours and says what came out, with its spread: a "
    "difference smaller than that is called none. What it measured is kept here."
)
_WIDTH_PX = 130 * STEP_PX


class HistoryMessage(QScrollArea):
    """A heading, a sentence, and what can be done: begin an experiment, try again, show all.

    Signals:
        new_wanted: Kind of the experiment that is to be set up.
        retried: Reading the history anew is wanted.
        cleared: Search and filter are to end.
    """

    new_wanted = Signal(str)
    retried = Signal()
    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Say that the history is being read."""
        super().__init__(parent)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons take the focus
        self._title, self._text = _words("heading"), _words("muted")
        self.retry_button = QPushButton("Try again", self)
        self.retry_button.clicked.connect(self.retried)
        self.clear_button = QPushButton("Show all", self)
        self.clear_button.clicked.connect(self.cleared)
        self.kind_buttons: list[QPushButton] = []
        self._kinds = self._kind_rows()
        self._lay_out()
        self.say_loading()

    def words(self) -> str:
        """What it says."""
        return " ".join(filter(None, (self._title.text(), self._text.text())))

    def say_loading(self) -> None:
        """The history is being read."""
        self._say("", "Reading the history…")

    def say_empty(self) -> None:
        """There are no experiments yet."""
        self._say(_TITLE, _TEXT, has_kinds=True)

    def say_none_found(self) -> None:
        """None is what is looked for."""
        self._say("", "No experiment is like that.")
        self.clear_button.show()

    def say_failed(self, sentence: str) -> None:
        """The history cannot be read; new experiments can be begun all the same."""
        self._say("The history cannot be shown", sentence, has_kinds=True)
        set_role(self._text, "warning")
        self.retry_button.show()

    # --- Inside -----------------------------------------------------------------------------

    def _say(self, title: str, text: str, *, has_kinds: bool = False) -> None:
        self._title.setText(title)
        self._title.setVisible(bool(title))
        self._text.setText(text)
        self._text.setAccessibleName(text)
        set_role(self._text, "muted")
        self._kinds.setVisible(has_kinds)
        self.retry_button.hide()
        self.clear_button.hide()

    def _kind_rows(self) -> QWidget:
        rows = QWidget(self)
        grid = QGridLayout(rows)
        grid.setContentsMargins(0, 2 * STEP_PX, 0, 0)
        grid.setHorizontalSpacing(PANEL_PADDING_PX)
        grid.setVerticalSpacing(2 * STEP_PX)
        grid.setColumnStretch(1, 1)
        for row, kind in enumerate(KINDS):
            button = QPushButton(kind.name, rows)
            button.setAccessibleName(f"New experiment: {kind.name}")
            button.setAccessibleDescription(kind.question)
            button.clicked.connect(lambda _=False, key=kind.key: self.new_wanted.emit(key))
            question = _words("")
            question.setText(kind.question)
            grid.addWidget(button, row, 0)
            grid.addWidget(question, row, 1)
            self.kind_buttons.append(button)
        return rows

    def _lay_out(self) -> None:
        column = QWidget()
        column.setMaximumWidth(_WIDTH_PX)
        layout = QVBoxLayout(column)
        layout.setContentsMargins(2 * STEP_PX, 0, 2 * STEP_PX, 0)
        layout.setSpacing(2 * STEP_PX)
        layout.addStretch(1)
        layout.addWidget(self._title)
        layout.addWidget(self._text)
        for button in (self.retry_button, self.clear_button):
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._kinds)
        layout.addStretch(2)
        page = QWidget()
        page.setProperty("role", "scrolled")
        outer = QHBoxLayout(page)
        outer.setContentsMargins(0, 2 * STEP_PX, 0, 2 * STEP_PX)
        outer.addStretch(1)
        outer.addWidget(column, 12)
        outer.addStretch(1)
        self.setWidget(page)


def _words(role: str) -> QLabel:
    label = sentence_label(role)
    label.setMinimumWidth(1)
    return label
