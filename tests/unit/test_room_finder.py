"""When the engine is asked what fits: at rest, while somebody looks, and no more often."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.room_finder import REST_MS, RoomFinder
from app.session import Session
from engine_bridge.engine_state import EngineState
from engine_bridge.memory_room import CoarseRoom, Most, RoomFigures
from engine_bridge.protocol import AskRoom, PlanReady, RoomFound, Unloaded
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import EMPTY_PLAN, FakeClient, applied, model_facts

pytestmark = pytest.mark.gui
CONFIG = EngineConfig.from_values({"ctx_per_slot_tok": 4096, "slots": 4})
FIGURES = RoomFigures(Most(6, "memory"), Most(8192, "memory"), CoarseRoom(), 0.1, 9)


class Client(FakeClient):
    """A client of an engine that has nothing to do."""

    state = EngineState.READY


class Desk:
    """A session with a model, a client that writes down, and a finder with a clock to set."""

    def __init__(self, parent: QObject) -> None:
        self.client = Client()
        self.session = Session(self.client, CONFIG, parent)  # type: ignore[arg-type]
        self.now_s = 0.0
        self.finder = RoomFinder(self.session, self.client, parent, lambda: self.now_s)  # type: ignore[arg-type]

    def load(self) -> None:
        self.client.event_received.emit(applied(CONFIG, model=model_facts()))
        self.plan()

    def plan(self) -> None:
        """The planner answers what it was asked last."""
        self.client.event_received.emit(PlanReady(len(self.client.planned), EMPTY_PLAN))

    def rest(self) -> None:
        """As if nothing had moved for as long as it takes."""
        timer = self.finder._rest
        if timer.isActive():
            timer.stop()
            timer.timeout.emit()

    @property
    def asked(self) -> list[AskRoom]:
        return [command for command in self.client.sent if isinstance(command, AskRoom)]

    def answer(self, number: int | None = None) -> None:
        self.client.event_received.emit(
            RoomFound(self.asked[-1].room_id if number is None else number, FIGURES)
        )


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    parent = QObject()
    made = Desk(parent)
    yield made
    made.finder.set_seen(False)
    made.session._forecast._overdue.stop()
    parent.deleteLater()


def test_that_nothing_is_asked_for_a_page_that_nobody_sees(desk: Desk) -> None:
    desk.load()
    assert not desk.finder._rest.isActive()
    desk.rest()
    assert desk.asked == []


def test_that_it_is_asked_once_the_page_is_seen_and_all_rests(desk: Desk) -> None:
    desk.load()
    desk.finder.set_seen(True)
    assert desk.finder._rest.interval() == REST_MS == 500
    assert desk.asked == []
    desk.rest()
    assert [command.config for command in desk.asked] == [CONFIG]
    assert desk.finder.is_asking
    desk.answer()
    assert desk.finder.found is not None
    assert desk.finder.found.room == FIGURES
    assert desk.finder.is_current
    assert not desk.finder.is_asking


def test_that_a_moving_fader_is_waited_for(desk: Desk) -> None:
    desk.load()
    desk.finder.set_seen(True)
    for slots in (5, 6, 7):
        desk.session.preview("slots", slots)
        desk.plan()
    desk.rest()  # held still, not let go
    assert desk.asked == []
    assert desk.finder._rest.isActive()
    desk.session.commit("slots", 7)
    desk.plan()
    desk.rest()
    assert [command.config.slots for command in desk.asked] == [7]


def test_that_a_plan_under_way_is_waited_for(desk: Desk) -> None:
    desk.load()
    desk.finder.set_seen(True)
    desk.session.commit("slots", 7)
    desk.rest()
    assert desk.asked == []
    desk.plan()
    desk.rest()
    assert len(desk.asked) == 1


def test_that_the_same_is_not_asked_twice(desk: Desk) -> None:
    desk.load()
    desk.finder.set_seen(True)
    desk.rest()
    desk.finder.set_seen(False)
    desk.finder.set_seen(True)
    desk.rest()
    assert len(desk.asked) == 1


def test_that_an_answer_of_earlier_settings_is_told_apart(desk: Desk) -> None:
    desk.load()
    desk.finder.set_seen(True)
    desk.rest()
    desk.session.commit("slots", 7)
    desk.answer()
    assert not desk.finder.is_current
    desk.plan()
    desk.rest()
    first, second = (command.room_id for command in desk.asked)
    desk.answer(first)
    assert not desk.finder.is_current, "the newest question counts"
    desk.answer(second)
    assert desk.finder.is_current


def test_that_another_configuration_that_runs_is_another_question(desk: Desk) -> None:
    desk.load()
    desk.finder.set_seen(True)
    desk.rest()
    desk.answer()
    desk.client.event_received.emit(applied(CONFIG, request_id=2, cost="new context"))
    desk.plan()
    desk.rest()
    assert len(desk.asked) == 2


def test_that_an_old_answer_is_renewed_while_nothing_is_answered(desk: Desk) -> None:
    desk.load()
    desk.finder.set_seen(True)
    desk.rest()
    desk.answer()
    desk.now_s = 29.0
    desk.finder.refresh()
    assert len(desk.asked) == 1
    desk.now_s = 31.0
    desk.client.state = EngineState.BUSY
    desk.finder.refresh()
    assert len(desk.asked) == 1, "streams go before"
    desk.client.state = EngineState.READY
    desk.finder.refresh()
    assert len(desk.asked) == 2
    desk.finder.refresh()
    assert len(desk.asked) == 2, "one at a time"


def test_that_a_dead_engine_has_no_answer(desk: Desk) -> None:
    desk.load()
    desk.finder.set_seen(True)
    desk.rest()
    desk.client.state = EngineState.DEAD
    desk.client.engine_died.emit(None)
    assert desk.finder.found is None
    assert not desk.finder.is_asking
    desk.session.commit("slots", 7)
    desk.session._forecast._overdue.stop()
    desk.plan()
    desk.rest()
    assert len(desk.asked) == 1


def test_that_a_model_that_is_gone_takes_its_answer_with_it(desk: Desk) -> None:
    desk.load()
    desk.finder.set_seen(True)
    desk.rest()
    desk.answer()
    desk.client.event_received.emit(Unloaded("Gone."))
    assert desk.finder.found is None
    desk.rest()
    assert len(desk.asked) == 1
