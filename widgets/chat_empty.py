"""What a conversation shows before its first message."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from resources.chat_tokens import COLUMN_MAX_PX
from resources.prompts import CHAT_PROMPTS, COMPLETION_PROMPTS, ExamplePrompt
from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.theme import set_role

_CHAT_TITLE = "Talk to the model while you tune it"
_CHAT_TEXT = (
    "Each tab is a conversation of its own; as many of them stream at once as the engine has "
    "slots. Under every answer stands what it cost. Try one of these:"
)
_COMPLETION_TITLE = "Write a beginning; the model goes on"
_COMPLETION_TEXT = (
    "This model continues text: it knows no questions and no system prompt. Under every "
    "continuation stands what it cost. Try one of these:"
)


class EmptyConversation(QScrollArea):
    """What this is, what is missing, and three prompts to begin with.

    Signals:
        prompt_chosen: The text of an example.
    """

    prompt_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show the words for a chat model.

        Args:
            parent: Owner.
        """
        super().__init__(parent)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons take the focus
        self.setAccessibleName("Empty conversation")
        self._title = _words("heading")
        self._text = _words("muted")
        self.reason_label = _words("warning")
        self._buttons = QVBoxLayout()
        self._buttons.setSpacing(2 * STEP_PX)
        column = QWidget()
        column.setMaximumWidth(COLUMN_MAX_PX * 2 // 3)
        layout = QVBoxLayout(column)
        layout.setContentsMargins(PANEL_PADDING_PX, 0, PANEL_PADDING_PX, 0)
        layout.setSpacing(2 * STEP_PX)
        layout.addStretch(1)
        for widget in (self._title, self.reason_label, self._text):
            layout.addWidget(widget)
        layout.addSpacing(STEP_PX)
        layout.addLayout(self._buttons)
        layout.addStretch(2)
        page = QWidget()
        page.setProperty("role", "scrolled")
        outer = QHBoxLayout(page)
        outer.setContentsMargins(0, PANEL_PADDING_PX, 0, PANEL_PADDING_PX)
        outer.addStretch(1)
        outer.addWidget(column, 8)
        outer.addStretch(1)
        self.setWidget(page)
        self._examples: list[QPushButton] = []
        self._reason: str | None = None
        self.set_completion(is_completion=False)
        self.set_reason(None)

    def set_completion(self, *, is_completion: bool) -> None:
        """Show the words and prompts for a base model, or for a chat model."""
        self._title.setText(_COMPLETION_TITLE if is_completion else _CHAT_TITLE)
        self._text.setText(_COMPLETION_TEXT if is_completion else _CHAT_TEXT)
        for button in self._examples:
            self._buttons.removeWidget(button)
            button.hide()
            button.deleteLater()
        prompts = COMPLETION_PROMPTS if is_completion else CHAT_PROMPTS
        self._examples = [self._button(prompt) for prompt in prompts]
        for button in self._examples:
            self._buttons.addWidget(button)
        self._show_reason()

    def set_reason(self, reason: str | None) -> None:
        """Say why nothing can be sent yet and what to do, or nothing.

        What passes by itself, and ends with an ellipsis, needs nobody and is no warning.
        """
        self._reason = reason
        is_passing = reason is not None and reason.endswith("…")
        set_role(self.reason_label, "muted" if is_passing else "warning")
        self.reason_label.setText(reason or "")
        self.reason_label.setVisible(reason is not None)
        self._show_reason()

    def buttons(self) -> list[QPushButton]:
        """The buttons of the examples, in order."""
        return list(self._examples)

    def _show_reason(self) -> None:
        for button in self._examples:
            button.setEnabled(self._reason is None)
            button.setToolTip(self._reason or button.accessibleDescription())

    def _button(self, prompt: ExamplePrompt) -> QPushButton:
        button = QPushButton(prompt.title)
        button.setAccessibleDescription(prompt.text)
        button.clicked.connect(lambda: self.prompt_chosen.emit(prompt.text))
        return button


def _words(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setProperty("role", role)
    return label
