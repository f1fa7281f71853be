"""The window's engine brought to a configuration, step by step, with a made-up client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication

from app.experiments.window_change import WindowChange
from app.session import Session
from engine_bridge.client import EngineClient
from engine_bridge.engine_state import DeathKind, DeathReason, EngineState
from engine_bridge.protocol import (
    PROTOCOL_VERSION,
    Applied,
    Apply,
    CancelLoad,
    Hello,
    Load,
    Refused,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem
from tests.unit.fake_client import FakeClient, applied, model_facts

HELLO = Hello(PROTOCOL_VERSION, 1, 1, "0", "made up", (), False)
OTHER = Problem((), "No.")


class Client(FakeClient):
    """A client that can be dead and come back."""

    def __init__(self) -> None:
        super().__init__()
        self.state = EngineState.READY
        self.restarts = 0

    def restart(self) -> None:
        self.restarts += 1
        self.state = EngineState.STARTING

    def answer(self) -> None:
        """Do the last command."""
        command = self.sent[-1]
        assert isinstance(command, Load | Apply)
        is_load = isinstance(command, Load)
        self.event_received.emit(
            applied(
                command.config,
                request_id=command.request_id,
                cost="reload" if is_load else "new context",
                model=model_facts(path=command.config.model_path) if is_load else None,
            )
        )
        turn()

    def refuse(self, problem: Problem, *, is_cancelled: bool = False) -> None:
        """Refuse the last load or change."""
        command = [c for c in self.sent if isinstance(c, Load | Apply)][-1]
        name = "load" if isinstance(command, Load) else "apply"
        self.event_received.emit(
            Refused(name, command.request_id, problem, is_cancelled=is_cancelled)
        )
        turn()


def turn() -> None:
    """Let the loop do what was put off."""
    QCoreApplication.processEvents()


class Room:
    """A session with a model, and what the change said."""

    def __init__(self) -> None:
        self.client = Client()
        self.session = Session(cast(EngineClient, self.client), EngineConfig())
        self.session.load("/m.gguf")
        self.client.answer()
        self.change = WindowChange(cast(EngineClient, self.client), self.session, self.session)
        self.ended: list[object] = []
        self.change.ended.connect(self.ended.append)

    @property
    def config(self) -> EngineConfig:
        assert self.session.applied is not None
        return self.session.applied.config


@pytest.fixture
def room(qapp: QApplication) -> Iterator[Room]:
    made = Room()
    yield made
    shiboken6.delete(made.session)


def test_that_a_change_goes_the_user_s_way_without_a_step_of_undo(room: Room) -> None:
    target = room.config.with_values({"slots": 2, "cache_type_k": "q8_0"})
    room.change.begin(target)
    assert room.session.wanted == target
    assert room.session.work == "apply"
    assert room.ended == []
    room.client.answer()
    (result,) = room.ended
    assert isinstance(result, Applied)
    assert result.config == target
    assert not room.session.can_undo


def test_that_what_is_live_goes_first_and_the_rest_follows(room: Room) -> None:
    target = room.config.with_values({"temperature": 0.0, "slots": 2})
    room.change.begin(target)
    first = room.client.sent[-1]
    assert isinstance(first, Apply)
    assert (first.config.temperature, first.config.slots) == (0.0, 4)
    room.client.answer()
    assert room.ended == []
    room.client.answer()
    assert [result.config for result in room.ended if isinstance(result, Applied)] == [target]


def test_that_what_runs_already_is_told_at_once(room: Room) -> None:
    room.change.begin(room.config)
    assert len(room.ended) == 1
    assert not room.change.is_under_way


def test_that_another_model_is_loaded_with_exactly_these_settings(room: Room) -> None:
    target = room.config.with_values({"model_path": "/other.gguf", "slots": 2})
    room.change.begin(target)
    command = room.client.sent[-1]
    assert isinstance(command, Load)
    assert command.config == target
    room.client.answer()
    assert len(room.ended) == 1
    assert room.session.wanted == target
    assert not room.session.can_undo


def test_that_a_rule_refuses_before_the_engine_is_asked(room: Room) -> None:
    sent = len(room.client.sent)
    room.change.begin(room.config.with_values({"flash_attn": "off", "cache_type_v": "q8_0"}))
    (result,) = room.ended
    assert isinstance(result, Problem)
    assert len(room.client.sent) == sent


def test_that_a_refusal_of_the_engine_ends_it(room: Room) -> None:
    room.change.begin(room.config.with_values({"slots": 2}))
    room.client.refuse(OTHER)
    assert room.ended == [OTHER]
    assert room.config.slots == 4


def test_that_a_death_ends_it_and_the_next_one_starts_an_engine(room: Room) -> None:
    target = room.config.with_values({"slots": 2})
    room.change.begin(target)
    room.client.state = EngineState.DEAD
    room.client.engine_died.emit(DeathReason(DeathKind.CRASHED, "It died.", "changing"))
    assert room.ended == ["It died."]
    room.change.begin(target)
    assert room.client.restarts == 1
    room.client.state = EngineState.READY
    # The window loads what ran last; that may be what the engine died of.
    room.client.event_received.emit(HELLO)
    room.session.reload()
    turn()
    command = room.client.sent[-1]
    assert isinstance(command, Load)
    assert command.config == target
    room.client.answer()
    assert isinstance(room.ended[-1], Applied)
    assert room.ended[-1].config == target


def test_that_a_user_s_own_load_is_waited_for(room: Room) -> None:
    target = room.config.with_values({"slots": 2})
    room.session.load("/m.gguf")
    room.change.begin(target)
    assert isinstance(room.client.sent[-1], Load)
    room.client.answer()
    assert isinstance(room.client.sent[-1], Apply)
    room.client.answer()
    assert len(room.ended) == 1


def test_that_what_is_given_up_says_nothing_and_spoils_nothing(room: Room) -> None:
    before = room.config
    room.change.begin(before.with_values({"model_path": "/other.gguf"}))
    room.change.give_up()
    assert isinstance(room.client.sent[-1], CancelLoad)
    room.change.begin(before)
    assert room.ended == []
    room.client.refuse(OTHER, is_cancelled=True)
    assert [result.config for result in room.ended if isinstance(result, Applied)] == [before]


def test_that_a_load_that_the_user_cancels_is_a_refusal(room: Room) -> None:
    room.change.begin(room.config.with_values({"model_path": "/other.gguf"}))
    room.client.refuse(OTHER, is_cancelled=True)
    assert room.ended == [OTHER]


def test_that_a_client_that_cannot_send_is_an_end(room: Room) -> None:
    room.client.is_alive = False
    room.change.begin(room.config.with_values({"slots": 2}))
    assert room.ended == ["The engine is not running; restart it."]
