"""The main window: the conversation in the middle, panels around it.

Lays the widgets out and connects them to the desk through the wirings; decides nothing else.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QCloseEvent, QMoveEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QVBoxLayout,
    QWidget,
)

from app.actions import Actions
from app.chart_wiring import ChartWiring
from app.chat_actions import ChatActions
from app.chat_wiring import ChatWiring
from app.closing import Closing
from app.coming_back import FRONT, ComingBack
from app.desk import Desk
from app.desk_actions import add_desk_actions
from app.diagnostics_wiring import DiagnosticsWiring
from app.docks import Area, Docks
from app.draft_advisor import DraftAdvisor
from app.engine_wiring import EngineWiring
from app.experiment_actions import add_experiment_actions
from app.experiments_wiring import ExperimentsWiring
from app.files_told import FilesTold
from app.focus_areas import FocusAreas
from app.gauges import Gauges
from app.hardware_wiring import HardwareWiring
from app.help import Help
from app.list_wiring import ListWiring
from app.live_fold import LIVE, LiveFold
from app.log_wiring import LogWiring
from app.look import Look
from app.main_menu import attach_menu, menu_bar
from app.panel_actions import add_panel_actions
from app.template_wiring import TemplateWiring
from app.tune_wiring import TuneWiring
from app.view_actions import add_view_actions
from app.window_memory import Unkept, WindowMemory
from app.window_middle import WindowMiddle
from engine_bridge.settings.table import SETTINGS
from resources.tokens import (
    LIST_WIDTH_PX,
    LIVE_WIDTH_PX,
    LOG_HEIGHT_PX,
    PANEL_GAP_PX,
    SHOW_LIST_FROM_PX,
    TUNE_WIDTH_PX,
    Palette,
)
from widgets.chat_tabs import ChatTabs
from widgets.command_bar import CommandBar
from widgets.conversation_list import ConversationList
from widgets.live_panel import LivePanel
from widgets.log_view import LogView
from widgets.speech import let_widgets_speak
from widgets.status_banner import StatusBanner
from widgets.theme import TuneTheme
from widgets.toast import Toast
from widgets.top_bar import TopBar
from widgets.tune_panel import TunePanel

_MINIMUM_SIZE = (900, 600)
_START_SIZE = (1440, 900)
_TUNE, _COMMAND, _LIST, _LOG = "tune", "command", "conversations", "log"
_EXPERIMENTS = "experiments"
# Below so many figures' width of the UI font the tune column leaves the badges out.
_COMPACT_BELOW_FIGURES = 95
_NOTE_MS = 1500
_IS_LIVE_SHOWN = "is_live_shown"


class Window(QMainWindow):
    """The window of one desk."""

    def __init__(
        self,
        desk: Desk,
        palette: Palette,
        kept: Unkept | None = None,
        theme: TuneTheme | None = None,
        history: Path | None = None,
    ) -> None:
        """Build the window for ``desk``; the caller opens the desk and shows the window.

        Args:
            desk: What it shows.
            palette: Colours.
            kept: Where its place and layout are remembered; None asks the desk's settings.
            theme: What a choice of theme changes; None where the look is given from outside.
            history: Folder of the experiments; None takes that of this user.
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
        self.gauges = Gauges(desk, self.live, self)
        self.command = CommandBar()
        self.conversations = ConversationList()
        self.log = LogView()
        self.experiments = ExperimentsWiring(desk, self.chat, self.say, self, history)
        self.docks = Docks(self)
        keeper = kept or desk.kept or Unkept()
        self._memory = WindowMemory(self, self.docks, keeper)
        self.look = Look(theme, keeper, self)
        self._must_restore_again = True
        self._is_closing = False
        self._closing = Closing(desk, self)
        # A program that is killed has closed no window.
        self._note_soon = QTimer(self)
        self._note_soon.setSingleShot(True)
        self._note_soon.setInterval(_NOTE_MS)
        self._note_soon.timeout.connect(self._note)
        self._build()
        self.toast = Toast(self, self.chat.messages_area)
        self._wire()
        self.actions_of_window = Actions(self)
        self.help = Help(self.actions_of_window, self)
        self._add_areas()
        self._add_actions()
        self.docks.reset_requested.connect(self.reset_layout)
        self.docks.arranged.connect(self._on_arranged)
        self.docks.settled.connect(self._adapt)
        self.set_palette(palette)
        self._restore()
        if theme is not None:
            theme.palette_changed.connect(self.set_palette)

    def set_palette(self, palette: Palette) -> None:
        """Hand new colours to every widget that paints by itself."""
        for each in (
            self.top, self.banner, self.tune, self.chat, self.live, self.gauges, self.command,
            self.conversations, self.log, self.docks, self.template_wiring, self.help,
            self.engine_wiring.picker, self.draft_advisor, self.experiments,
        ):  # fmt: skip
            each.set_palette(palette)

    def add_dock(
        self,
        name: str,
        title: str,
        widget: QWidget,
        area: Area,
        *,
        is_shown: bool,
        size_px: int = 0,
    ) -> QDockWidget:
        """Put ``widget`` into a panel that can be moved and closed; see ``Docks.add``."""
        return self.docks.add(name, title, widget, area, is_shown=is_shown, size_px=size_px)

    def say(self, sentence: str) -> None:
        """Tell what just happened, for a few seconds."""
        self.toast.say(sentence)

    # --- Panels -------------------------------------------------------------------------

    @property
    def is_folded(self) -> bool:
        """Whether the live column stands in a tab behind the chat."""
        return self._fold.is_folded

    def show_live(self) -> None:
        """Bring the charts to the front."""
        self._fold.show_live()

    def show_chat(self) -> None:
        """Bring the conversations to the front where the charts are folded over them."""
        self._middle.show_chat()

    def is_panel_shown(self, name: str) -> bool:
        """Whether a panel is open; of the charts, whether they would be in a wider window."""
        return self._fold.is_live_shown if name == LIVE else self.docks.is_shown(name)

    def toggle_panel(self, name: str) -> None:
        """Open or close a panel; the folded charts and the chat change places."""
        if name == LIVE:
            self._fold.toggle_live()
        else:
            self.docks.toggle(name)

    def go_to(self, name: str) -> None:
        """Give the keyboard to a part of the window, opened where it was closed."""
        if name == "chat":
            self.show_chat()
        elif name == _EXPERIMENTS:
            self._middle.show_experiments()
        elif name == LIVE:
            self.show_live()
        elif name in self.docks.names():
            self.docks.show(name)
        self.areas.go(name)

    def show_setting(self, key: str) -> None:
        """Give the keyboard to the row of a setting."""
        self.docks.show(_TUNE)
        self.tune.go_to(key)

    def search_conversations(self) -> None:
        """Go to the search over all conversations."""
        self.docks.show(_LIST)
        self.conversations.go_to_search()

    def reset_layout(self) -> None:
        """Put every panel where it stands at first."""
        self._fold.set_folded(False)
        self.docks.reset()
        self.docks.set_sizes()
        self._adapt()

    # --- What Qt says -------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make do with the width there is."""
        super().resizeEvent(event)
        self._adapt()
        self._on_arranged()

    def moveEvent(self, event: QMoveEvent) -> None:
        """Remember where it stands."""
        super().moveEvent(event)
        self._on_arranged()

    def changeEvent(self, event: QEvent) -> None:
        """Larger type needs more room; and another copy of the program may have been at work."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_fold"):
            self._adapt()
        elif event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.coming_back.list_again()

    def showEvent(self, event: QShowEvent) -> None:
        """Give the docks their sizes again: only now has a maximised window its own."""
        super().showEvent(event)
        if self._must_restore_again:
            self._must_restore_again = False
            self._restore_docks()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember how it stands and end the engine with the window."""
        if not self._closing.may_close():
            event.ignore()
            return
        self._note_soon.stop()
        self._note()
        self._is_closing = True
        self.experiments.close()
        self.desk.close()
        super().closeEvent(event)

    # --- Inside -------------------------------------------------------------------------

    def _build(self) -> None:
        header = QWidget()
        layout = QVBoxLayout(header)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(self.top)
        layout.addWidget(self.banner)
        self.setMenuWidget(header)
        self._middle = WindowMiddle(self.chat, self.experiments.page)
        self.experiments.shown.connect(self._middle.show_experiments)
        self.experiments.busy_changed.connect(self._middle.set_running)
        self.setCentralWidget(self._middle)
        self.setContentsMargins(PANEL_GAP_PX, PANEL_GAP_PX, PANEL_GAP_PX, PANEL_GAP_PX)
        self._add_docks()
        self._fold = LiveFold(self, self.docks, self._middle.tabs, self.gauges.pages)

    def _add_docks(self) -> None:
        left, right, bottom = (
            Area.LeftDockWidgetArea, Area.RightDockWidgetArea, Area.BottomDockWidgetArea,
        )  # fmt: skip
        # Beside the three columns it would leave the conversation too little on most screens.
        room_px = self.screen().availableGeometry().width()
        has_room = room_px >= SHOW_LIST_FROM_PX
        for name, title, panel, area, is_shown, size_px in (
            (_LIST, "Conversations", self.conversations, left, has_room, LIST_WIDTH_PX),
            (_TUNE, "Tune", self.tune, left, True, TUNE_WIDTH_PX),
            (LIVE, "Live", self.gauges.pages, right, True, LIVE_WIDTH_PX),
            (_LOG, "Log", self.log, bottom, False, LOG_HEIGHT_PX),
        ):
            self.add_dock(name, title, panel, area, is_shown=is_shown, size_px=size_px)
        strip = self.add_dock(_COMMAND, "Command line", self.command, bottom, is_shown=True)
        strip.setAllowedAreas(Area.TopDockWidgetArea | Area.BottomDockWidgetArea)

    def _wire(self) -> None:
        desk = self.desk
        self.tune_wiring = TuneWiring(desk, self.tune, self.top, self.command, self)
        self.chat_wiring = ChatWiring(desk, self.chat, self)
        self.draft_advisor = DraftAdvisor(desk, self.tune, self.chat, self)
        self.engine_wiring = EngineWiring(desk, self.top, self.banner, self, desk.kept)
        self.experiments.follow_drafts(self.engine_wiring.drafts)
        self.log_wiring = LogWiring(desk, self.log, self)
        self.engine_wiring.watching.noted.connect(self.log_wiring.note)
        self.chart_wiring = ChartWiring(self.live, self, desk.last_folder)
        self.template_wiring = TemplateWiring(desk, self.chat.current_id, self)
        self.template_wiring.notes_changed.connect(self.tune_wiring.command_wiring.set_notes)
        self.list_wiring: ListWiring | None = None
        if desk.keeping is not None:
            self.list_wiring = ListWiring(
                desk.keeping, desk.chats, self.chat, self.conversations, self.chat_wiring.adopt,
                last_folder=desk.last_folder,
            )  # fmt: skip
            self.list_wiring.conversation_shown.connect(self._on_conversation_shown)
        else:
            sentence = "Conversations are not kept in this window."
            self.conversations.set_failed(sentence, can_retry=False)
        self.diagnostics = DiagnosticsWiring(desk, self.log_wiring, self)
        self.log.save_requested.connect(self.diagnostics.ask)
        self.diagnostics.saved.connect(lambda path: self.say(f"Saved to {path}"))
        self.diagnostics.failed.connect(self.say)
        if desk.kept is not None:
            self.tune_wiring.command_wiring.remember(desk.kept)
            self.chart_wiring.remember(desk.kept)
        self.coming_back = ComingBack(desk, self.chat, self._memory, self)
        self.files_told = FilesTold(
            desk, self.log_wiring, self.say, self, is_list_shown=self.conversations.isVisible
        )
        self.chat_wiring.model_dropped.connect(self.engine_wiring.load)
        self.chat_wiring.engine_wanted.connect(self.engine_wiring.restart)
        HardwareWiring(desk, self.live, self, self.banner)

    def _add_areas(self) -> None:
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            raise TypeError("A window needs a QApplication.")
        let_widgets_speak(app)
        self.areas = FocusAreas(app, self)
        self.areas.add("top", self.top)
        self.areas.add(_LIST, self.docks.dock(_LIST), lambda: self.conversations.view)
        self.areas.add(_TUNE, self.docks.dock(_TUNE), lambda: self.tune.rows()[0].control.main)
        self.areas.add("chat", self.chat, self._composer)
        self.areas.add(_EXPERIMENTS, self.experiments.page)
        self.areas.add(LIVE, self.gauges.pages)
        self.areas.add(_LOG, self.docks.dock(_LOG))
        self.areas.add(_COMMAND, self.docks.dock(_COMMAND))

    def _composer(self) -> QWidget:
        return self.chat.conversation(self.chat.current_id()).composer.editor

    def _add_actions(self) -> None:
        actions = self.actions_of_window
        add_desk_actions(actions, self)
        ChatActions(actions, self)
        add_experiment_actions(actions, self)
        add_panel_actions(actions, self)
        add_view_actions(actions, self)
        actions.refused.connect(self.say)
        attach_menu(self.top.menu_button, actions)
        keys = actions.action("help.actions").keys_text
        self.top.menu_button.setToolTip(f"Menu; {keys} finds everything that can be done")
        if sys.platform == "darwin":
            menu_bar(actions, self)

    def _adapt(self) -> None:
        """In a narrow window, or with large type, leave out and fold what has no room."""
        figure_px = self.fontMetrics().horizontalAdvance("0")
        self.tune.set_compact(self.width() < _COMPACT_BELOW_FIGURES * figure_px)
        self._fold.follow_width()

    def _on_conversation_shown(self, _: str) -> None:
        self.show_chat()
        self.areas.go("chat")

    # --- What is remembered -------------------------------------------------------------

    def _restore(self) -> None:
        self._memory.place(_START_SIZE)
        self._restore_docks()

    def _restore_docks(self) -> None:
        self._fold.set_folded(False)
        if not self._memory.restore_docks():
            self.docks.set_sizes()
        elif self._memory.text(_IS_LIVE_SHOWN):
            # It was folded: the docks alone would say that it was closed.
            self.docks.dock(LIVE).show()
        self._adapt()

    def _on_arranged(self) -> None:
        if self.isVisible() and not self._is_closing:
            self._note_soon.start()

    def _note(self) -> None:
        live = "yes" if self._fold.is_live_shown else ""
        self._memory.note(**{_IS_LIVE_SHOWN: live, FRONT: self.coming_back.front()})
