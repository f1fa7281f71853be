"""The client takes leave: told, unplugged, asked, killed; never longer than it says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QCoreApplication

from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_state import EngineState
from tests.bridge.conftest import PATIENCE_MS, Stage

QUICK = ClientLimits(grace_s=0.1)
MANNERS = ["eof", "term", "kill", "slow"]


@pytest.mark.parametrize("manner", MANNERS)
def test_that_a_shutdown_ends_every_kind_of_engine(stage: Stage, manner: str) -> None:
    # The slow one is given the time it takes; the others are not worth waiting for.
    limits = ClientLimits(grace_s=30.0) if manner == "slow" else QUICK
    witness = stage.client("clings", manner, limits=limits)
    witness.wait_for_state(EngineState.READY)
    pid = witness.client.pid
    witness.client.shutdown()
    witness.client.shutdown()
    assert witness.client.state is EngineState.READY
    witness.wait_for_state(EngineState.DEAD)
    assert not psutil.pid_exists(pid)
    assert witness.client.pid == 0
    # That was asked for: no death to tell the user about.
    assert not witness.deaths
    assert witness.client.death is None


@pytest.mark.parametrize("manner", [*MANNERS, "polite"])
def test_that_closing_now_takes_three_seconds_at_most(stage: Stage, manner: str) -> None:
    witness = stage.client("polite") if manner == "polite" else stage.client("clings", manner)
    witness.wait_for_state(EngineState.READY)
    pid = witness.client.pid
    began = time.monotonic()
    witness.client.close_now()
    took_s = time.monotonic() - began
    assert witness.client.state is EngineState.DEAD
    assert not psutil.pid_exists(pid)
    assert not witness.deaths
    assert took_s < 3.5


def test_that_closing_now_works_while_the_engine_floods(stage: Stage) -> None:
    witness = stage.client("floods", "1000000")
    witness.wait_for_state(EngineState.READY)
    witness.client.close_now()
    count = len(witness.events)
    QCoreApplication.processEvents()
    assert witness.client.state is EngineState.DEAD
    assert len(witness.events) == count


def test_that_closing_now_works_before_the_engine_has_started(stage: Stage) -> None:
    witness = stage.client("polite")
    witness.client.close_now()
    assert witness.client.state is EngineState.DEAD
    assert not witness.deaths


def test_that_closing_from_within_an_event_works(stage: Stage) -> None:
    witness = stage.client("floods", "1000", start=False)
    witness.client.event_received.connect(lambda _: witness.client.close_now())
    witness.client.start()
    witness.wait_for_state(EngineState.DEAD)
    assert len(witness.events) == 1


def test_that_closing_without_a_process_does_nothing(stage: Stage) -> None:
    witness = stage.client("polite", start=False)
    witness.client.close_now()
    witness.client.shutdown()
    assert not witness.states


def test_that_a_new_engine_can_be_started_after_a_shutdown(stage: Stage) -> None:
    witness = stage.client("polite")
    witness.wait_for_state(EngineState.READY)
    witness.client.shutdown()
    witness.wait_for_state(EngineState.DEAD)
    witness.client.start()
    witness.wait_for_state(EngineState.READY)


def test_that_a_restart_during_a_shutdown_waits_for_its_end(stage: Stage) -> None:
    witness = stage.client("clings", "term", limits=QUICK)
    witness.wait_for_state(EngineState.READY)
    first_pid = witness.client.pid
    witness.client.shutdown()
    witness.client.restart()
    witness.wait_until(lambda: witness.client.pid not in (0, first_pid))
    witness.wait_for_state(EngineState.READY)
    assert not psutil.pid_exists(first_pid)
    assert not witness.deaths


WINDOW = """
import sys
from PySide6.QtCore import QCoreApplication
from engine_bridge.client import EngineClient
app = QCoreApplication([])
client = EngineClient(arguments=["-m", "tests.bridge.children.polite"])
client.event_received.connect(lambda event: print(event.pid, flush=True))
client.start()
app.exec()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a thing of POSIX")
def test_that_the_engine_leaves_when_the_window_is_killed() -> None:
    root = Path(__file__).resolve().parents[2]
    window = subprocess.Popen(
        [sys.executable, "-c", WINDOW], stdout=subprocess.PIPE, cwd=root, text=True
    )
    assert window.stdout is not None
    with window.stdout:
        engine = psutil.Process(int(window.stdout.readline()))
        os.kill(window.pid, signal.SIGKILL)
        window.wait(PATIENCE_MS / 1000)
    _, alive = psutil.wait_procs([engine], timeout=PATIENCE_MS / 1000)
    assert not alive
