"""The pages of the live column: the charts first, and what goes deeper beside them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from resources.tokens import LIVE_WIDTH_PX, PANEL_GAP_PX
from widgets.segmented import Segmented


class LivePages(QWidget):
    """Pages of which one is seen; only that one is drawn.

    Signals:
        page_shown: Index (int) of the page that came to the front.
    """

    page_shown = Signal(int)

    def __init__(self, pages: Sequence[tuple[str, QWidget]], parent: QWidget | None = None) -> None:
        """Show the first of ``pages``, each a word and its widget."""
        super().__init__(parent)
        self.choice = Segmented([word for word, _ in pages])
        self.choice.name_buttons("Page", "What the live column shows")
        self.choice.index_chosen.connect(self.show_page)
        self._stack = QStackedWidget()
        for _, page in pages:
            self._stack.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addWidget(self.choice)
        column.addWidget(self._stack, 1)
        self.setAccessibleName("Live")

    @property
    def index(self) -> int:
        """The page in front."""
        return self._stack.currentIndex()

    def show_page(self, index: int) -> None:
        """Bring a page to the front."""
        if index == self.index:
            return
        self.choice.set_index(index)
        self._stack.setCurrentIndex(index)
        self.page_shown.emit(index)

    def explain(self, index: int, sentence: str) -> None:
        """Say what a page shows, where its word stands."""
        self.choice.explain(index, sentence)

    def sizeHint(self) -> QSize:
        """As wide as the live column is meant to be."""
        return QSize(LIVE_WIDTH_PX, super().sizeHint().height())
