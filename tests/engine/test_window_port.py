"""Experiments on the window's engine: a thread, an event loop and a real engine process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from pytestqt.qtbot import QtBot

from app.experiments.play import play
from app.experiments.port import ConfigRefusedError, EngineGoneError, PortError, StoppedError
from app.experiments.run_record import RunRecord
from app.experiments.script import Script, Turn
from app.experiments.window_port import WindowPort
from app.session import Session
from engine_bridge.client import EngineClient
from engine_bridge.engine_state import EngineState
from engine_bridge.protocol import (
    Applied,
    ChatMessage,
    Event,
    Generate,
    RequestFinished,
    RequestStarted,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import tiny_config

pytestmark = [pytest.mark.engine, pytest.mark.gui]

PATIENCE_MS = 60_000
_T = TypeVar("_T")


class InThread(Generic[_T]):
    """Something that blocks, in a thread of its own."""

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._results: list[_T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="experiment")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:
            self._error = error

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def result(self) -> _T:
        """What came of it; only once it is over."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._results[0]


class Window:
    """Client and session as in the window, a model loaded."""

    def __init__(self, qtbot: QtBot, config: EngineConfig) -> None:
        self.qtbot = qtbot
        self.client = EngineClient()
        self.session = Session(self.client, EngineConfig())
        self.events: list[Event] = []
        self.client.event_received.connect(self._on_event)
        self.client.start()
        self.until(lambda: self.client.state is EngineState.READY)
        values = {key: getattr(config, key) for key in config.changed_from(EngineConfig())}
        self.session.load(values.pop("model_path"), values)
        self.until(lambda: self.session.applied is not None)
        self.ports: list[WindowPort] = []

    def _on_event(self, event: Event) -> None:
        self.events.append(event)

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    def port(self) -> WindowPort:
        self.ports.append(WindowPort(self.client, self.session))
        return self.ports[-1]

    def run(self, work: Callable[[], _T]) -> _T:
        """Work in a thread while this one turns the event loop."""
        thread = InThread(work)
        self.until(lambda: thread.is_over)
        return thread.result()

    @property
    def config(self) -> EngineConfig:
        assert self.session.applied is not None
        return self.session.applied.config

    def close(self) -> None:
        self.client.close_now()
        for thing in (*self.ports, self.session, self.client):
            thing.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def window(qtbot: QtBot, tiny_chat_path: Path) -> Iterator[Window]:
    opened = Window(qtbot, tiny_config(tiny_chat_path, slots=1))
    yield opened
    opened.close()


def scripts(count: int, new_tok: int = 24) -> list[Script]:
    turns = (Turn("Tell me about rivers.", new_tok), Turn("And about lakes?", new_tok))
    return [Script(f"s{n}", turns, system=f"User {n} wants short answers.") for n in range(count)]


def test_that_an_experiment_runs_and_gives_the_settings_back(window: Window) -> None:
    users, undone = window.config, window.session.can_undo
    window.session.commit("slots", 4)  # waits for Apply when the experiment begins
    wanted = window.session.wanted
    port = window.port()
    target = users.with_values({"slots": 2, "temperature": 0.5})

    def experiment() -> tuple[Applied, RunRecord]:
        try:
            return port.apply(target), play(port, scripts(4), users=2)
        finally:
            port.close()

    applied, record = window.run(experiment)
    assert applied.config == target
    assert applied.effective.slots == 2
    assert applied.model is not None
    assert [r.reason for r in record.requests] == ["token_limit"] * 8
    assert sum(work.delivered_tok for work in record.work) == 8 * 24
    assert record.owned_bytes > 0
    assert record.disturbances == ()
    assert port.pid == window.client.pid == port.hello.pid
    # The window saw all of it, and has what it had.
    assert len([e for e in window.events if isinstance(e, RequestFinished)]) == 8
    assert window.config == users
    assert window.session.wanted == wanted
    window.session.undo()
    assert window.session.can_undo == undone


def test_that_chats_are_answered_and_told_as_a_disturbance(window: Window) -> None:
    port = window.port()
    chat = Generate(1_000_000, "chat", (ChatMessage("user", "Hello."),), max_new_tok=5)

    def interfere(event: Event) -> None:
        if isinstance(event, RequestStarted) and event.request_id != chat.request_id:
            window.client.event_received.disconnect(interfere)
            window.client.send(chat)

    window.client.event_received.connect(interfere)

    def experiment() -> tuple[RunRecord, RunRecord]:
        port.apply(window.config)
        first, second = (play(port, scripts(3)) for _ in range(2))
        port.close()
        return first, second

    first, second = window.run(experiment)
    assert first.disturbances == ("The engine answered a request of the window's chats meanwhile.",)
    assert second.disturbances == ()
    assert len(first.requests) == 6
    ended = [e.request_id for e in window.events if isinstance(e, RequestFinished)]
    assert chat.request_id in ended
    assert all(number >= 1_000_000_000 for number in ended if number != chat.request_id)


def test_that_a_stop_leaves_an_idle_engine_with_the_user_s_settings(window: Window) -> None:
    users = window.config
    port = window.port()
    heard: list[StoppedError] = []

    def experiment() -> None:
        try:
            port.apply(users.with_values({"slots": 3}))
            play(port, scripts(60, 200), users=6, progressed=lambda *_: port.stop())
        except StoppedError as error:
            heard.append(error)
        finally:
            port.close()

    window.run(experiment)
    record = heard[0].record
    assert record is not None
    assert {r.reason for r in record.requests} == {"token_limit", "cancelled"}
    assert window.config == users
    assert window.client.state is EngineState.READY
    # The next experiment takes up where this one ended, with numbers of its own.
    last = port.next_id()
    again = window.port()
    assert again.next_id() > last

    def next_experiment() -> RunRecord:
        record = play(again, scripts(1))
        again.close()
        return record

    assert len(window.run(next_experiment).requests) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a thing of POSIX")
def test_that_a_dead_engine_is_told_as_in_the_window_and_replaced(window: Window) -> None:
    users = window.config
    port = window.port()
    pid = window.client.pid
    errors: list[EngineGoneError] = []

    def experiment() -> RunRecord:
        port.apply(users.with_values({"slots": 2}))
        try:
            play(
                port, scripts(30, 200), users=2,
                progressed=lambda *_: os.kill(pid, signal.SIGKILL),
            )  # fmt: skip
        except EngineGoneError as error:
            errors.append(error)
        port.apply(users.with_values({"slots": 3}))
        record = play(port, scripts(2))
        port.close()
        return record

    deaths: list[str] = []
    window.client.engine_died.connect(lambda death: deaths.append(death.cause))
    record = window.run(experiment)
    assert [str(error) for error in errors] == deaths
    assert "SIGKILL" in deaths[0]
    assert "restart" not in deaths[0], "it is restarted without the user"
    assert errors[0].record is not None
    assert errors[0].record.requests[0].reason == "token_limit"
    assert window.client.pid not in (0, pid)
    assert len(record.requests) == 4
    assert window.config == users


def test_that_a_refused_configuration_leaves_the_one_before(window: Window, tmp_path: Path) -> None:
    users = window.config
    port = window.port()

    def experiment() -> RunRecord:
        impossible: tuple[dict[str, object], ...] = (
            {"flash_attn": "off", "cache_type_v": "q8_0"},
            {"model_path": str(tmp_path / "gone.gguf")},
        )
        for values in impossible:
            with pytest.raises(ConfigRefusedError):
                port.apply(users.with_values(values))
        record = play(port, scripts(1))
        port.close()
        return record

    assert len(window.run(experiment).requests) == 2
    assert window.config == window.session.wanted == users


def test_that_settings_changed_by_the_user_end_the_experiment(window: Window) -> None:
    users = window.config
    port = window.port()

    def interfere(event: Event) -> None:
        if isinstance(event, TokensDelivered):
            window.client.event_received.disconnect(interfere)
            window.session.commit("top_k", 7)

    window.client.event_received.connect(interfere)

    def experiment() -> None:
        try:
            play(port, scripts(60, 200))
        finally:
            port.close()

    with pytest.raises(PortError, match="changed in the window"):
        window.run(experiment)
    assert window.config == users.with_values({"top_k": 7}), "what the user set last is in force"


def test_that_what_the_user_sets_meanwhile_waits_for_apply_at_the_end(window: Window) -> None:
    users = window.config
    port = window.port()

    def interfere(event: Event) -> None:
        if isinstance(event, TokensDelivered):
            window.client.event_received.disconnect(interfere)
            window.session.commit("slots", 5)

    window.client.event_received.connect(interfere)

    def experiment() -> None:
        try:
            port.apply(users.with_values({"slots": 2}))
            play(port, scripts(2))
            port.apply(users.with_values({"slots": 3}))
            play(port, scripts(2))
        finally:
            port.close()

    window.run(experiment)
    assert window.config == users
    assert window.session.wanted == users.with_values({"slots": 5})


def test_that_a_model_opened_while_settings_change_ends_the_experiment_and_stays(
    window: Window, tiny_path: Path
) -> None:
    users = window.config
    port = window.port()
    works: list[str] = []

    def interfere(work: str) -> None:
        works.append(work)
        if work == "apply":
            window.session.work_changed.disconnect(interfere)
            QTimer.singleShot(0, window.session, lambda: window.session.load(str(tiny_path)))

    window.session.work_changed.connect(interfere)

    def experiment() -> None:
        try:
            for slots in (2, 3, 4):
                port.apply(users.with_values({"slots": slots}))
                play(port, scripts(4, 100))
        finally:
            port.close()

    with pytest.raises(PortError, match="changed in the window"):
        window.run(experiment)
    assert "apply" in works
    assert window.config == users.with_values({"model_path": str(tiny_path)})


def test_that_a_model_opened_by_the_user_ends_the_experiment_and_stays(
    window: Window, tiny_path: Path
) -> None:
    users = window.config
    port = window.port()

    def interfere(event: Event) -> None:
        if isinstance(event, TokensDelivered):
            window.client.event_received.disconnect(interfere)
            window.session.load(str(tiny_path))

    window.client.event_received.connect(interfere)

    def experiment() -> None:
        try:
            port.apply(users.with_values({"slots": 2}))
            play(port, scripts(60, 200))
        finally:
            port.close()

    with pytest.raises(PortError, match="changed in the window"):
        window.run(experiment)
    assert window.config == users.with_values({"model_path": str(tiny_path)})


def test_that_a_window_that_closes_waits_for_no_experiment(window: Window) -> None:
    port = window.port()

    def experiment() -> None:
        try:
            port.apply(window.config.with_values({"slots": 2}))
            play(port, scripts(200, 200))
        finally:
            port.close()

    thread = InThread(experiment)
    window.until(lambda: any(isinstance(event, TokensDelivered) for event in window.events))
    port.shut()
    with pytest.raises(StoppedError):  # without a turn of the event loop
        thread.result()
