"""Collects what answers with and without drafts took, and advises below the choice of drafts."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QObject

from app.advisor_words import NO_MODEL, advice_details, off_words, waiting_words
from app.desk import Desk
from app.request import Request
from engine_bridge.metrics.speculation import TurnRun, baseline_tpots, figures_of
from engine_bridge.protocol import RequestFinished, RequestStarted
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import EXPORT_ONLY_KINDS
from resources.tokens import DARK, Palette
from widgets.chat_tabs import ChatTabs
from widgets.message_details import DetailsView
from widgets.message_record import Detail
from widgets.section import Section
from widgets.tune_panel import TunePanel

# A day of answers; the oldest say least about this machine as it is now.
_KEPT_RUNS = 512


class DraftAdvisor(QObject):
    """The section *Draft advisor* in the tune column, for the conversation in front.

    Attributes:
        section: What is folded below the row of drafts.
        view: What it holds.
    """

    def __init__(self, desk: Desk, tune: TunePanel, tabs: ChatTabs, parent: QObject) -> None:
        """Put the section into ``tune`` and follow the answers of ``desk``."""
        super().__init__(parent)
        self._session = desk.session
        self._tabs = tabs
        self._runs: deque[TurnRun] = deque(maxlen=_KEPT_RUNS)
        self._began_with: dict[str, EngineConfig] = {}
        self.section = Section("Draft advisor")
        self.view = DetailsView(DARK)
        self.section.add(self.view)
        tune.add_below("spec_types", self.section)
        desk.chats.answer_started.connect(self._on_answer_started)
        desk.chats.answer_finished.connect(self._on_answer_finished)
        desk.session.applied_changed.connect(lambda _: self._show())
        tabs.current_changed.connect(lambda _: self._show())
        self._show()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.section.set_palette(palette)
        self.view.set_palette(palette)

    def _on_answer_started(self, conversation_id: str, _: RequestStarted) -> None:
        applied = self._session.applied
        if applied is not None:
            self._began_with[conversation_id] = applied.config

    def _on_answer_finished(self, conversation_id: str, _: RequestFinished, of: Request) -> None:
        config = self._began_with.pop(conversation_id, None)
        applied = self._session.applied
        last = of.conversation.last
        # Beside another answer, or across a change, a token's time is not that of the settings.
        is_same = applied is not None and applied.config == config
        if config is not None and is_same and of.is_alone and last is not None and last.details:
            self._runs.append(TurnRun(conversation_id, config, last.details))
        self._show()

    def _show(self) -> None:
        self.view.show_details(self._details())

    def _details(self) -> tuple[Detail, ...]:
        applied = self._session.applied
        if applied is None:
            return (Detail("No model", "", NO_MODEL),)
        config = applied.config
        if set(config.spec_types) <= set(EXPORT_ONLY_KINDS):
            return (off_words(len(baseline_tpots(self._runs, config))),)
        figures = figures_of(self._runs, self._tabs.current_id(), config)
        if figures is None:
            return (waiting_words(),)
        return advice_details(figures, config.spec_types)
