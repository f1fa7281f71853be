"""‹ 2/3 ›: which of the messages said in one place is shown, and the way to the others."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from resources.tokens import STEP_PX
from widgets.message_record import Branch
from widgets.theme import small_font


class BranchSwitch(QWidget):
    """Two arrows and a count; hidden where there is nothing to choose.

    Signals:
        stepped: -1 for the branch before, 1 for the one after.
    """

    stepped = Signal(int)

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        """Create a hidden switch.

        Args:
            what: What is chosen, for accessible names: ``answer`` or ``question``.
            parent: Owner.
        """
        super().__init__(parent)
        self._what = what
        self._can_change = True
        self._branch = Branch()
        self.previous_button = self._arrow("‹", f"Previous {what}", -1)
        self.next_button = self._arrow("›", f"Next {what}", 1)
        self.label = QLabel()
        self.label.setProperty("role", "hint")
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX // 2)
        for widget in (self.previous_button, self.label, self.next_button):
            layout.addWidget(widget)
        self.hide()

    @property
    def branch(self) -> Branch:
        """What is shown now."""
        return self._branch

    def set_branch(self, branch: Branch) -> None:
        """Show which of how many this is."""
        self._branch = branch
        self.label.setText(f"{branch.number}/{branch.count}")
        words = f"{self._what.capitalize()} {branch.number} of {branch.count}"
        self.label.setAccessibleName(words)
        self.label.setToolTip(words)
        self.setVisible(branch.count > 1)
        self._show_state()

    def set_can_change(self, can_change: bool) -> None:
        """Allow switching, or not while an answer is under way."""
        self._can_change = can_change
        self._show_state()

    def focus(self, step: int) -> None:
        """Give the focus to the arrow of that direction, or to the other where it leads nowhere."""
        wanted, other = self.previous_button, self.next_button
        if step > 0:
            wanted, other = other, wanted
        (wanted if wanted.isEnabled() else other).setFocus()

    def _show_state(self) -> None:
        branch = self._branch
        self.previous_button.setEnabled(self._can_change and branch.number > 1)
        self.next_button.setEnabled(self._can_change and branch.number < branch.count)

    def _arrow(self, text: str, name: str, step: int) -> QPushButton:
        button = QPushButton(text)
        button.setProperty("role", "quiet")
        button.setFont(small_font(self.font()))
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.clicked.connect(lambda: self.stepped.emit(step))
        return button
