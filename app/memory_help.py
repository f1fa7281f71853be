"""An engine that died for want of memory: what would fit is looked for and offered with one click.

Knows the banner and the session; what fits is found by dry runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject

from app.desk import Desk
from app.fit_check import Fit, FitCheck
from app.fit_words import way_words
from engine_bridge.engine_state import DeathReason, EngineState
from engine_bridge.settings.config import EngineConfig
from widgets.status_banner import StatusBanner

_LOAD_SMALLER = "load_smaller"


class MemoryHelp(QObject):
    """Adds the nearest smaller configuration to the banner of such a death."""

    def __init__(
        self,
        desk: Desk,
        banner: StatusBanner,
        parent: QObject,
        *,
        load: Callable[[str, Mapping[str, object]], None],
    ) -> None:
        """Listen to deaths.

        Args:
            desk: Its engine, and what runs or was tried in it.
            banner: Where deaths are told, before this is told of them.
            parent: Owner.
            load: Loads a model with some settings changed, a dead engine being started for it.
        """
        super().__init__(parent)
        self._desk, self._banner, self._load = desk, banner, load
        self._tried: EngineConfig | None = None
        self._told = ""
        self._way: dict[str, object] = {}
        self._fit = FitCheck(self)
        self._fit.answered.connect(self._on_answered)
        desk.client.engine_died.connect(self._on_engine_died)
        banner.action_requested.connect(self._on_action_requested)

    @property
    def is_asking(self) -> bool:
        """Whether it is looked for what would fit."""
        return self._fit.is_asking

    def close(self) -> None:
        """End what is under way; waits at most a second."""
        self._fit.close()

    def _on_engine_died(self, reason: DeathReason) -> None:
        self._fit.cancel()
        self._tried = self._desk.session.tried
        if reason.fault is None or self._tried is None or not self._tried.model_path:
            return
        self._told = self._banner.sentence()
        self._fit.ask(self._tried, None, reason.fault)

    def _on_answered(self, fit: Fit) -> None:
        is_over = self._desk.client.state is not EngineState.DEAD
        if is_over or not fit.ways or self._banner.sentence() != self._told:
            return
        self._way = dict(fit.ways[0])
        self._banner.add_action(_LOAD_SMALLER, way_words(fit.ways[0]))

    def _on_action_requested(self, action: str) -> None:
        if action != _LOAD_SMALLER or self._tried is None:
            return
        base = self._desk.session.base
        values = {key: getattr(self._tried, key) for key in self._tried.changed_from(base)}
        path = self._tried.model_path
        values.pop("model_path", None)
        self._load(path, values | self._way)
