"""The client under load: floods are read in slices, long work is told from a hang."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time

import pytest
from PySide6.QtCore import QTimer

from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_state import DeathKind, EngineState
from engine_bridge.protocol import ChatMessage, Generate, RequestFinished, TokensDelivered
from tests.bridge.conftest import Stage

QUESTION = Generate(7, "a", (ChatMessage("user", "Count to three."),))
FLOOD = 100_000


def test_that_a_flood_arrives_whole_and_leaves_the_event_loop_free(stage: Stage) -> None:
    witness = stage.client("floods", str(FLOOD), start=False)
    gaps_s: list[float] = []
    last = time.perf_counter()

    def tick() -> None:
        nonlocal last
        now = time.perf_counter()
        gaps_s.append(now - last)
        last = now

    timer = QTimer()
    timer.timeout.connect(tick)
    timer.start(10)
    witness.client.start()
    witness.wait_until(lambda: bool(witness.of_kind(RequestFinished)))
    timer.stop()
    texts = [event.text for event in witness.events if isinstance(event, TokensDelivered)]
    assert texts == [f"{number} " for number in range(FLOOD)]
    # A turn has 8 ms; the rest of the bound is for a machine that is busy with something else.
    assert max(gaps_s) < 0.5
    assert sorted(gaps_s)[len(gaps_s) // 2] < 0.05


def test_that_one_turn_of_the_loop_takes_no_longer_than_it_may(stage: Stage) -> None:
    """With no time at all, every event has a turn of its own."""
    witness = stage.client("floods", "300", limits=ClientLimits(turn_s=0.0), start=False)
    turns: list[int] = []
    timer = QTimer()
    timer.timeout.connect(lambda: turns.append(len(witness.events)))
    timer.start(0)
    witness.client.start()
    witness.wait_until(lambda: bool(witness.of_kind(RequestFinished)))
    timer.stop()
    steps = [after - before for before, after in itertools.pairwise(turns)]
    # A turn hands out one event for the timer and one when the pipe has something new.
    assert max(steps) <= 2
    assert len(witness.of_kind(TokensDelivered)) == 300


def test_that_a_flood_beyond_reason_ends_the_engine(stage: Stage) -> None:
    limits = ClientLimits(turn_s=0.0, max_backlog_bytes=1 << 20)
    witness = stage.client("floods", "1000000", limits=limits)
    death = witness.wait_for_death()
    assert death.kind is DeathKind.BROKEN
    assert "more than the window can ever read" in death.sentence


# --- Hang or long step --------------------------------------------------------------------

IMPATIENT = ClientLimits(stall_after_s=0.6)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a thing of POSIX")
def test_that_a_hang_is_told_but_not_ended(stage: Stage) -> None:
    witness = stage.client("hangs", limits=IMPATIENT)
    witness.wait_for_state(EngineState.READY)
    ended: list[bool] = []
    witness.client.stall_ended.connect(lambda: ended.append(True))
    witness.client.send(QUESTION)
    witness.wait_until(lambda: bool(witness.stalls))
    assert "seems to hang while reading a prompt" in witness.stalls[0]
    assert "restart it" in witness.stalls[0]
    assert witness.client.state is EngineState.BUSY
    assert not ended
    # It moves again, and hangs again.
    os.kill(witness.client.pid, signal.SIGUSR1)
    witness.wait_until(lambda: bool(ended))
    witness.wait_until(lambda: len(witness.stalls) == 2)
    assert not witness.deaths
    witness.client.restart()
    assert len(ended) == 2
    witness.wait_for_state(EngineState.READY)


def test_that_an_engine_that_hangs_at_the_start_is_told(stage: Stage) -> None:
    witness = stage.client("hangs", "start", limits=IMPATIENT)
    witness.wait_until(lambda: bool(witness.stalls))
    assert "seems to hang while starting" in witness.stalls[-1]


def test_that_an_idle_engine_is_not_taken_for_a_hanging_one(stage: Stage) -> None:
    witness = stage.client("polite", limits=IMPATIENT)
    witness.wait_for_state(EngineState.READY)
    witness.stalls.clear()
    deadline = time.monotonic() + 3 * IMPATIENT.stall_after_s
    witness.wait_until(lambda: time.monotonic() > deadline)
    assert not witness.stalls


def test_that_an_engine_that_computes_without_getting_on_is_suspected(stage: Stage) -> None:
    limits = ClientLimits(stall_after_s=1.0, spin_after_s=2.0)
    witness = stage.client("toils", "itself", "600", limits=limits)
    witness.wait_for_state(EngineState.READY)
    witness.stalls.clear()
    witness.client.send(QUESTION)
    # Where others take all cores, it may look idle first.
    witness.wait_until(lambda: any("without getting on" in said for said in witness.stalls))
    assert "while reading a prompt: for 2 s it has computed" in witness.stalls[-1]
    witness.client.restart()
    witness.wait_for_death()


@pytest.mark.parametrize("who", ["itself", "descendant"])
def test_that_long_silent_work_is_not_taken_for_a_hang(stage: Stage, who: str) -> None:
    limits = ClientLimits(stall_after_s=1.0)
    witness = stage.client("toils", who, "3", limits=limits)
    witness.wait_for_state(EngineState.READY)
    witness.stalls.clear()
    witness.client.send(QUESTION)
    witness.wait_until(lambda: bool(witness.of_kind(RequestFinished)))
    assert not witness.stalls
