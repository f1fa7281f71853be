"""The one button that changes the engine; what it costs stands on it where there is room."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.theme import set_role

_NOTHING = "Nothing to apply"
_SHORT = "Apply"
_WIDEST = "Apply · new context 00.0 s"


class ApplyButton(QPushButton):
    """Says what applying costs; as wide as the longest of it, so that nothing moves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a button with nothing to apply."""
        super().__init__(parent)
        self._full = _NOTHING
        self._is_compact = False
        set_role(self, "primary")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_cost(self, words: str | None) -> None:
        """Say ``Apply · words``; None says that nothing is to be applied."""
        self._full = _NOTHING if words is None else f"Apply · {words}"
        self.setAccessibleName(self._full)
        self._show()

    def set_compact(self, is_compact: bool) -> None:
        """Whether there is too little room to name the cost."""
        self._is_compact = is_compact
        self.updateGeometry()
        self._show()

    def sizeHint(self) -> QSize:
        """Room for the longest text, in bold."""
        text = _SHORT if self._is_compact else _WIDEST
        width = self.fontMetrics().horizontalAdvance(text) + 8 * STEP_PX
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """The same."""
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say as much as fits."""
        super().resizeEvent(event)
        self._show()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def _show(self) -> None:
        self.setText(_SHORT if self._is_compact else self._full)
