"""How far the experiment is, with a way out; and, once it has ended, what came of it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.sentence_label import sentence_label
from widgets.steady_label import SteadyLabel
from widgets.theme import set_role

_WIDEST_LEFT = "88 h 88 min left"


class ProgressStrip(QFrame):
    """A bar, a sentence, the time left and Cancel; later a sentence with what can be done next.

    Signals:
        cancel_requested: The experiment is to end; what was measured is kept.
        action_requested: Key (str) of what the sentence offers.
        shown_requested: The experiment itself is wanted.
    """

    cancel_requested = Signal()
    action_requested = Signal(str)
    shown_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make it hidden: nothing runs."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("Experiment under way")
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, PANEL_PADDING_PX, 2 * STEP_PX)
        column.setSpacing(STEP_PX)
        self._under_way = self._progress_row()
        self._ended = self._end_row()
        column.addWidget(self._under_way)
        column.addWidget(self._ended)
        self.hide()

    # --- Under way ----------------------------------------------------------------------

    def begin(self, title: str) -> None:
        """Show that ``title`` is under way."""
        self._is_stopping = False
        self.title.set_text(title)
        self.cancel.setEnabled(True)
        self._under_way.show()
        self._ended.hide()
        self.set_progress(0.0, "Beginning", "")
        self.show()

    def set_progress(self, share: float, sentence: str, left: str) -> None:
        """Say how far it is.

        Args:
            share: Done so far, 0 to 1.
            sentence: What is done now.
            left: The time left in words; empty where it is not known.
        """
        bounded = min(max(share, 0.0), 1.0)
        self.bar.setValue(round(bounded * 1000))
        self.bar.setAccessibleName(f"{self.title.full_text()}: {bounded:.0%}, {sentence}")
        self.percent.setText(f"{bounded * 100:.0f} %")
        if not self._is_stopping:
            self.sentence.set_text(sentence)
            self.left.setText(f"{left} left" if left else "")

    def set_stopping(self) -> None:
        """It was cancelled and ends in a moment."""
        self._is_stopping = True
        self.cancel.setEnabled(False)
        self.sentence.set_text("Stopping; what was measured is kept and your settings come back.")
        self.left.setText("")

    # --- Ended --------------------------------------------------------------------------

    def end(self, sentence: str, *, is_warning: bool = False) -> None:
        """Say what came of it, without anything to be done; an empty sentence hides all."""
        self._under_way.hide()
        self.result.setText(sentence)
        set_role(self.result, "warning" if is_warning else "plain")
        self._ended.setVisible(bool(sentence))
        self.offer()
        self.setVisible(bool(sentence))

    def offer(self, *actions: tuple[str, str]) -> None:
        """Offer what can be done next: keys with words; none takes those before away."""
        for button, action in zip(
            self._actions, (*actions, *[("", "")] * len(self._actions)), strict=False
        ):
            key, words = action
            button.setText(words)
            button.setProperty("key", key)
            button.setVisible(bool(words))

    def actions_offered(self) -> tuple[QPushButton, ...]:
        """The buttons of what is offered now."""
        return tuple(button for button in self._actions if not button.isHidden())

    def offered(self) -> tuple[str, ...]:
        """Keys of what is offered now."""
        return tuple(str(button.property("key")) for button in self.actions_offered())

    @property
    def is_under_way(self) -> bool:
        """Whether it shows an experiment that runs."""
        return not self.isHidden() and not self._under_way.isHidden()

    # --- Inside -------------------------------------------------------------------------

    def _progress_row(self) -> QWidget:
        row = QWidget(self)
        self._is_stopping = False
        self.title = ElidedLabel("", row)
        set_role(self.title, "heading")
        self.percent = SteadyLabel("100 %", row)
        self.percent.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.show_it = QPushButton("Show", row)
        self.show_it.setToolTip("Show what is measured so far")
        self.show_it.setAccessibleName("Show the experiment that runs")
        self.show_it.clicked.connect(self.shown_requested)
        self.cancel = QPushButton("Cancel", row)
        self.cancel.setAccessibleName("Cancel the experiment")
        self.cancel.setToolTip("What was measured is kept, and your settings come back")
        self.cancel.clicked.connect(self.cancel_requested)
        self.bar = QProgressBar(row)
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.sentence = ElidedLabel("", row)
        set_role(self.sentence, "hint")
        self.left = SteadyLabel(_WIDEST_LEFT, row)
        self.left.setAlignment(Qt.AlignmentFlag.AlignRight)
        set_role(self.left, "hint")
        first, second = QHBoxLayout(), QHBoxLayout()
        for widget, stretch in (
            (self.title, 1), (self.percent, 0), (self.show_it, 0), (self.cancel, 0),
        ):  # fmt: skip
            first.addWidget(widget, stretch)
        second.addWidget(self.sentence, 1)
        second.addWidget(self.left)
        for line in (first, second):
            line.setSpacing(PANEL_GAP_PX)
        inner = QVBoxLayout(row)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(STEP_PX)
        inner.addLayout(first)
        inner.addWidget(self.bar)
        inner.addLayout(second)
        return row

    def _end_row(self) -> QWidget:
        row = QWidget(self)
        self.result = sentence_label("", row)
        self._actions = [QPushButton(row) for _ in range(2)]
        self.dismiss = QPushButton("OK", row)
        self.dismiss.setAccessibleName("Close this note")
        set_role(self.dismiss, "flat")
        self.dismiss.clicked.connect(partial(self.end, ""))
        buttons = QHBoxLayout()
        buttons.setSpacing(PANEL_GAP_PX)
        for button in (*self._actions, self.dismiss):
            buttons.addWidget(button)
        for button in self._actions:
            button.hide()
            button.clicked.connect(partial(self._on_action, button))
        inner = QHBoxLayout(row)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(PANEL_GAP_PX)
        inner.addWidget(self.result, 1)
        inner.addLayout(buttons)
        return row

    def _on_action(self, button: QPushButton, _: bool = False) -> None:
        self.action_requested.emit(str(button.property("key")))
