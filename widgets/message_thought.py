"""What a model thought before it answered: a row that unfolds."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from resources.chat_tokens import QUOTE_BAR_PX
from resources.tokens import PANEL_PADDING_PX, STEP_PX, Palette
from widgets.message_body import MarkdownBody
from widgets.message_copy import CopyButton
from widgets.message_selection import SelectionGroup
from widgets.theme import icon, small_font

_ARROW_PX = 3 * STEP_PX


class ThoughtView(QWidget):
    """Folded, a line with its length; open, the thought as it comes.

    Signals:
        toggled: It was opened (True) or folded.
    """

    toggled = Signal(bool)

    def __init__(
        self,
        palette: Palette,
        selection: SelectionGroup,
        *,
        is_open: bool,
        parent: QWidget | None = None,
    ) -> None:
        """Create an empty thought.

        Args:
            palette: Colours.
            selection: Of the conversation.
            is_open: Show the thought itself.
            parent: Owner.
        """
        super().__init__(parent)
        self._palette = palette
        self._said: list[str] = []
        self._think_tok = 0
        self._is_thinking = True
        self._is_chosen = False
        self.body = MarkdownBody(palette, selection)
        self.body.be_muted()
        self.body.setVisible(is_open)
        self.button = QPushButton()
        self.button.setCheckable(True)
        self.button.setChecked(is_open)
        self.button.setProperty("role", "quiet")
        self.button.setFont(small_font(self.font()))
        self.button.setIconSize(QSize(_ARROW_PX, _ARROW_PX))
        self.button.setToolTip("What the model thought before it answered")
        self.copy_button = CopyButton(self.text, "the thought")
        self.copy_button.setVisible(is_open)
        self.button.clicked.connect(self._on_clicked)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.button)
        row.addStretch(1)
        row.addWidget(self.copy_button)
        inner = QVBoxLayout()
        inner.setContentsMargins(PANEL_PADDING_PX, 0, 0, 0)
        inner.addWidget(self.body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX)
        layout.addLayout(row)
        layout.addLayout(inner)
        self.body.belong_to(self.body, self.copy_button)
        self._show_state()

    @property
    def is_open(self) -> bool:
        """Whether the thought itself is shown."""
        return self.button.isChecked()

    def unfold(self) -> bool:
        """Show the thought; whether it was folded."""
        if self.is_open:
            return False
        self.button.click()
        return True

    def push(self, text: str) -> None:
        """Take more of the thought; shown by ``body.show_some`` while it is open."""
        self._said.append(text)
        self.body.push(text)

    def text(self) -> str:
        """The thought so far."""
        return "".join(self._said)

    def set_think_tok(self, think_tok: int) -> None:
        """Say how many tokens were thought; 0 where nobody counted."""
        if think_tok != self._think_tok:
            self._think_tok = think_tok
            self._show_words()

    def set_thinking(self, *, is_thinking: bool, may_fold: bool = True) -> None:
        """Say that the thought is over, or goes on.

        Args:
            is_thinking: More of it may come.
            may_fold: Nobody is reading it: it folds when it is over, unless the user chose.
        """
        if is_thinking == self._is_thinking:
            return
        self._is_thinking = is_thinking
        if not is_thinking and may_fold and not self._is_chosen:
            self._set_open(is_open=False)
        self._show_state()

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        self.body.set_palette(palette)
        self._show_state()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A bar beside the thought, as beside a quotation."""
        super().paintEvent(event)
        if self.is_open:
            area = self.body.geometry()
            painter = QPainter(self)
            painter.fillRect(
                QRect(STEP_PX, area.y(), QUOTE_BAR_PX, area.height()), QColor(self._palette.line)
            )
            painter.end()

    def _on_clicked(self) -> None:
        self._is_chosen = True
        self._set_open(is_open=self.button.isChecked())
        self._show_state()

    def _set_open(self, *, is_open: bool) -> None:
        self.button.setChecked(is_open)
        self.body.setVisible(is_open)
        self.copy_button.setVisible(is_open)
        self.toggled.emit(is_open)

    def _show_state(self) -> None:
        self._show_words()
        name = "chevron-down" if self.is_open else "chevron-right"
        self.button.setIcon(icon(name, self._palette.muted, _ARROW_PX))

    def _show_words(self) -> None:
        words = "Thinking" if self._is_thinking else "Thought"
        if self._think_tok:
            words += f" · {self._think_tok:,} tok"
        self.button.setText(words)
        self.button.setAccessibleName(f"{words}, {'open' if self.is_open else 'folded'}")
