"""Where what is attached to a draft stands: as tall as it is, up to a limit, then it scrolls."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from resources.chat_tokens import SHELF_MAX_PX
from resources.tokens import STEP_PX


class Shelf(QScrollArea):
    """A column of widgets; not there while it is empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Create an empty shelf."""
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the buttons on it take the focus
        self.setAccessibleName("Attached to the message")
        self._column = QWidget()
        self._column.setProperty("role", "scrolled")
        self._layout = QVBoxLayout(self._column)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(STEP_PX)
        self.setWidget(self._column)
        self._column.installEventFilter(self)
        self.hide()

    def put(self, widget: QWidget) -> None:
        """Add ``widget`` at the end."""
        self._layout.addWidget(widget)
        widget.show()
        self.show()

    def take(self, widget: QWidget) -> None:
        """Take ``widget`` away."""
        self._layout.removeWidget(widget)
        widget.hide()
        self.setVisible(self._layout.count() > 0)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """As tall as what stands on it, up to the limit."""
        wanted = self._layout.sizeHint()
        return QSize(wanted.width(), min(wanted.height(), SHELF_MAX_PX))

    def minimumSizeHint(self) -> QSize:
        """No wider than there is room."""
        return QSize(0, self.sizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What unfolds changes the height."""
        if watched is self._column and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
