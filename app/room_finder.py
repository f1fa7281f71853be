"""Asks the engine what still fits: when the faders have come to rest and somebody looks.

Holds no widget. A search is some dry runs, and dry runs take their time from decoding: so one at a
time, none while a fader moves, none for a page that is not seen.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.session import Session
from engine_bridge.client import EngineClient
from engine_bridge.engine_state import EngineState
from engine_bridge.protocol import AskRoom, RoomFound
from engine_bridge.settings.config import EngineConfig

REST_MS = 500
"""So long nothing may have moved before a search begins."""
# Other programs take and give memory; while nothing is answered a fresh look costs nobody anything.
_FRESH_S = 30.0


class RoomFinder(QObject):
    """The newest answer, and whether it is of the settings as they stand.

    Signals:
        changed: An answer came, or what is known is of other settings now.
    """

    changed = Signal()

    def __init__(
        self,
        session: Session,
        client: EngineClient,
        parent: QObject,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Follow ``session``; nothing is asked before ``set_seen``."""
        super().__init__(parent)
        self._session = session
        self._client = client
        self._clock_s = clock_s
        self._numbers = itertools.count(1)
        self._is_seen = False
        self._asked_id: int | None = None
        self._asked: object = None
        self._asked_config: EngineConfig | None = None
        self._found: RoomFound | None = None
        self._found_config: EngineConfig | None = None
        self._found_s = float("-inf")
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._on_rest_timeout)
        # Problems are told anew with every move of a fader.
        session.problems_changed.connect(lambda _: self._wait())
        session.wanted_changed.connect(lambda _: self._wait())
        session.work_changed.connect(lambda _: self._wait())
        session.applied_changed.connect(lambda _: self._outdate())
        client.engine_died.connect(lambda _: self._forget())
        client.event_received.connect(self._on_event_received)

    @property
    def found(self) -> RoomFound | None:
        """The newest answer; of earlier settings while ``is_current`` is false."""
        return self._found

    @property
    def found_config(self) -> EngineConfig | None:
        """The configuration that ``found`` is for."""
        return self._found_config

    @property
    def is_current(self) -> bool:
        """Whether ``found`` is of the settings as they stand."""
        return self._found is not None and self._found_config == self._session.candidate

    @property
    def is_asking(self) -> bool:
        """Whether an answer is on its way."""
        return self._asked_id is not None

    def set_seen(self, is_seen: bool) -> None:
        """Somebody looks at the answers, or nobody does any more."""
        self._is_seen = is_seen
        if is_seen:
            self._wait()
        else:
            self._rest.stop()

    def refresh(self) -> None:
        """Ask again where the answer has become old and no stream has to wait for it."""
        is_old = self._clock_s() - self._found_s >= _FRESH_S
        is_idle = self._client.state is EngineState.READY and not self._rest.isActive()
        if self._is_seen and is_old and is_idle and self._asked_id is None and self.is_current:
            self._asked = None
            self._ask()

    # --- Inside -------------------------------------------------------------------------

    def _wait(self) -> None:
        if self._is_seen:
            self._rest.start()
        self.changed.emit()

    def _outdate(self) -> None:
        """The engine runs something else: what fits beside it is another question."""
        self._asked = None
        if self._session.applied is None:
            self._forget()
        self._wait()

    def _forget(self) -> None:
        self._rest.stop()
        self._asked_id = self._asked = None
        self._found = self._found_config = None
        self.changed.emit()

    def _on_rest_timeout(self) -> None:
        session = self._session
        is_held = session.candidate != session.wanted
        if is_held or session.is_planning or session.work:
            self._rest.start()
            return
        self._ask()

    def _ask(self) -> None:
        applied = self._session.applied
        if not self._is_seen or applied is None or self._client.state is EngineState.DEAD:
            return
        question = (self._session.candidate, applied.request_id)
        if question == self._asked:
            return
        number = next(self._numbers)
        if not self._client.send(AskRoom(number, self._session.candidate)):
            return
        self._asked, self._asked_id = question, number
        self._asked_config = self._session.candidate
        self.changed.emit()

    def _on_event_received(self, event: object) -> None:
        if isinstance(event, RoomFound) and event.room_id == self._asked_id:
            self._asked_id = None
            self._found, self._found_config = event, self._asked_config
            self._found_s = self._clock_s()
            self.changed.emit()
