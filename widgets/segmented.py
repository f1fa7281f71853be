"""A few words side by side, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QWidget

from widgets.choice_button import ChoiceButton
from widgets.plain_tip import wrapped_tip
from widgets.theme import set_role


class Segmented(QWidget):
    """Exclusive buttons of equal width; arrows move the choice, Tab leaves.

    Signals:
        index_chosen: Index (int) that a person chose.
    """

    index_chosen = Signal(int)

    def __init__(self, words: Sequence[str], parent: QWidget | None = None) -> None:
        """Offer ``words``, the first one chosen."""
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._index = 0
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for index, word in enumerate(words):
            button = ChoiceButton(word, self)
            place = "first" if index == 0 else "last" if index == len(words) - 1 else "middle"
            set_role(button, f"segment-{place}")
            self._group.addButton(button, index)
            layout.addWidget(button)
        self._group.button(0).setChecked(True)
        self._group.idClicked.connect(self._on_clicked)
        self.setFocusProxy(self._group.button(0))

    def set_index(self, index: int) -> None:
        """Choose ``index`` without a signal; the keyboard goes with the choice."""
        before, button = self._group.button(self._index), self._group.button(index)
        self._index = index
        button.setChecked(True)
        self.setFocusProxy(button)
        if before.hasFocus():
            button.setFocus()

    def index(self) -> int:
        """The chosen one."""
        return self._index

    def name_buttons(self, name: str, description: str) -> None:
        """Name every button for screen readers: ``name``, then its own word."""
        for button in self._group.buttons():
            button.setAccessibleName(f"{name}: {button.text()}")
            button.setAccessibleDescription(description)

    def explain(self, index: int, sentence: str) -> None:
        """Say what a button is for: its tooltip, and for screen readers its description."""
        button = self._group.button(index)
        button.setToolTip(wrapped_tip(sentence))
        button.setAccessibleDescription(sentence)

    def _on_clicked(self, index: int) -> None:
        if index != self._index:
            self.set_index(index)
            self.index_chosen.emit(index)
