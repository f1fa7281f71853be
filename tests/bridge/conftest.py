"""Clients with stand-ins for the engine process behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import psutil
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from pytestqt.qtbot import QtBot

from engine_bridge.client import EngineClient
from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_process import kill_session
from engine_bridge.engine_state import DeathReason, EngineState
from engine_bridge.protocol import Event

# On a machine that builds something beside the tests even Python takes seconds to start.
PATIENCE_MS = 20_000
STAND_INS = "tests.bridge.children."


class Witness(QObject):
    """Notes everything that a client says, and speaks of it like a test."""

    def __init__(self, client: EngineClient, qtbot: QtBot) -> None:
        super().__init__()
        self.client = client
        self.events: list[Event] = []
        self.states: list[EngineState] = []
        self.deaths: list[DeathReason] = []
        self.stderr: list[str] = []
        self.stalls: list[str] = []
        self.pids: set[int] = set()
        self._qtbot = qtbot
        client.event_received.connect(self._on_event)
        client.state_changed.connect(self._on_state)
        client.engine_died.connect(self.deaths.append)
        client.stderr_received.connect(self.stderr.append)
        client.stall_suspected.connect(self.stalls.append)

    def _on_event(self, event: Event) -> None:
        self.events.append(event)

    def _on_state(self, state: EngineState) -> None:
        self.states.append(state)
        self.pids.add(self.client.pid)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Turn the event loop until the condition holds."""
        self._qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    def wait_for_state(self, state: EngineState) -> None:
        """Turn the event loop until the client is in this state."""
        self.wait_until(lambda: self.client.state is state)

    def wait_for_death(self, count: int = 1) -> DeathReason:
        """Turn the event loop until the engine has died this often."""
        self.wait_until(lambda: len(self.deaths) >= count)
        return self.deaths[-1]

    def of_kind(self, kind: type) -> list[Event]:
        """Events of one type."""
        return [event for event in self.events if isinstance(event, kind)]


@dataclass
class Stage:
    """Makes clients and takes them down."""

    qtbot: QtBot
    made: list[Witness] = field(default_factory=list)

    def client(
        self,
        stand_in: str,
        *arguments: str,
        limits: ClientLimits | None = None,
        start: bool = True,
    ) -> Witness:
        """A started client whose process is one of the stand-ins."""
        words = ("-m", STAND_INS + stand_in, *arguments)
        return self.client_of(EngineClient(arguments=words, limits=limits), start=start)

    def client_of(self, client: EngineClient, *, start: bool = True) -> Witness:
        """Notes for a client made by the test."""
        witness = Witness(client, self.qtbot)
        self.made.append(witness)
        if start:
            client.start()
        return witness


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    """A factory of clients; no process of theirs survives the test."""
    stage = Stage(qtbot)
    yield stage
    left = []
    for witness in stage.made:
        # How an engine that clings to life is ended is a matter of its own tests.
        kill_session(witness.client.pid)
        witness.client.close_now()
        left += [pid for pid in witness.pids - {0} if psutil.pid_exists(pid)]
        witness.client.deleteLater()
        witness.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not left
