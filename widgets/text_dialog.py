"""A dialog for a setting that is a text of some lines: a grammar, a JSON schema."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPushButton, QVBoxLayout, QWidget

from engine_bridge.settings.text_domain import TextDomain
from resources.tokens import DARK, PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.template_editor import TemplateEditor
from widgets.text_check import TextCheck, Verdict
from widgets.theme import set_role

# The text is checked once its writer pauses.
_CHECK_DELAY_MS = 250
_WIDTH_PX, _HEIGHT_PX = 140 * STEP_PX, 105 * STEP_PX
_NOT_TAKEN = "Not taken yet: {keys} takes it, a second Esc or Discard throws it away."
_NOT_TAKEN_FAULTY = "Faulty, so not taken: a second Esc or Discard throws it away."
_CANCEL, _DISCARD = "Cancel", "Discard"


class TextDialog(QDialog):
    """An editor, what is wrong with the text, and the buttons. Nothing wrong can be accepted.

    Signals:
        text_accepted: The text (str) that was accepted, which the domain allows.
    """

    text_accepted = Signal(str)

    def __init__(
        self, label: str, about: str, domain: TextDomain, parent: QWidget | None = None
    ) -> None:
        """Ask for a text of ``domain`` under the name ``label``; ``about`` says what for."""
        super().__init__(parent)
        self._domain = domain
        self._begun_with = ""
        self._has_warned = False
        self._is_accepting = False  # as soon as the text is checked
        self.checker = TextCheck(domain, self)
        self.setWindowTitle(label)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._about = _words("muted")
        self._about.setText(about)
        self.editor = TemplateEditor(self)
        self.editor.setAccessibleName(label)
        self.editor.setAccessibleDescription(about)
        self.editor.setPlaceholderText(f"For example\n{domain.example}")
        self.fault_label = _words("warning")
        self.fault_label.setAccessibleName("What is wrong with the text")
        self._buttons = QDialogButtonBox(self)
        standard = QDialogButtonBox.StandardButton
        self.ok_button = self._buttons.addButton(standard.Ok)
        self.cancel_button = self._buttons.addButton(standard.Cancel)
        self.cancel_button.setText(_CANCEL)
        for button in (self.ok_button, self.cancel_button):
            button.setIcon(QIcon())  # no other button of the program has the system's
        reset = QDialogButtonBox.ButtonRole.ResetRole
        self.clear_button = self._buttons.addButton("Clear", reset)
        self.example_button = QPushButton("Insert the example", self)
        self._buttons.addButton(self.example_button, reset)
        set_role(self.ok_button, "primary")
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_CHECK_DELAY_MS)
        self._connect()
        self.set_palette(DARK)
        self._check()

    def set_text(self, text: str) -> None:
        """Begin with ``text``."""
        self._begun_with = text
        self.editor.setPlainText(text)
        self._check()

    def text(self) -> str:
        """What stands in the editor; only spaces are no text."""
        text = self.editor.toPlainText()
        return text if text.strip() else ""

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.editor.set_palette(palette)

    def accept(self) -> None:
        """Take the text, unless something is wrong with it."""
        self._is_accepting = True
        self._forget_warning()
        self._check()

    def reject(self) -> None:
        """Close; what was written since goes only when asked for a second time."""
        if self.editor.toPlainText() == self._begun_with or self._has_warned:
            super().reject()
            return
        self._is_accepting = False
        self._has_warned = True
        self.cancel_button.setText(_DISCARD)
        self._show_fault(_NOT_TAKEN.format(keys=self._accept_keys()))
        self._check()

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(self._about)
        layout.addWidget(self.editor, 1)
        layout.addWidget(self.fault_label)
        layout.addWidget(self._buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def _connect(self) -> None:
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        self.clear_button.clicked.connect(lambda: self._replace(""))
        self.example_button.clicked.connect(lambda: self._replace(self._domain.example))
        self.editor.textChanged.connect(self._timer.start)
        self.editor.textChanged.connect(self._on_text_changed)
        self.editor.paste_refused.connect(self._show_fault)
        self._timer.timeout.connect(self._check)
        self.checker.checked.connect(self._on_text_checked)
        # Enter is a new line of the text.
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            QShortcut(QKeySequence(Qt.Modifier.CTRL | key), self, self.accept)
        self.ok_button.setToolTip(self._accept_keys())

    def _accept_keys(self) -> str:
        keys = QKeySequence(Qt.Modifier.CTRL | Qt.Key.Key_Enter)
        return keys.toString(QKeySequence.SequenceFormat.NativeText)

    def _replace(self, text: str) -> None:
        cursor = self.editor.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(text)  # one step back with Ctrl+Z
        self.editor.setFocus()
        self._check()

    def _check(self) -> None:
        """Say what is wrong with the text, now or as soon as that is known."""
        self._timer.stop()
        text = self.text()
        self.clear_button.setEnabled(bool(text))
        self.example_button.setEnabled(not text)
        verdict = self.checker.verdict(text)
        if verdict is not None:
            self._take(verdict)

    def _on_text_checked(self, verdict: Verdict) -> None:
        if verdict.text == self.text():
            self._take(verdict)

    def _take(self, verdict: Verdict) -> None:
        self.editor.mark_line(verdict.line)
        self.ok_button.setEnabled(not verdict.fault)
        is_accepting, self._is_accepting = self._is_accepting, False
        if self._has_warned:
            sentence = _NOT_TAKEN_FAULTY if verdict.fault else _NOT_TAKEN
            self._show_fault(sentence.format(keys=self._accept_keys()))
        else:
            self._show_fault(verdict.fault)
        if is_accepting and not verdict.fault:
            self.text_accepted.emit(verdict.text)
            super().accept()

    def _on_text_changed(self) -> None:
        self._is_accepting = False
        self._forget_warning()

    def _forget_warning(self) -> None:
        if self._has_warned:
            self._has_warned = False
            self.cancel_button.setText(_CANCEL)

    def _show_fault(self, fault: str) -> None:
        # The line keeps its place, so that the text does not jump while it is written.
        self.fault_label.setText(fault or " ")


def _words(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    set_role(label, role)
    return label
