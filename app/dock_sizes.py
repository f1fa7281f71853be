"""Widths and heights of panels, kept when another panel goes or the type grows.

Qt gives the room of a panel that closes, floats or folds to its neighbour, and a column that large
type made wide stays wide. The room belongs to the conversation in the middle.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow

Area = Qt.DockWidgetArea
COLUMNS = (Area.LeftDockWidgetArea, Area.RightDockWidgetArea)
_RESTYLED = (QEvent.Type.FontChange, QEvent.Type.StyleChange)
_Key = tuple[str, Qt.Orientation]


class DockSizes(QObject):
    """Knows the size wanted of each dock, and gives it back after whatever changed it.

    Signals:
        settled: The docks have their sizes after a change.
    """

    settled = Signal()

    def __init__(self, window: QMainWindow) -> None:
        """Keep sizes of docks in ``window``."""
        super().__init__(window)
        self._window = window
        self._docks: dict[str, QDockWidget] = {}
        self._wanted: dict[_Key, int] = {}
        self._pressed: dict[_Key, int] | None = None
        self._released = False
        # After Qt has laid out anew: it does so when the event loop turns.
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._settle)
        window.installEventFilter(self)

    def watch(self, name: str, dock: QDockWidget) -> None:
        """Keep the size of ``dock`` from now on."""
        self._docks[name] = dock
        for signal in (dock.topLevelChanged, dock.dockLocationChanged, dock.visibilityChanged):
            signal.connect(self.settle_soon)
        dock.installEventFilter(self)

    def want(self, sizes: Mapping[str, int]) -> None:
        """Take these for what is wanted, each in the direction that its dock lies in now."""
        for name, size in sizes.items():
            if name in self._docks:
                self._wanted[name, way_of(self._window, self._docks[name])] = size

    def wanted(self, name: str) -> int:
        """The size wanted of a dock; 0 where none is known."""
        return self._wanted.get((name, way_of(self._window, self._docks[name])), 0)

    def forget(self) -> None:
        """Take the sizes that the docks have by the next change for what is wanted."""
        self._wanted.clear()
        self.settle_soon()

    def apply(self) -> None:
        """Give every dock that takes room beside the conversation its size, now."""
        for way in (Qt.Orientation.Horizontal, Qt.Orientation.Vertical):
            sizes = {
                self._docks[name]: self._wanted[name, way]
                for name, its_way in self._extents()
                if its_way is way and (name, way) in self._wanted
            }
            if sizes:
                self._window.resizeDocks(list(sizes), list(sizes.values()), way)

    def settle_soon(self, _: object = None) -> None:
        """Give the docks their sizes back when Qt is done with what changes now."""
        self._soon.start(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice a border that is dragged, a panel that is dropped, and type of another size."""
        kind = event.type()
        if watched is self._window and kind == QEvent.Type.MouseButtonPress:
            self._pressed = self._extents()
        elif kind == QEvent.Type.MouseButtonRelease:
            self._released = watched is self._window
            self.settle_soon()
        elif watched is self._window and kind in _RESTYLED:
            self.settle_soon()
        elif watched is self._window and kind == QEvent.Type.Close:
            self._soon.stop()
        return False

    def _settle(self) -> None:
        if not self._window.isVisible():
            return
        extents = self._extents()
        before, self._pressed = self._pressed, None
        if before is not None and self._released:
            # Between a press and a release on the window itself only a border can have moved.
            dragged = {key for key in extents if before.get(key) != extents[key]}
            self._wanted.update({key: extents[key] for key in dragged})
        for key, extent in extents.items():
            self._wanted.setdefault(key, extent)
        self.apply()
        self.settled.emit()

    def _extents(self) -> dict[_Key, int]:
        """Width of each column, height of each strip that can be seen."""
        found: dict[_Key, int] = {}
        for name, dock in self._docks.items():
            if dock.isVisible() and not dock.isFloating():
                found[name, way_of(self._window, dock)] = extent_of(self._window, dock)
        return found


def way_of(window: QMainWindow, dock: QDockWidget) -> Qt.Orientation:
    """The direction in which a dock takes room from the middle."""
    is_side = window.dockWidgetArea(dock) in COLUMNS
    return Qt.Orientation.Horizontal if is_side else Qt.Orientation.Vertical


def extent_of(window: QMainWindow, dock: QDockWidget) -> int:
    """How much room a dock takes from the middle, in pixels."""
    is_column = way_of(window, dock) is Qt.Orientation.Horizontal
    return dock.width() if is_column else dock.height()
