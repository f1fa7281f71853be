"""The model in use, and the menu that chooses another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.menu_button import MenuButton
from widgets.theme import set_role

_EMPTY = "Choose a model"
# As long as names usually are; longer ones are shortened.
_USUAL = "Qwen2.5-Coder 1.5B Instruct · Q4_K_M"


class ModelButton(MenuButton):
    """Name and quantisation of the model; pressed, it opens the menu.

    Signals:
        open_requested: A file is to be chosen.
        recent_chosen: Path (str) of a recent model.
        demo_requested: The demo model is wanted.
    """

    open_requested = Signal()
    recent_chosen = Signal(str)
    demo_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a button without a model."""
        super().__init__(parent)
        self._full = _EMPTY
        set_role(self, "menu")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self.setMenu(self._menu)
        self.set_recent(())
        self.set_model(None, None)

    def set_model(self, name: str | None, quantisation: str | None) -> None:
        """Show ``name · quantisation``; None shows that there is no model."""
        self._full = " · ".join(filter(None, (name, quantisation))) or _EMPTY
        self.setAccessibleName(f"Model: {self._full}")
        self._elide()

    def set_recent(self, paths: Sequence[str]) -> None:
        """Offer ``paths``, the latest first, between the file dialog and the demo model."""
        self._menu.clear()
        self._menu.addAction("Open a model file…").triggered.connect(self.open_requested)
        self._menu.addSeparator()
        for path in paths:
            action = self._menu.addAction(PurePath(path).name.replace("&", "&&"))
            action.setToolTip(path)
            action.triggered.connect(lambda _=False, path=path: self.recent_chosen.emit(path))
        if paths:
            self._menu.addSeparator()
        self._menu.addAction("Demo model").triggered.connect(self.demo_requested)

    def sizeHint(self) -> QSize:
        """The same for every model: a longer name moves nothing."""
        width = self.fontMetrics().horizontalAdvance(_USUAL) + 10 * STEP_PX
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Narrower only where the window is."""
        return QSize(self.sizeHint().width() // 2, super().sizeHint().height())

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

    def _elide(self) -> None:
        room = self.width() - 9 * STEP_PX
        shown = self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideMiddle, room)
        self.setText(shown.replace("&", "&&"))
        self.setToolTip(self._full)
