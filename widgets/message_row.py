"""The place of one message in a conversation; far from view it keeps the words and no widgets.

A run of text costs Qt six widgets and a millisecond at every change of theme. A conversation of
hundreds of messages stays light because only those near the viewport are built.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from widgets.message_answer import AnswerView
from widgets.message_record import Branch, Record
from widgets.message_user import UserMessage

Message = UserMessage | AnswerView

# Qt's own value for "any height".
_ANY_HEIGHT_PX = (1 << 24) - 1


class MessageRow(QWidget):
    """Holds a message, or its record and its height.

    Signals:
        settled: The message, built again, shows all of its text.
    """

    settled = Signal()

    def __init__(
        self,
        record: Record,
        build: Callable[[Record], Message],
        parent: QWidget | None = None,
        *,
        height_px: int = 0,
    ) -> None:
        """Build the message at once, or keep its place.

        Args:
            record: What the message says.
            build: Makes the message of a record.
            parent: Owner.
            height_px: How tall the message may become; it is built when it comes near the
                viewport. 0 builds it now.
        """
        super().__init__(parent)
        self._record = record
        self._build = build
        self._is_held = False
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.live: Message | None = None
        if height_px:
            self._is_held = True
            self.setFixedHeight(height_px)
        else:
            self.wake()

    @property
    def record(self) -> Record:
        """What the message says now."""
        return self._record if self.live is None else self.live.record()

    @property
    def branch(self) -> Branch:
        """Which of the messages in its place it is."""
        return self._record.branch

    def set_branch(self, branch: Branch) -> None:
        """Show which of the messages in its place it is."""
        if branch == self._record.branch:
            return
        self._record = replace(self._record, branch=branch)
        if self.live is not None:
            self.live.set_branch(branch)

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
        for _ in range(2):  # widths go down to the texts, then their heights come up again
            if isinstance(self.live, AnswerView):
                self.live.fit()
            self._layout.activate()
