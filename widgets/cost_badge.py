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
        self.set_cost("", None)

    def set_cost(self, text: str, level: CostLevel | None) -> None:
        """Show ``text``, as a warning for a reload; nothing for level None."""
        if self._shown == (text, level):
            return
        self._shown = (text, level)
        self._label.setText(text)
        set_role(self._label, "badge-warning" if level == "reload" else "badge")
        self._label.setVisible(level is not None and bool(text))
        self._label.setAccessibleName(f"cost of a change: {text}" if text else "")
        if self.sizeHint().width() > self.width():
            self.updateGeometry()

    def text(self) -> str:
        """The cost shown, or the empty string."""
        return self._label.text() if not self._label.isHidden() else ""

    def sizeHint(self) -> QSize:
        """Room for the widest cost."""
        metrics = self._label.fontMetrics()
        widest = max(metrics.horizontalAdvance(text) for text in (_WIDEST, self._label.text()))
        return QSize(widest + 4 * STEP_PX, metrics.height() + STEP_PX)

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
