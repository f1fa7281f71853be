"""The middle of the window: conversations, experiments, and in a narrow window the charts."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from resources.tokens import PANEL_GAP_PX

_EXPERIMENTS = "Experiments"
_RUNNING = "Experiments · running"


class WindowMiddle(QWidget):
    """Tabs, one of them in front.

    Attributes:
        tabs: Others may add to them.
    """

    def __init__(self, chat: QWidget, experiments: QWidget) -> None:
        """Show ``chat``."""
        super().__init__()
        self._chat = chat
        self._experiments = experiments
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Chat, experiments and charts")
        # Its tab bar takes the keyboard itself.
        self.tabs.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.tabs.tabBar().setAccessibleName("Chat, experiments or charts")
        self.tabs.addTab(chat, "Chat")
        self.tabs.addTab(experiments, _EXPERIMENTS)
        column = QVBoxLayout(self)
        # As high as the grips of the panels beside it.
        column.setContentsMargins(0, PANEL_GAP_PX, 0, 0)
        column.addWidget(self.tabs)

    def show_chat(self) -> None:
        """Bring the conversations to the front."""
        self.tabs.setCurrentWidget(self._chat)

    def show_experiments(self) -> None:
        """Bring the experiments to the front."""
        self.tabs.setCurrentWidget(self._experiments)

    def set_running(self, is_running: bool) -> None:
        """Say in the tab's words whether an experiment is under way."""
        place = self.tabs.indexOf(self._experiments)
        self.tabs.setTabText(place, _RUNNING if is_running else _EXPERIMENTS)
