"""The place of one message in a conversation; far from view it keeps the words and no widgets.

A run of text costs Qt six widgets and a millisecond at every change of theme. A conversation of
hundreds of messages stays light because only those near the viewport are built.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from widgets.message_answer import AnswerRecord, AnswerView
from widgets.message_user import UserMessage, UserRecord

Message = UserMessage | AnswerView
Record = UserRecord | AnswerRecord

# Qt's own value for "any height".
_ANY_HEIGHT_PX = (1 << 24) - 1


class MessageRow(QWidget):
    """Holds a message, or its record and its height.

    Signals:
        settled: The message, built again, shows all of its text.
    """

    settled = Signal()

    def __init__(
        self, record: Record, build: Callable[[Record], Message], parent: QWidget | None = None
    ) -> None:
        """Build the message at once.

        Args:
            record: What the message says.
            build: Makes the message of a record.
            parent: Owner.
        """
        super().__init__(parent)
        self._record = record
        self._build = build
        self._is_held = False
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.live: Message | None = None
        self.wake()

    @property
    def is_held(self) -> bool:
        """Whether the height is kept as it was when the message was parked."""
        return self._is_held

    def wake(self) -> None:
        """Build the message, if it is not there; the height stays until it is settled."""
        if self.live is not None:
            return
        self.live = self._build(self._record)
        self._layout.addWidget(self.live)
        if isinstance(self.live, AnswerView):
            self.live.settled.connect(self.settled)
        if self._is_held and self.live.is_settled:
            self.settled.emit()

    def park(self) -> Message | None:
        """Keep the record and the height only.

        Returns:
            The message that is on its way out, or None where there is none to give up.
        """
        message = self.live
        if message is None or not message.is_settled:
            return None
        self._record = message.record()
        self._is_held = True
        self.setFixedHeight(self.height())
        self._layout.removeWidget(message)
        self.setAccessibleName(message.accessibleName())
        message.hide()
        message.deleteLater()
        self.live = None
        return message

    def release(self) -> None:
        """Be as tall as the message wants to be."""
        self._is_held = False
        self.setMinimumHeight(0)
        self.setMaximumHeight(_ANY_HEIGHT_PX)
