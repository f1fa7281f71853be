"""What went wrong with the engine, with the lines behind it and the ways on."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.theme import icon, set_role

# Lines of detail shown at once; the rest is scrolled to.
_DETAIL_LINES = 8


class StatusBanner(QFrame):
    """A sentence, its detail folded, a button for each way on; hidden while all is well.

    Signals:
        action_requested: Id (str) of the button pressed.
        dismissed: A person closed it.
    """

    action_requested = Signal(str)
    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a hidden banner."""
        super().__init__(parent)
        set_role(self, "banner-error")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._sentence = QLabel(self)
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._sentence.setWordWrap(True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._more = QPushButton("Details", self)
        self._more.setCheckable(True)
        set_role(self._more, "flat")
        self._close = QToolButton(self)
        self._close.setAccessibleName("Dismiss")
        self._close.setToolTip("Dismiss")
        set_role(self._close, "flat")
        self._detail = QPlainTextEdit(self)
        self._detail.setReadOnly(True)
        self._detail.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._detail.setAccessibleName("What the engine said last")
        set_role(self._detail, "mono-small")
        self._actions = QHBoxLayout()
        self._actions.setSpacing(PANEL_GAP_PX)
        self._buttons: list[QPushButton] = []
        self._lay_out()
        self._more.toggled.connect(self._on_more_toggled)
        self._close.clicked.connect(self._on_closed)
        self.hide()

    def show_problem(self, sentence: str, detail: str, actions: Sequence[tuple[str, str]]) -> None:
        """Show what happened, in place of what was shown before.

        Args:
            sentence: What, why and what to do.
            detail: Lines behind it, e.g. the last of stderr; empty for none.
            actions: Id and text of each button, the most useful first.
        """
        self._sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self._detail.setPlainText(detail)
        self._detail.verticalScrollBar().setValue(self._detail.verticalScrollBar().maximum())
        self._more.setVisible(bool(detail))
        self._more.setChecked(False)
        self._on_more_toggled(False)
        self._set_actions(actions)
        self.show()

    def add_action(self, action: str, text: str) -> None:
        """Put one more way on before the others, which stay where they are."""
        self._actions.insertWidget(0, self._new_button(action, text))

    def dismiss(self) -> None:
        """Hide it; nothing is wrong any more."""
        self.hide()

    def sentence(self) -> str:
        """The sentence shown, or the empty string while hidden."""
        return "" if self.isHidden() else self._sentence.text()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._close.setIcon(icon("close", palette.muted))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc dismisses."""
        if event.key() == Qt.Key.Key_Escape:
            self._on_closed()
            return
        super().keyPressEvent(event)

    def _lay_out(self) -> None:
        self._sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout()
        row.setSpacing(PANEL_GAP_PX)
        row.addWidget(self._sentence, 1)
        row.addWidget(self._more)
        row.addLayout(self._actions)
        row.addWidget(self._close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PANEL_PADDING_PX, PANEL_GAP_PX, PANEL_PADDING_PX, PANEL_GAP_PX)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addLayout(row)
        layout.addWidget(self._detail)

    def _set_actions(self, actions: Sequence[tuple[str, str]]) -> None:
        for button in self._buttons:
            self._actions.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = []
        for action, text in actions:
            self._actions.addWidget(self._new_button(action, text))

    def _new_button(self, action: str, text: str) -> QPushButton:
        button = QPushButton(text, self)
        button.clicked.connect(lambda: self.action_requested.emit(action))
        button.show()
        self._buttons.append(button)
        return button

    def _on_more_toggled(self, is_open: bool) -> None:
        lines = min(self._detail.blockCount() + 1, _DETAIL_LINES)
        height = self._detail.fontMetrics().lineSpacing() * lines
        self._detail.setFixedHeight(height + 4 * STEP_PX)
        self._detail.setVisible(is_open)
        self._more.setText("Hide details" if is_open else "Details")
        self._more.setFixedWidth(self._wide_enough().width())

    def _wide_enough(self) -> QSize:
        metrics = self._more.fontMetrics()
        return QSize(metrics.horizontalAdvance("Hide details") + 4 * STEP_PX, 0)

    def _on_closed(self) -> None:
        self.hide()
        self.dismissed.emit()
