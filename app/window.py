"""The main window: three columns and a command line.

Lays the widgets out and connects them to the desk through the wirings; decides nothing else.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QCloseEvent, QGuiApplication, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QMainWindow,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.chat_wiring import ChatWiring
from app.desk import Desk
from app.engine_wiring import EngineWiring
from app.tune_wiring import TuneWiring
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


class Window(QMainWindow):
    """The window of one desk."""

    def __init__(self, desk: Desk, palette: Palette) -> None:
        """Build the window for ``desk``; the caller opens the desk and shows the window."""
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
        self._is_folded = False
        self._build()
        self.tune_wiring = TuneWiring(desk, self.tune, self.top, self.command, self)
        self.chat_wiring = ChatWiring(desk, self.chat, self)
        self.engine_wiring = EngineWiring(desk, self.top, self.banner, self)
        desk.hardware_measured.connect(self._on_hardware_measured)
        self._add_actions()
        self.set_palette(palette)
        self._size_for_screen()

    def set_palette(self, palette: Palette) -> None:
        """Hand new colours to every widget that paints by itself."""
        for widget in (self.top, self.banner, self.tune, self.chat, self.live, self.command):
            widget.set_palette(palette)

    @property
    def is_folded(self) -> bool:
        """Whether the live column stands in a tab behind the chat."""
        return self._is_folded

    def show_live(self) -> None:
        """Bring the charts to the front where they are folded."""
        if self._is_folded:
            self._middle.setCurrentWidget(self.live)

    def show_chat(self) -> None:
        """Bring the conversations to the front where they are folded."""
        self._middle.setCurrentWidget(self.chat)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold the live column into a tab where the window is narrow."""
        super().resizeEvent(event)
        self._fold(self.width() < FOLD_BELOW_PX)

    def closeEvent(self, event: QCloseEvent) -> None:
        """End the engine with the window."""
        self.desk.close()
        super().closeEvent(event)

    # --- Inside -------------------------------------------------------------------------

    def _on_hardware_measured(self, _: object) -> None:
        idle = self.desk.idle_cores
        if idle is not None:
            self.live.note_idle_cores(idle)

    def _build(self) -> None:
        self._middle = QTabWidget()
        self._middle.setDocumentMode(True)
        self._middle.setAccessibleName("Chat and charts")
        self._middle.tabBar().setAccessibleName("Chat or charts")
        self._middle.addTab(self.chat, "Chat")
        self._middle.tabBar().hide()
        self._columns = QSplitter(Qt.Orientation.Horizontal)
        self._columns.setChildrenCollapsible(False)
        self._columns.setHandleWidth(PANEL_GAP_PX)
        for column, stretch in ((self.tune, 0), (self._middle, 1), (self.live, 0)):
            self._columns.addWidget(column)
            self._columns.setStretchFactor(self._columns.count() - 1, stretch)
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(PANEL_GAP_PX, PANEL_GAP_PX, PANEL_GAP_PX, PANEL_GAP_PX)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(self.top)
        layout.addWidget(self.banner)
        layout.addWidget(self._columns, 1)
        layout.addWidget(self.command)
        self.setCentralWidget(page)

    def _fold(self, is_narrow: bool) -> None:
        if is_narrow == self._is_folded:
            return
        self._is_folded = is_narrow
        if is_narrow:
            self._middle.addTab(self.live, "Live")
        else:
            self._columns.addWidget(self.live)
            self._columns.setStretchFactor(2, 0)
            self._set_column_widths()
        self._middle.tabBar().setVisible(is_narrow)
        self.live.show()

    def _set_column_widths(self) -> None:
        middle = max(1, self.width() - TUNE_WIDTH_PX - LIVE_WIDTH_PX - 4 * PANEL_GAP_PX)
        self._columns.setSizes([TUNE_WIDTH_PX, middle, LIVE_WIDTH_PX])

    def _size_for_screen(self) -> None:
        available = QGuiApplication.primaryScreen().availableGeometry()
        width = min(_START_SIZE[0], max(_MINIMUM_SIZE[0], available.width()))
        height = min(_START_SIZE[1], max(_MINIMUM_SIZE[1], available.height()))
        self.resize(width, height)
        self._set_column_widths()

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
