"""Asks for the name of a profile, and whom it is for."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.segmented import Segmented
from widgets.theme import set_role

_WIDTH_PX = 100 * STEP_PX
# A name that is too long is refused with a sentence, not cut off unseen.
_MOST_TYPED = 400
_FOR_MODEL, _FOR_ALL = 0, 1

Check = Callable[[str, bool], str]
"""Says why a name cannot be taken, empty where it can; asked with the name and whether it is for
the loaded model alone."""


class ProfileNameDialog(QDialog):
    """A field, whom the profile is for, and the sentence why the name cannot be taken.

    Signals:
        named: The name (str) and whether it is for the loaded model alone (bool).
    """

    named = Signal(str, bool)

    def __init__(
        self,
        title: str,
        check: Check,
        parent: QWidget | None = None,
        *,
        name: str = "",
        scopes: tuple[str, str] | None = None,
    ) -> None:
        """Ask for a name.

        Args:
            title: What is done with it: ``Save as a profile``.
            check: Looks at what is typed.
            parent: The window.
            name: To begin with.
            scopes: What it means to save it for this model, and for all, a sentence each; None
                where there is nothing to choose.
        """
        super().__init__(parent)
        self._check = check
        self._scopes = scopes
        self.setWindowTitle(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.field = QLineEdit(name, self)
        self.field.setAccessibleName("Name of the profile")
        self.field.setPlaceholderText("For example: long context, 4 users")
        self.field.setMaxLength(_MOST_TYPED)
        self.scope = Segmented(("This model", "All models"), self)
        self.scope.name_buttons("For", "Whom the profile is for")
        self.scope.setVisible(scopes is not None)
        self.about = _words("hint")
        self.about.setVisible(scopes is not None)
        self.problem = _words("warning")
        self.problem.setAccessibleName("Why the name cannot be taken")
        self._buttons = QDialogButtonBox(self)
        standard = QDialogButtonBox.StandardButton
        self.ok_button = self._buttons.addButton(standard.Save)
        self.cancel_button = self._buttons.addButton(standard.Cancel)
        for push in (self.ok_button, self.cancel_button):
            push.setIcon(QIcon())  # no other button of the program has the system's
        set_role(self.ok_button, "primary")
        self._lay_out()
        self.field.textChanged.connect(self._look)
        self.scope.index_chosen.connect(self._look)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        self.field.selectAll()
        self.field.setFocus()
        self._look()

    def is_for_model(self) -> bool:
        """Whether the profile is to be for the loaded model alone."""
        return self._scopes is not None and self.scope.index() == _FOR_MODEL

    def accept(self) -> None:
        """Take the name, unless something is wrong with it."""
        if self._check(self.field.text(), self.is_for_model()):
            return
        self.named.emit(self.field.text(), self.is_for_model())
        super().accept()

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(PANEL_GAP_PX)
        for widget in (self.field, self.scope, self.about, self.problem, self._buttons):
            layout.addWidget(widget)
        # Room for two lines from the beginning: nothing jumps while somebody types.
        lines = 2 * self.fontMetrics().height() + STEP_PX
        for label in (self.about, self.problem):
            label.setMinimumHeight(lines)
        self.setMinimumWidth(_WIDTH_PX)

    def _look(self) -> None:
        sentence = self._check(self.field.text(), self.is_for_model())
        self.ok_button.setEnabled(not sentence)
        # An empty field is no fault of anybody yet.
        is_begun = bool(self.field.text().strip())
        self.problem.setText(sentence if is_begun else "")
        if self._scopes is not None:
            self.about.setText(self._scopes[_FOR_MODEL if self.is_for_model() else _FOR_ALL])


def _words(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    set_role(label, role)
    return label
