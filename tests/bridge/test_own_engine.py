"""An experiment's own engine process, with stand-ins that die, hang, flood and cling."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable

import psutil
import pytest

from app.experiments import own_engine
from app.experiments.own_engine import OwnEngine
from app.experiments.port import EngineGoneError, PortError, StoppedError
from engine_bridge.client_limits import ClientLimits
from engine_bridge.protocol import (
    ChatMessage,
    Event,
    Generate,
    Logged,
    RequestFinished,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.bridge.conftest import STAND_INS

CONFIG = EngineConfig(model_path="/models/some.gguf")
IMPATIENT = ClientLimits(stall_after_s=2.0)
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are a thing of POSIX")


def engine(stand_in: str, *words: str, limits: ClientLimits | None = None) -> OwnEngine:
    """An engine whose process is a stand-in; none of them measures a peak."""
    arguments = (sys.executable, "-m", STAND_INS + stand_in, *words)
    return OwnEngine(arguments, limits or ClientLimits(), awaits_peak=False)


def ask(port: OwnEngine) -> int:
    number = port.next_id()
    port.send(Generate(number, "a", (ChatMessage("user", "Count to three."),)))
    return number


def until(
    port: OwnEngine, is_last: Callable[[Event], bool], heard: list[Event] | None = None
) -> list[Event]:
    """Events up to the one that is asked for, in ``heard``; a death of the engine ends this too."""
    events = [] if heard is None else heard
    while not events or not is_last(events[-1]):
        event = port.next_event(60.0)
        events += [event] if event is not None else []
    return events


def test_that_it_answers_and_leaves_when_it_is_closed() -> None:
    with engine("polite") as port:
        pid = port.pid
        assert port.hello.pid == pid
        assert port.apply(CONFIG).config == CONFIG
        number = ask(port)
        events = until(port, lambda event: isinstance(event, RequestFinished))
        text = "".join(e.text for e in events if isinstance(e, TokensDelivered))
        assert text == "one two three ✓"
        assert isinstance(events[-1], RequestFinished)
        assert events[-1].request_id == number
        assert port.next_event(0.0) is None
    assert not psutil.pid_exists(pid)
    assert port.pid == 0
    port.close()
    with pytest.raises(EngineGoneError, match="was ended"):
        ask(port)


def test_that_one_that_cannot_start_says_why() -> None:
    with pytest.raises(EngineGoneError, match="could not be started"):
        OwnEngine(("/no/such/program",))
    with pytest.raises(EngineGoneError, match=r"while starting.*libllama\.so: cannot open"):
        engine("dies", "at start")


@posix
def test_that_a_death_in_an_answer_is_told() -> None:
    with engine("dies", "kill") as port:
        ask(port)
        heard: list[Event] = []
        with pytest.raises(EngineGoneError) as caught:
            until(port, lambda event: False, heard)
        # What it said before it died still counts.
        assert isinstance(heard[-1], TokensDelivered)
        sentence = str(caught.value)
        assert "ended by SIGKILL while writing an answer" in sentence
        assert "It said: “ggml.c:1: GGML_ASSERT(n > 0) failed”" in sentence
        assert "conversations" not in sentence  # the window has those
        with pytest.raises(EngineGoneError, match="SIGKILL"):
            ask(port)


def test_that_each_configuration_that_ends_the_engine_gets_a_fresh_one() -> None:
    with engine("dies", "3") as port:
        pids = {port.pid}
        for _ in range(2):
            with pytest.raises(EngineGoneError, match=r"exit code 3 while loading some\.gguf"):
                port.apply(CONFIG)
            assert port.pid == 0
        assert port.hello.pid not in pids


@posix
@pytest.mark.parametrize("stand_in", ["hangs", "deaf"])
def test_that_an_engine_that_does_nothing_is_ended(stand_in: str) -> None:
    with engine(stand_in, limits=IMPATIENT) as port:
        pid = port.pid
        ask(port)
        with pytest.raises(EngineGoneError, match=r"seems to hang while .* It was ended\."):
            until(port, lambda event: False)
        assert not psutil.pid_exists(pid)


@posix
def test_that_an_engine_that_never_greets_is_ended() -> None:
    with pytest.raises(EngineGoneError, match="seems to hang while starting"):
        engine("hangs", "start", limits=IMPATIENT)


def test_that_an_engine_of_another_version_is_ended() -> None:
    with pytest.raises(EngineGoneError, match="version 99 of the protocol"):
        engine("stranger")


def test_that_a_flood_comes_in_whole() -> None:
    with engine("floods", "30000") as port:
        events = until(port, lambda event: isinstance(event, RequestFinished))
        texts = [event.text for event in events if isinstance(event, TokensDelivered)]
        assert texts == [f"{number} " for number in range(30_000)]


def test_that_a_flood_nobody_listens_to_does_not_keep_it_from_ending() -> None:
    with engine("floods", "1000000") as port:
        assert port.next_event(60.0) is not None
        pid = port.pid
    assert not psutil.pid_exists(pid)


@posix
@pytest.mark.parametrize("how", ["eof", "kill"])
def test_that_one_that_clings_is_killed(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_engine, "_FAREWELL_S", 0.2)
    with engine("clings", how) as port:
        pid = port.pid
    assert not psutil.pid_exists(pid)


@posix
def test_that_what_a_dead_engine_started_dies_with_it() -> None:
    with engine("breeds", "orphan") as port:
        heard: list[Event] = []
        with pytest.raises(EngineGoneError, match="SIGKILL"):
            until(port, lambda event: False, heard)
        (said,) = [event for event in heard if isinstance(event, Logged)]
        psutil.wait_procs([p for p in psutil.process_iter() if p.pid == int(said.text)], 10)
        assert not psutil.pid_exists(int(said.text))


def test_that_a_stop_from_another_thread_ends_a_wait_once() -> None:
    with engine("hangs") as port:
        ask(port)
        stopper = threading.Thread(target=port.stop)
        stopper.start()
        with pytest.raises(StoppedError):
            until(port, lambda event: False)
        stopper.join()
        # What is under way can be ended in good order, new work cannot begin.
        port.next_event(0.0)
        with pytest.raises(StoppedError):
            ask(port)
        with pytest.raises(StoppedError):
            port.apply(CONFIG)


@posix
def test_that_a_stop_from_a_signal_handler_ends_a_change() -> None:
    with engine("hangs") as port:
        before = signal.signal(signal.SIGALRM, lambda *_: port.stop())
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(StoppedError):
                port.apply(CONFIG)
        finally:
            signal.signal(signal.SIGALRM, before)


def test_that_an_interrupted_experiment_leaves_no_engine() -> None:
    pids = []

    def experiment() -> None:
        with engine("polite") as port:
            pids.append(port.pid)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiment()
    assert not psutil.pid_exists(pids[0])


def test_that_text_that_is_no_unicode_is_refused() -> None:
    with engine("polite") as port, pytest.raises(PortError, match="no Unicode"):
        port.send(Generate(1, "a", (ChatMessage("user", "\udcff"),)))


def test_that_it_has_the_engine_s_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    with engine("surroundings") as port:
        (said,) = [e for e in until(port, lambda e: isinstance(e, Logged)) if isinstance(e, Logged)]
    facts = json.loads(said.text)
    assert "HF_TOKEN" not in facts["environment"]
    assert facts["environment"]["GGML_NO_BACKTRACE"] == "1"
    if hasattr(os, "getsid"):
        assert facts["session"] == facts["pid"] != os.getsid(0)
