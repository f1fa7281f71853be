"""In a narrow window the live column stands in a tab beside the conversation."""

from __future__ import annotations

from PySide6.QtWidgets import QMainWindow, QTabWidget, QWidget

from app.dock_sizes import COLUMNS
from app.docks import Docks
from resources.tokens import FOLD_BELOW_PX, LIVE_WIDTH_PX, PANEL_GAP_PX

LIVE = "live"
# So many figures of the UI font are the least width of a conversation beside the charts.
_CHAT_FIGURES = 45


class LiveFold:
    """Moves the charts between their dock and a tab."""

    def __init__(
        self, window: QMainWindow, docks: Docks, middle: QTabWidget, live: QWidget
    ) -> None:
        """Begin with the charts in their dock."""
        self._window = window
        self._docks = docks
        self._middle = middle
        self._live = live
        self._is_folded = False
        self._is_wanted = True
        self._behind = middle.currentWidget()  # what the charts are in front of
        middle.currentChanged.connect(self._on_front_changed)

    @property
    def is_folded(self) -> bool:
        """Whether the charts stand in a tab."""
        return self._is_folded

    @property
    def is_live_shown(self) -> bool:
        """Whether the dock is open, or would be in a wider window."""
        return self._is_wanted if self._is_folded else self._docks.is_shown(LIVE)

    def follow_width(self) -> None:
        """Fold or unfold as the window's width asks for; what is no column stays."""
        dock = self._docks.dock(LIVE)
        area = self._window.dockWidgetArea(dock)
        is_column = not dock.isFloating() and area in COLUMNS
        figure_px = self._window.fontMetrics().horizontalAdvance("0")
        # In large type the columns are wide, and the conversation needs more as well.
        beside = self._middle_room_px()
        is_narrow = self._window.width() < FOLD_BELOW_PX or beside < _CHAT_FIGURES * figure_px
        self.set_folded(is_narrow and (is_column or self._is_folded))

    def _middle_room_px(self) -> int:
        """Width left for the conversation beside every column that is open, the charts' too."""
        columns = LIVE_WIDTH_PX
        for name in self._docks.names():
            dock = self._docks.dock(name)
            area = self._window.dockWidgetArea(dock)
            if name != LIVE and area in COLUMNS and not dock.isHidden() and not dock.isFloating():
                columns += dock.minimumSizeHint().width() + PANEL_GAP_PX
        return self._window.width() - columns - 3 * PANEL_GAP_PX

    def set_folded(self, is_folded: bool) -> None:
        """Put the charts into the tab, or back into the dock."""
        if is_folded == self._is_folded:
            return
        dock = self._docks.dock(LIVE)
        if is_folded:
            self._is_wanted = self._docks.is_shown(LIVE)
            dock.hide()
            self._middle.addTab(self._live, "Live")
        else:
            if self._middle.currentWidget() is self._live:
                self._middle.setCurrentWidget(self._behind)
            dock.setWidget(self._live)
            self._live.show()
            dock.setVisible(self._is_wanted)
        self._is_folded = is_folded

    def show_live(self) -> None:
        """Bring the charts to the front."""
        if self._is_folded:
            self._middle.setCurrentWidget(self._live)
        else:
            self._docks.show(LIVE)

    def toggle_live(self) -> None:
        """Open or close the dock; in the tab, charts and what they cover change places."""
        if not self._is_folded:
            self._docks.toggle(LIVE)
        elif self._middle.currentWidget() is self._live:
            self._middle.setCurrentWidget(self._behind)
        else:
            self._middle.setCurrentWidget(self._live)

    def _on_front_changed(self) -> None:
        front = self._middle.currentWidget()
        if front is not None and front is not self._live:
            self._behind = front
