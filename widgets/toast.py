"""A sentence that lies over the window for a few seconds and moves nothing."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QLabel, QWidget

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.theme import set_role

_SHOWN_MS = 5000
_WIDTH_PX = 560


class Toast(QLabel):
    """Says what just happened, or why nothing did; a click takes it away."""

    def __init__(self, parent: QWidget, room: Callable[[], QRect] = QRect) -> None:
        """Make a hidden toast that lies over ``parent``.

        Args:
            parent: The window.
            room: Says where in it nothing is that is pressed or read now; the toast lies at its
                top. Where that is empty, it lies below the top bar.
        """
        super().__init__(parent)
        self._over = parent
        self._room = room
        set_role(self, "toast")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self._end = QTimer(self)
        self._end.setSingleShot(True)
        self._end.setInterval(_SHOWN_MS)
        self._end.timeout.connect(self.hide)
        parent.installEventFilter(self)
        self.hide()

    def say(self, sentence: str) -> None:
        """Show ``sentence`` in place of what was shown before, to a screen reader as well."""
        self.setText(sentence)
        self.setAccessibleName(sentence)
        self._place()
        self.show()
        self.raise_()
        self._end.start()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size; end with it."""
        if watched is self._over and event.type() == QEvent.Type.Resize:
            self._place()
        elif watched is self._over and event.type() == QEvent.Type.Close:
            # Hidden as well: the window may refuse to close, and nobody would end it then.
            self._end.stop()
            self.hide()
        return super().eventFilter(watched, event)

    def mousePressEvent(self, _: object) -> None:
        """Go."""
        self._end.stop()
        self.hide()

    def _place(self) -> None:
        room = self._room()
        if room.isEmpty():
            # Below the top bar: what is being written lies at the bottom.
            room = self._over.rect().adjusted(0, 16 * STEP_PX, 0, 0)
        beside = 4 * PANEL_PADDING_PX
        line = self.fontMetrics().horizontalAdvance(self.text()) + 2 * beside
        width = min(line, _WIDTH_PX, room.width() - beside)
        height = self.heightForWidth(width)
        self.setGeometry(room.left() + (room.width() - width) // 2, room.top(), width, height)
