"""The main window: the conversation in the middle, panels around it.

Lays the widgets out and connects them to the desk through the wirings; decides nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QVBoxLayout, QWidget

from app.chat_wiring import ChatWiring
from app.desk import Desk
from app.docks import Area, Docks
from app.engine_wiring import EngineWiring
from app.tune_wiring import TuneWiring
from app.window_memory import WindowMemory
from engine_bridge.settings.table import SETTINGS
from resources.tokens import (
    FOLD_BELOW_PX,
    LIVE_WIDTH_PX,
    PANEL_GAP_PX,
    TUNE_WIDTH_PX,
    Palette,
)
from widgets.chat_tabs import ChatTabs
from widgets.command_bar import CommandBar
from widgets.live_panel import LivePanel
from widgets.status_banner import StatusBanner
from widgets.top_bar import TopBar
from widgets.tune_panel import TunePanel

_MINIMUM_SIZE = (1024, 700)
_START_SIZE = (1440, 900)
_LIVE, _TUNE, _COMMAND = "live", "tune", "command"
_IS_LIVE_SHOWN = "is_live_shown"


@dataclass
class Unkept:
    """Stands in where nothing is kept from one start to the next."""

    window_state: dict[str, str] = field(default_factory=dict)
    theme: str = "system"
    font_scale: float = 1.0


class Window(QMainWindow):
    """The window of one desk."""

    def __init__(self, desk: Desk, palette: Palette, kept: Unkept | None = None) -> None:
        """Build the window for ``desk``; the caller opens the desk and shows the window.

        Args:
            desk: What it shows.
            palette: Colours.
            kept: Where its place and layout are remembered; None forgets them.
        """
        super().__init__()
        self.desk = desk
        self.setWindowTitle("TuneDeck")
        self.setMinimumSize(*_MINIMUM_SIZE)
        self.top = TopBar()
        self.banner = StatusBanner()
        self.tune = TunePanel(SETTINGS)
        self.chat = ChatTabs()
        self.live = LivePanel(desk.meters)
        self.command = CommandBar()
        self.docks = Docks(self)
        self._memory = WindowMemory(self, self.docks, kept or Unkept())
        self._is_folded = False
        self._is_live_wanted = True
        self._must_restore_again = True
        self._build()
        self.tune_wiring = TuneWiring(desk, self.tune, self.top, self.command, self)
        self.chat_wiring = ChatWiring(desk, self.chat, self)
        self.engine_wiring = EngineWiring(desk, self.top, self.banner, self)
        desk.hardware_measured.connect(self._on_hardware_measured)
        self.docks.reset_requested.connect(self.reset_layout)
        self._add_actions()
        self.set_palette(palette)
        self._restore()

    def set_palette(self, palette: Palette) -> None:
        """Hand new colours to every widget that paints by itself."""
        painted = (self.top, self.banner, self.tune, self.chat, self.live, self.command, self.docks)
        for each in painted:
            each.set_palette(palette)

    def add_dock(
        self, name: str, title: str, widget: QWidget, area: Area, *, is_shown: bool
    ) -> QDockWidget:
        """Put ``widget`` into a panel that can be moved and closed; see ``Docks.add``."""
        return self.docks.add(name, title, widget, area, is_shown=is_shown)

    @property
    def is_folded(self) -> bool:
        """Whether the live column stands in a tab behind the chat."""
        return self._is_folded

    def show_live(self) -> None:
        """Bring the charts to the front."""
        if self._is_folded:
            self._middle.setCurrentWidget(self.live)
        else:
            self.docks.show(_LIVE)

    def show_chat(self) -> None:
        """Bring the conversations to the front where the charts are folded over them."""
        self._middle.setCurrentWidget(self.chat)

    def reset_layout(self) -> None:
        """Put every panel where it stands at first."""
        self._fold(False)
        self.docks.reset()
        self._set_widths()
        self._fold_by_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold the live column into a tab where the window is narrow."""
        super().resizeEvent(event)
        self._fold_by_width()

    def showEvent(self, event: QShowEvent) -> None:
        """Give the docks their sizes again: only now has a maximised window its own."""
        super().showEvent(event)
        if self._must_restore_again:
            self._must_restore_again = False
            self._restore_docks()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember how it stands and end the engine with the window."""
        self._note()
        self.desk.close()
        super().closeEvent(event)

    # --- Inside -------------------------------------------------------------------------

    def _on_hardware_measured(self, _: object) -> None:
        idle = self.desk.idle_cores
        if idle is not None:
            self.live.note_idle_cores(idle)

    def _build(self) -> None:
        header = QWidget()
        layout = QVBoxLayout(header)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(self.top)
        layout.addWidget(self.banner)
        self.setMenuWidget(header)
        self._middle = QTabWidget()
        self._middle.setDocumentMode(True)
        self._middle.setAccessibleName("Chat and charts")
        self._middle.tabBar().setAccessibleName("Chat or charts")
        self._middle.addTab(self.chat, "Chat")
        self._middle.tabBar().hide()
        page = QWidget()
        column = QVBoxLayout(page)
        # As high as the grips of the panels beside it.
        column.setContentsMargins(0, PANEL_GAP_PX, 0, 0)
        column.addWidget(self._middle)
        self.setCentralWidget(page)
        self.setContentsMargins(PANEL_GAP_PX, PANEL_GAP_PX, PANEL_GAP_PX, PANEL_GAP_PX)
        self.add_dock(_TUNE, "Tune", self.tune, Area.LeftDockWidgetArea, is_shown=True)
        self.add_dock(_LIVE, "Live", self.live, Area.RightDockWidgetArea, is_shown=True)
        strip = self.add_dock(
            _COMMAND, "Command line", self.command, Area.BottomDockWidgetArea, is_shown=True
        )
        strip.setAllowedAreas(Area.TopDockWidgetArea | Area.BottomDockWidgetArea)

    # --- Folding ------------------------------------------------------------------------

    def _fold_by_width(self) -> None:
        dock = self.docks.dock(_LIVE)
        is_column = not dock.isFloating() and self.dockWidgetArea(dock) in (
            Area.LeftDockWidgetArea,
            Area.RightDockWidgetArea,
        )
        self._fold(self.width() < FOLD_BELOW_PX and (is_column or self._is_folded))

    def _fold(self, is_narrow: bool) -> None:
        if is_narrow == self._is_folded:
            return
        dock = self.docks.dock(_LIVE)
        if is_narrow:
            self._is_live_wanted = self.docks.is_shown(_LIVE)
        self._is_folded = is_narrow
        if is_narrow:
            dock.hide()
            self._middle.addTab(self.live, "Live")
        else:
            dock.setWidget(self.live)
            self.live.show()
            dock.setVisible(self._is_live_wanted)
        self._middle.tabBar().setVisible(is_narrow)

    # --- What is remembered -------------------------------------------------------------

    def _restore(self) -> None:
        self._memory.place(_START_SIZE)
        self._restore_docks()

    def _restore_docks(self) -> None:
        self._fold(False)
        if not self._memory.restore_docks():
            self._set_widths()
        elif self._memory.text(_IS_LIVE_SHOWN):
            # It was folded: the docks alone would say that it was closed.
            self.docks.dock(_LIVE).show()
        self._fold_by_width()

    def _note(self) -> None:
        is_live_shown = self._is_live_wanted if self._is_folded else self.docks.is_shown(_LIVE)
        self._memory.note(**{_IS_LIVE_SHOWN: "yes" if is_live_shown else ""})

    def _set_widths(self) -> None:
        docks = [self.docks.dock(_TUNE), self.docks.dock(_LIVE)]
        self.resizeDocks(docks, [TUNE_WIDTH_PX, LIVE_WIDTH_PX], Qt.Orientation.Horizontal)

    def _add_actions(self) -> None:
        session = self.desk.session
        for text, keys, slot in (
            ("Open a model file…", QKeySequence.StandardKey.Open, self.engine_wiring.ask_for_model),
            ("Apply", "Ctrl+Return", session.apply),
            ("Undo a setting", "Ctrl+Alt+Z", session.undo),
            ("Redo a setting", "Ctrl+Alt+Y", session.redo),
            ("Copy the command line", "Ctrl+Shift+C", self.command.copy),
            ("Restart the engine", "Ctrl+F5", self.engine_wiring.restart),
        ):
            action = QAction(text, self)
            action.setShortcut(QKeySequence(keys))
            action.triggered.connect(slot)
            self.addAction(action)
