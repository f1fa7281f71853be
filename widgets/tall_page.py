"""A page that fills the height there is, and is scrolled where that is less than it needs."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from resources.tokens import STEP_PX
from widgets.theme import set_role

# Lower than that nothing of a page could be seen.
_LEAST_PX = 30 * STEP_PX
_CHANGES_NEEDS = (QEvent.Type.LayoutRequest, QEvent.Type.FontChange, QEvent.Type.StyleChange)


class TallPage(QScrollArea):
    """Scrolls up and down only: no page is cut off at its side.

    Attributes:
        page: What it shows.
    """

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        """Show ``page``; it keeps its width, and its least height."""
        super().__init__(parent)
        self.page = page
        set_role(page, "scrolled")
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setAccessibleName(page.accessibleName())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # What stands in it takes the keyboard, and is brought into view with it.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page.installEventFilter(self)

    def minimumSizeHint(self) -> QSize:
        """As wide as the page and its bar; nearly any height will do."""
        page = self.page.minimumSizeHint()
        bar_px = self.verticalScrollBar().sizeHint().width()
        beside_px = bar_px if self.verticalScrollBar().isVisible() else 0
        return QSize(page.width() + beside_px, min(page.height(), _LEAST_PX))

    def sizeHint(self) -> QSize:
        """All of the page."""
        return self.page.sizeHint()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A page that needs another width tells those around it."""
        if watched is self.page and event.type() in _CHANGES_NEEDS:
            self.updateGeometry()
        return super().eventFilter(watched, event)
