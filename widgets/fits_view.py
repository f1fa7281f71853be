"""What still fits into memory, a row for each question, each with a button that sets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.plain_tip import wrapped_tip
from widgets.theme import set_role

_MEANING = "What the memory that is free would still hold, of the settings as they stand now."


@dataclass(frozen=True)
class Fit:
    """One answer.

    Attributes:
        key: Which question: the same key keeps its row.
        title: The question.
        value: The answer in a word or two; a dash while there is none.
        detail: What it depends on and what limits it, a sentence or two.
        use: What the button does, for screen readers and the tip; empty where nothing is to be set.
        is_short: Whether something asked for does not fit.
        meaning: How the question is answered, for the tip.
    """

    key: str
    title: str
    value: str
    detail: str
    use: str = ""
    is_short: bool = False
    meaning: str = ""


class FitsView(QFrame):
    """A panel of questions and answers.

    Signals:
        use_requested: Key of the answer that is to be set.
    """

    use_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a panel without answers."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("What fits")
        title = ElidedLabel("What fits")
        title.setToolTip(wrapped_tip(_MEANING))
        set_role(title, "heading")
        self.status = QLabel()
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.status.setWordWrap(True)
        set_role(self.status, "hint")
        self._rows: dict[str, FitRow] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        self._column.setSpacing(2 * STEP_PX)
        self._column.addWidget(title)
        self._column.addWidget(self.status)

    def show_fits(self, fits: Sequence[Fit], status: str = "", *, is_warning: bool = False) -> None:
        """Show ``fits``.

        Args:
            fits: The answers, in order; none hides all rows.
            status: A line above them, such as why there is none; empty for no line.
            is_warning: Whether that line needs a person.
        """
        self.status.setText(status)
        self.status.setHidden(not status)
        set_role(self.status, "hint-warning" if is_warning else "hint")
        shown = {fit.key for fit in fits}
        for key, row in self._rows.items():
            row.setVisible(key in shown)
        for fit in fits:
            if fit.key not in self._rows:
                self._rows[fit.key] = row = FitRow(fit.key, self)
                row.use.clicked.connect(lambda _, key=fit.key: self.use_requested.emit(key))
                self._column.addWidget(row)
            self._rows[fit.key].show_fit(fit)

    def row(self, key: str) -> FitRow:
        """The row of an answer.

        Raises:
            KeyError: If it was never shown.
        """
        return self._rows[key]

    def text(self) -> str:
        """Everything that is shown, in words."""
        shown = [row.text() for row in self._rows.values() if not row.isHidden()]
        return " ".join(filter(None, (self.status.text(), *shown)))


class FitRow(QWidget):
    """One question: its answer at the right, what it depends on below, the button beside both."""

    def __init__(self, key: str, parent: QWidget) -> None:
        """Make the row of ``key`` without an answer."""
        super().__init__(parent)
        self.setObjectName(key)
        self.title = ElidedLabel()
        self.value = QLabel()
        self.value.setTextFormat(Qt.TextFormat.PlainText)
        self.detail = QLabel()
        self.detail.setTextFormat(Qt.TextFormat.PlainText)
        self.detail.setWordWrap(True)
        set_role(self.detail, "hint")
        self.use = QPushButton("Use")
        header = QHBoxLayout()
        header.setSpacing(2 * STEP_PX)
        header.addWidget(self.title, 1)
        header.addWidget(self.value)
        words = QVBoxLayout()
        words.setSpacing(STEP_PX // 2)
        words.addLayout(header)
        words.addWidget(self.detail)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(PANEL_PADDING_PX)
        row.addLayout(words, 1)
        # Of the whole row, however many lines its words take.
        row.addWidget(self.use, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_fit(self, fit: Fit) -> None:
        """Bring the row up to date."""
        tip = wrapped_tip(fit.meaning) if fit.meaning else ""
        # Its labels have none of their own, so theirs is the row's.
        self.setToolTip(tip)
        self.title.set_text(fit.title, tip)
        self.value.setText(fit.value)
        self.value.setAccessibleName(f"{fit.title}: {fit.value}")
        set_role(self.value, "value-warning" if fit.is_short else "value")
        self.detail.setText(fit.detail)
        self.use.setEnabled(bool(fit.use))
        self.use.setAccessibleName(fit.use or f"{fit.title}: nothing to set")
        self.use.setToolTip(fit.use)

    def text(self) -> str:
        """What it says, in words."""
        return f"{self.title.full_text()}: {self.value.text()}. {self.detail.text()}"
