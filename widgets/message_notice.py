"""A sentence within the conversation that needs a person, with a way on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from resources.tokens import PANEL_PADDING_PX, STEP_PX


class NoticeView(QFrame):
    """What went wrong, why and what to do.

    Signals:
        retry_requested: The button to try again was pressed.
        repair_requested: The button of the repair was pressed.
    """

    retry_requested = Signal()
    repair_requested = Signal()

    def __init__(
        self,
        sentence: str,
        *,
        can_retry: bool,
        repair_text: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Show ``sentence``.

        Args:
            sentence: For the user; plain text.
            can_retry: Trying the same again may help.
            repair_text: Words of a button that repairs the cause; empty for none.
            parent: Owner.
        """
        super().__init__(parent)
        self.setProperty("role", "banner-error")
        self.setAccessibleName("Error")
        self.setAccessibleDescription(sentence)
        self.label = QLabel(sentence)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.retry_button = QPushButton("Try again")
        self.retry_button.setToolTip("An engine that is not running is started first")
        if not can_retry:  # setVisible(True) would make it a window: it has no parent yet
            self.retry_button.hide()
        self.retry_button.clicked.connect(self.retry_requested)
        self.repair_button = QPushButton(repair_text or "Repair")
        self.repair_button.setAccessibleDescription(sentence)
        if not repair_text:
            self.repair_button.hide()
        self.repair_button.clicked.connect(self.repair_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, PANEL_PADDING_PX, 2 * STEP_PX)
        layout.setSpacing(2 * STEP_PX)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.repair_button, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.retry_button, 0, Qt.AlignmentFlag.AlignTop)
