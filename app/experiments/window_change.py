"""Brings the window's engine to a configuration in the way a user does, so that all see it.

Lives in the GUI thread. Goes through the session: faders move, the top bar shows the load, refusals
are told. Starts an engine that is dead, and loads the model where another or none runs.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.model_bound import for_file
from app.session import Session
from engine_bridge.client import EngineClient
from engine_bridge.engine_state import DeathReason, EngineState
from engine_bridge.protocol import Event, Hello, Refused
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import errors_of


class WindowChange(QObject):
    """One change at a time.

    Signals:
        ended: The ``Applied`` that runs now, the ``Problem`` for which it was refused, or the
            sentence with which the engine was lost.
        overruled: The user opened another model meanwhile; nothing ends any more.
    """

    ended = Signal(object)
    overruled = Signal()

    def __init__(
        self, client: EngineClient, session: Session, parent: QObject | None = None
    ) -> None:
        """Nothing is under way."""
        super().__init__(parent)
        self._client = client
        self._session = session
        self._target: EngineConfig | None = None
        self._has_cancelled = False  # and the refusal that answers it is still to come
        self._is_acting = False
        session.work_changed.connect(self._on_work_changed)
        session.refused.connect(self._on_refused)
        client.event_received.connect(self._on_event_received)
        client.engine_died.connect(self._on_engine_died)

    @property
    def is_under_way(self) -> bool:
        """Whether ``ended`` is still to come."""
        return self._target is not None

    @property
    def is_acting(self) -> bool:
        """Whether what the session tells at this moment is of this change's making."""
        return self._is_acting

    def begin(self, target: EngineConfig) -> None:
        """Run ``target``; what the engine is at with its settings ends first."""
        self._target = target
        if self._client.state is EngineState.DEAD:
            self._client.restart()
        else:
            self._go_on()

    def give_up(self) -> None:
        """End no more; a load under way is cancelled."""
        if self._target is not None:
            self._target = None
            self._has_cancelled = bool(self._session.work)
            self._session.cancel_load()

    # --- Inside -------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Take the next step, if the last one is over."""
        target, session = self._target, self._session
        is_up = self._client.state not in (EngineState.DEAD, EngineState.STARTING)
        if target is None or self._is_working() or not is_up:
            return
        self._has_cancelled = False
        applied = session.applied
        if applied is None or applied.config.model_path != target.model_path:
            self._load(target)
            return
        if session.wanted != target:
            self._act(lambda: session.try_out(target))
            if self._is_working():  # what costs nothing is on its way already
                return
        if applied.config == target:
            self._end(applied)
        elif errors := errors_of(target, session.model):
            self._end(errors[0])
        else:
            self._act(session.apply)
            self._end_unless_working()

    def _load(self, target: EngineConfig) -> None:
        session = self._session
        self._act(lambda: session.try_out(target))
        base = for_file(session.base, target.model_path)
        values = {key: getattr(target, key) for key in target.changed_from(base)}
        values.pop("model_path", None)
        self._act(lambda: session.load(target.model_path, values))
        self._end_unless_working()

    def _act(self, deed: Callable[[], None]) -> None:
        self._is_acting = True
        try:
            deed()
        finally:
            self._is_acting = False

    def _is_working(self) -> bool:
        return bool(self._session.work)

    def _end_unless_working(self) -> None:
        if not self._is_working():
            self._end(self._client.refusal)

    def _end(self, result: object) -> None:
        self._target = None
        self.ended.emit(result)

    def _soon(self) -> None:
        # The session is in the middle of telling everybody.
        QTimer.singleShot(0, self, self._go_on)

    def _on_work_changed(self, work: str) -> None:
        if self._target is None:
            return
        tried = self._session.tried
        is_other = tried is not None and tried.model_path != self._target.model_path
        if work == "load" and is_other and not self._is_acting:
            self._target = None
            self.overruled.emit()
        elif not work:
            self._soon()

    def _on_refused(self, refused: Refused) -> None:
        if self._target is not None and not self._has_cancelled:
            self._end(refused.problem)

    def _on_event_received(self, event: Event) -> None:
        if self._target is not None and isinstance(event, Hello):
            QTimer.singleShot(0, self, self._on_started_anew)

    def _on_started_anew(self) -> None:
        """A new engine: not what ran last, of which the old one may have died, but the target."""
        if self._target is not None:
            self._load(self._target)

    def _on_engine_died(self, reason: DeathReason) -> None:
        if self._target is not None:
            self._end(reason.cause)
