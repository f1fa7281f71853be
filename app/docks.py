"""The panels around the conversation: moved, closed, reopened, and put back as they were."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QMenu, QTabWidget, QWidget

from app.dock_sizes import COLUMNS, DockSizes, extent_of, way_of
from resources.tokens import Palette
from widgets.dock_grip import DockGrip

Area = Qt.DockWidgetArea
# Raised when docks get other names: what an older version kept would put them wrongly.
_LAYOUT_VERSION = 1
_SIDES = (("left", Area.LeftDockWidgetArea), ("right", Area.RightDockWidgetArea),
          ("top", Area.TopDockWidgetArea), ("bottom", Area.BottomDockWidgetArea))  # fmt: skip


@dataclass(frozen=True)
class _Dock:
    widget: QDockWidget
    grip: DockGrip
    area: Area
    is_shown: bool
    size_px: int


class Docks(QObject):
    """All docks of one main window.

    Signals:
        arranged: A dock was moved, shown, hidden or let float.
        settled: All docks have their sizes after such a change, or in type of another size.
        reset_requested: The places of the first start are wanted.
    """

    arranged = Signal()
    settled = Signal()
    reset_requested = Signal()

    def __init__(self, window: QMainWindow) -> None:
        """Manage the docks of ``window``."""
        super().__init__(window)
        self._window = window
        self._docks: dict[str, _Dock] = {}
        self._sizes = DockSizes(window)
        self._sizes.settled.connect(self.settled)
        window.setDockOptions(
            QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.AllowTabbedDocks
        )
        for side in COLUMNS:
            window.setTabPosition(side, QTabWidget.TabPosition.North)
        # The command line is as wide as the window.
        window.setCorner(Qt.Corner.BottomLeftCorner, Area.BottomDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Area.BottomDockWidgetArea)

    def add(
        self,
        name: str,
        title: str,
        widget: QWidget,
        area: Area,
        *,
        is_shown: bool,
        size_px: int = 0,
    ) -> QDockWidget:
        """Put ``widget`` into a dock of its own.

        Args:
            name: Unique; what is kept of the layout is kept by it.
            title: Words for it in menus and tabs.
            widget: The panel.
            area: Where it stands at first.
            is_shown: Whether it is seen at first.
            size_px: Its width at a side, its height above or below; 0 leaves that to the widget.

        Raises:
            ValueError: If there is a dock of that name.
        """
        if name in self._docks:
            raise ValueError(f"There is a dock {name!r} already.")
        dock = QDockWidget(title, self._window)
        dock.setObjectName(f"dock-{name}")
        dock.setAccessibleName(title)
        grip = DockGrip(title, dock)
        grip.menu_requested.connect(lambda at: self.menu(name).popup(at))
        dock.setTitleBarWidget(grip)
        dock.setWidget(widget)
        self._place(dock, area)
        dock.setVisible(is_shown)
        self._docks[name] = _Dock(dock, grip, area, is_shown, size_px)
        dock.topLevelChanged.connect(grip.set_floating)
        for signal in (dock.topLevelChanged, dock.dockLocationChanged, dock.visibilityChanged):
            signal.connect(self._on_arranged)
        if size_px:
            self._sizes.watch(name, dock)
        return dock

    def names(self) -> tuple[str, ...]:
        """All docks, in the order they were added."""
        return tuple(self._docks)

    def title(self, name: str) -> str:
        """The words for a dock."""
        return self._docks[name].widget.windowTitle()

    def dock(self, name: str) -> QDockWidget:
        """The dock of that name.

        Raises:
            KeyError: If there is none.
        """
        return self._docks[name].widget

    def grip(self, name: str) -> DockGrip:
        """The strip above a dock's panel."""
        return self._docks[name].grip

    def is_shown(self, name: str) -> bool:
        """Whether a dock is open (it may stand behind another one of the same tab bar)."""
        return not self._docks[name].widget.isHidden()

    def show(self, name: str) -> None:
        """Open a dock and bring it to the front."""
        dock = self._docks[name].widget
        was_hidden = dock.isHidden()
        dock.show()
        dock.raise_()
        if was_hidden:
            # Qt gives a dock that comes new what is left over, if only a few pixels.
            self._size([name], is_least=True)

    def set_shown(self, name: str, is_shown: bool) -> None:
        """Open or close a dock."""
        if is_shown:
            self.show(name)
            return
        self._docks[name].widget.hide()
        # Qt would give the room to the neighbour; it belongs to the conversation.
        self._sizes.apply()

    def toggle(self, name: str) -> None:
        """Close a dock that is open, open one that is closed."""
        self.set_shown(name, not self.is_shown(name))

    def move(self, name: str, area: Area) -> None:
        """Put a dock at another side of the window."""
        dock = self._docks[name].widget
        dock.setFloating(False)
        self._place(dock, area)
        self.show(name)
        self._size([name])

    def set_floating(self, name: str, is_floating: bool) -> None:
        """Make a window of its own of a dock, or put it back."""
        self._docks[name].widget.setFloating(is_floating)
        self.show(name)
        self._sizes.apply()

    def holder_of(self, widget: QWidget | None) -> str:
        """Name of the dock that ``widget`` stands in; empty where it stands in none."""
        for name, dock in self._docks.items():
            if widget is not None and (widget is dock.widget or dock.widget.isAncestorOf(widget)):
                return name
        return ""

    def menu(self, name: str) -> QMenu:
        """What can be done with a dock; deletes itself when closed."""
        dock = self._docks[name].widget
        menu = QMenu(self.title(name), self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for word, area in _SIDES:
            is_there = not dock.isFloating() and self._window.dockWidgetArea(dock) == area
            action = menu.addAction(f"Move to the {word}")
            action.setEnabled(dock.isAreaAllowed(area) and not is_there)
            action.triggered.connect(lambda _=False, area=area: self.move(name, area))
        menu.addSeparator()
        floats = menu.addAction("Put it back" if dock.isFloating() else "Let it float")
        floats.triggered.connect(lambda: self.set_floating(name, not dock.isFloating()))
        menu.addAction("Close").triggered.connect(lambda: self.set_shown(name, False))
        menu.addSeparator()
        reset = QAction("Reset the layout", menu)
        reset.triggered.connect(self.reset_requested)
        menu.addAction(reset)
        return menu

    def of_focus(self) -> str:
        """Name of the dock that has the keyboard; empty where none has."""
        return self.holder_of(QApplication.focusWidget())

    def menu_of_focus(self) -> None:
        """Open the menu of the dock that has the keyboard, for those who cannot drag."""
        name = self.of_focus()
        if name:
            grip = self._docks[name].grip
            self.menu(name).popup(grip.mapToGlobal(QPoint(grip.width() // 2, grip.height())))

    def reset(self) -> None:
        """Put every dock where it stands at first, in the order they were added."""
        for dock in self._docks.values():
            dock.widget.setFloating(False)
            self._window.removeDockWidget(dock.widget)
        for dock in self._docks.values():
            self._place(dock.widget, dock.area)
            dock.widget.setVisible(dock.is_shown)

    def set_sizes(self) -> None:
        """Give every dock that is shown the size it has at first."""
        self._sizes.forget()
        self._size([name for name in self._docks if self.is_shown(name)])

    def save(self) -> str:
        """Places and sizes of all docks, as text."""
        state = self._window.saveState(_LAYOUT_VERSION).data()
        return base64.b64encode(state).decode("ascii")

    def restore(self, text: str) -> bool:
        """Put the docks as ``save`` found them.

        Returns:
            False where ``text`` is no such layout; then nothing has moved.
        """
        try:
            state = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return False
        if not state or not self._window.restoreState(state, _LAYOUT_VERSION):
            return False
        self._sizes.forget()
        return True

    def set_palette(self, palette: Palette) -> None:
        """Use these colours for the grips."""
        for dock in self._docks.values():
            dock.grip.set_palette(palette)

    def _size(self, names: list[str], *, is_least: bool = False) -> None:
        """Give docks their first size; or only those that are smaller."""
        for orientation in (Qt.Orientation.Horizontal, Qt.Orientation.Vertical):
            sizes = {}
            for name in names:
                dock = self._docks[name]
                if way_of(self._window, dock.widget) is not orientation:
                    continue
                has, wanted = extent_of(self._window, dock.widget), self._first_size(name)
                if not (is_least and has >= wanted):
                    sizes[name] = wanted
            if sizes:
                docks = [self._docks[name].widget for name in sizes]
                self._window.resizeDocks(docks, list(sizes.values()), orientation)
                self._sizes.want(sizes)

    def _first_size(self, name: str) -> int:
        """The size that a dock had when it was seen last, or that it has at first."""
        dock = self._docks[name]
        if not dock.size_px:
            return self._hint(dock.widget)
        return self._sizes.wanted(name) or dock.size_px

    def _hint(self, dock: QDockWidget) -> int:
        hint = dock.sizeHint()
        is_column = way_of(self._window, dock) is Qt.Orientation.Horizontal
        return hint.width() if is_column else hint.height()

    def _place(self, dock: QDockWidget, area: Area) -> None:
        """Beside those already there, as a column at the sides, as a strip above and below."""
        is_side = area in COLUMNS
        way = Qt.Orientation.Horizontal if is_side else Qt.Orientation.Vertical
        self._window.addDockWidget(area, dock, way)

    def _on_arranged(self, _: object) -> None:
        self.arranged.emit()
