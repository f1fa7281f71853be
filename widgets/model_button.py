"""The model in use; pressed, another can be chosen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.menu_button import MenuButton
from widgets.plain_tip import plain_tip
from widgets.theme import set_role

_EMPTY = "Choose a model"
# As long as names usually are; longer ones are shortened.
_USUAL = "Qwen2.5-Coder 1.5B Instruct · Q4_K_M"
_SHORTEST = "Qwen…_K_M"


class ModelButton(MenuButton):
    """Name and quantisation of the model."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a button without a model."""
        super().__init__(parent)
        self._full = _EMPTY
        set_role(self, "menu")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleDescription("Opens the list of models.")
        self.set_model(None, None)

    def set_model(self, name: str | None, quantisation: str | None) -> None:
        """Show ``name · quantisation``; None shows that there is no model."""
        self._full = " · ".join(filter(None, (name, quantisation))) or _EMPTY
        self.setAccessibleName(f"Model: {self._full}" if name else _EMPTY)
        self._elide()

    def sizeHint(self) -> QSize:
        """The same for every model: a longer name moves nothing."""
        return QSize(self._width_of(_USUAL), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Narrower only where the window is."""
        return QSize(self._width_of(_SHORTEST), super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten to the new width."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._elide()
            self.updateGeometry()

    def _width_of(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text) + 10 * STEP_PX

    def _elide(self) -> None:
        room = self.width() - 9 * STEP_PX
        shown = self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideMiddle, room)
        self.setText(shown.replace("&", "&&"))
        self.setToolTip(plain_tip(self._full))
