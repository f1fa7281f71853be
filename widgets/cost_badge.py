"""What a change costs, in a slot of fixed width."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.theme import set_role

CostLevel = Literal["live", "context", "reload"]
# The widest badge: nothing may move when it appears or its seconds grow.
_WIDEST = "new context 00.0 s"


class CostBadge(QWidget):
    """A pill with the cost, flush right; the slot stays where no cost is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty badge."""
        super().__init__(parent)
        self._label = QLabel(self)
        self._label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._label, "badge")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addStretch()
        layout.addWidget(self._label)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._shown: tuple[str, CostLevel | None] | None = None
        self._text = ""
        self.set_cost("", None)

    def set_cost(self, text: str, level: CostLevel | None) -> None:
        """Show ``text``, as a warning for a reload; nothing for level None."""
        if self._shown == (text, level):
            return
        self._shown = (text, level)
        self._text = text
        self._elide()
        set_role(self._label, "badge-warning" if level == "reload" else "badge")
        self._label.setVisible(level is not None and bool(text))
        self._label.setAccessibleName(f"cost of a change: {text}" if text else "")

    def text(self) -> str:
        """The cost shown, or the empty string."""
        return self._text if not self._label.isHidden() else ""

    def sizeHint(self) -> QSize:
        """Room for the widest cost that is common; rarer ones are shortened."""
        metrics = self._label.fontMetrics()
        return QSize(self._room_px() + 4 * STEP_PX, metrics.height() + STEP_PX)

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._elide()
            self.updateGeometry()

    def _room_px(self) -> int:
        return self._label.fontMetrics().horizontalAdvance(_WIDEST)

    def _elide(self) -> None:
        metrics = self._label.fontMetrics()
        shown = metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, self._room_px())
        self._label.setText(shown)
        self._label.setToolTip(self._text if shown != self._text else "")
