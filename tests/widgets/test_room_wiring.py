"""The page *Room* says what it does: waits for faders, asks, or waits for what was asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.room_wiring import RoomWiring
from app.room_words import ASKING, RESTING
from engine_bridge.engine_state import EngineState
from engine_bridge.protocol import AskRoom, Command, PlanReady
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import EMPTY_PLAN, FakeClient, applied, model_facts
from widgets.room_panel import RoomPanel

pytestmark = pytest.mark.gui
CONFIG = EngineConfig.from_values({"ctx_per_slot_tok": 4096, "slots": 4})


class Client(FakeClient):
    """A client of an engine that has nothing to do."""

    state = EngineState.READY


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def desk(qtbot: QtBot, client: Client) -> Iterator[Desk]:
    made = Desk(CONFIG, client)  # type: ignore[arg-type]
    client.event_received.emit(applied(CONFIG, model=model_facts()))
    yield made
    made.session._forecast._overdue.stop()
    made.deleteLater()


@pytest.fixture
def room(desk: Desk, qtbot: QtBot) -> Iterator[RoomWiring]:
    panel = RoomPanel()
    qtbot.addWidget(panel)
    made = RoomWiring(desk, panel, panel)
    panel.show()
    yield made
    made.finder.set_seen(False)


def plan(client: Client) -> None:
    """The planner answers what it was asked last."""
    client.event_received.emit(PlanReady(len(client.planned), EMPTY_PLAN))


def rest(room: RoomWiring) -> None:
    """As if nothing had moved for as long as it takes."""
    timer = room.finder._rest
    assert timer.isActive()
    timer.stop()
    timer.timeout.emit()


def asked(client: Client) -> list[Command]:
    return [command for command in client.sent if isinstance(command, AskRoom)]


def test_that_it_says_asking_only_while_it_asks(
    desk: Desk, room: RoomWiring, client: Client
) -> None:
    fits = room._panel.fits
    plan(client)
    for slots in (5, 6, 7):
        desk.session.preview("slots", slots)
        plan(client)
        rest(room)  # held still, not let go
        assert fits.status.text() == RESTING
    assert asked(client) == []
    desk.session.commit("slots", 7)
    plan(client)
    assert fits.status.text() == RESTING
    rest(room)
    assert len(asked(client)) == 1
    assert fits.status.text() == ASKING
