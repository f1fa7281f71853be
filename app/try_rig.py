"""Carries a trial out beside the window: the engine's memory is given back where that is wanted."""

from __future__ import annotations

import threading
import time

from PySide6.QtCore import QObject, Qt, Signal

from app.desk import Desk
from app.experiments.experiment import Experiment
from app.experiments.port import PortError, StoppedError
from app.experiments.reporter import Reporter
from app.experiments.started_server import STOPPED
from app.experiments.window_port import WindowPort
from app.try_export import TryOut
from app.try_request import TryRequest
from engine_bridge.engine_state import EngineState

_SLICE_S = 0.1
# Freeing memory is quick; an engine that does not is killed by the client after its own patience.
_RELEASE_S = 60.0
# The window waits so long for the server's end; what is left of it ends with the program.
_FAREWELL_S = 1.0
_TAKEN_AWAY = (
    "The engine gave its memory back for a trial of llama-server. What this answer said is kept."
)


class TryRig(QObject):
    """A server that is started, and the window's engine beside it where that is wanted."""

    _release_wanted = Signal()

    def __init__(
        self, request: TryRequest, desk: Desk, engine: WindowPort | None, parent: QObject
    ) -> None:
        """Start nothing yet; ``engine`` is this object's from now on."""
        super().__init__(parent)
        self._desk = desk
        self._engine = engine
        if engine is not None:
            engine.setParent(self)
        self._is_stopped = False
        self._is_released = threading.Event()
        self._work = TryOut(request, self._release)
        self._release_wanted.connect(self._on_release_wanted, Qt.ConnectionType.QueuedConnection)

    def do(self, reporter: Reporter) -> Experiment:
        """Carry the request out; blocks."""
        return self._work.do(self._engine, reporter)

    def stop(self) -> None:
        """End it soon."""
        self._is_stopped = True
        self._work.stop()
        if self._engine is not None:
            self._engine.stop()

    def close(self) -> None:
        """Bring the engine back with the user's settings."""
        if self._engine is not None:
            self._engine.close()

    def shut(self) -> None:
        """The window closes: no server stays behind; waits a second at most."""
        self.stop()
        if self._engine is not None:
            self._engine.shut()
        self._work.is_over.wait(_FAREWELL_S)

    # --- The engine's memory ------------------------------------------------------------

    def _release(self) -> None:
        """In the experiment's thread: have the engine end, and wait until it is gone."""
        self._release_wanted.emit()
        deadline_s = time.monotonic() + _RELEASE_S
        while not self._is_released.wait(_SLICE_S):
            if self._is_stopped:
                raise StoppedError(STOPPED)
            if time.monotonic() > deadline_s:
                raise PortError("TuneDeck's engine did not give its memory back. Try it again.")

    def _on_release_wanted(self) -> None:
        """In the GUI thread."""
        client = self._desk.client
        if client.state is EngineState.DEAD:
            self._is_released.set()
            return
        self._desk.chats.give_up_all(_TAKEN_AWAY)
        client.state_changed.connect(self._on_state_changed)
        client.shutdown()

    def _on_state_changed(self, state: EngineState) -> None:
        if state is EngineState.DEAD:
            self._desk.client.state_changed.disconnect(self._on_state_changed)
            self._desk.meters.note_engine_gone(time.perf_counter_ns())
            self._is_released.set()
