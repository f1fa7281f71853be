"""Whether a model would fit: a bar, a sentence, and the changes with which it would."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from resources.tokens import PANEL_GAP_PX, STEP_PX, Palette
from widgets.memory_bar import MemoryBar
from widgets.model_rows import FitView
from widgets.theme import set_role


class ModelFitView(QWidget):
    """Whether the model fits: a bar, a sentence, and the changes with which it would.

    Signals:
        way_chosen: Id (str) of such a change.
    """

    way_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make it without an answer."""
        super().__init__(parent)
        self._is_answered = False
        self._bar = MemoryBar(self)
        self._sentence = wrapped_label("")
        self._ways = QHBoxLayout()
        self._ways.setSpacing(PANEL_GAP_PX)
        self._buttons: list[QPushButton] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX)
        layout.addWidget(self._bar)
        layout.addWidget(self._sentence)
        layout.addLayout(self._ways)
        self.clear()

    def clear(self) -> None:
        """Show nothing."""
        self.hide()

    def show_waiting(self) -> None:
        """The engine is being asked."""
        self.show_fit(FitView("Asking the engine what it would take…"))
        self._bar.set_unknown("not known yet")
        self._is_answered = False
        set_role(self._sentence, "muted")

    def show_fit(self, fit: FitView) -> None:
        """Show an answer."""
        # Room is kept for the bar while the answer is on its way, so that nothing jumps.
        if fit.plan is None:
            self._bar.set_unknown("not known")
        else:
            self._bar.set_present(
                fit.plan, fit.others_bytes, fit.capacity_bytes, fit.memory, fit.device
            )
        self._is_answered = True
        self._bar.setEnabled(fit.plan is not None)
        self._sentence.setText(fit.sentence)
        set_role(self._sentence, "warning" if fit.is_short else "")
        self._set_ways(fit.ways)
        self.show()

    @property
    def is_answered(self) -> bool:
        """Whether an answer is shown, not the wait for one."""
        return self._is_answered and not self.isHidden()

    def sentence(self) -> str:
        """What is said; empty while nothing is shown."""
        return "" if self.isHidden() else self._sentence.text()

    def bar_text(self) -> str:
        """What the bar says; empty while nothing is shown."""
        return "" if self.isHidden() else self._bar.text()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._bar.set_palette(palette)

    def _set_ways(self, ways: Sequence[tuple[str, str]]) -> None:
        for button in self._buttons:
            self._ways.removeWidget(button)
            button.hide()
            button.deleteLater()
        while self._ways.count():
            self._ways.takeAt(0)
        self._buttons = []
        for name, text in ways:
            button = QPushButton(text, self)
            button.setAccessibleDescription("Load the model with this change.")
            button.clicked.connect(lambda _=False, name=name: self.way_chosen.emit(name))
            self._ways.addWidget(button)
            button.show()
            self._buttons.append(button)
        self._ways.addStretch()


def wrapped_label(role: str, parent: QWidget | None = None) -> QLabel:
    """A label of plain text that wraps and can be copied; any width will do."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    set_role(label, role)
    return label
