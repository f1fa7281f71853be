"""The client and engines that die, each in its way."""

from __future__ import annotations

import signal
import sys

import psutil
import pytest

from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_state import DeathKind, EngineState
from engine_bridge.protocol import (
    PROTOCOL_VERSION,
    ChatMessage,
    Generate,
    Hello,
    Load,
    Logged,
    PlanReady,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.bridge.conftest import Stage

QUESTION = Generate(7, "a", (ChatMessage("user", "Count to three."),))
ANOTHER = Generate(8, "b", (ChatMessage("user", "And to four."),))
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are a thing of POSIX")


def test_that_a_crash_at_the_start_is_told_with_its_cause(stage: Stage) -> None:
    death = stage.client("dies", "at start").wait_for_death()
    assert death.kind is DeathKind.EXITED
    assert death.exit_code == 1
    assert death.doing == "starting"
    assert death.stderr[0] == "loading libraries"
    assert "libllama.so: cannot open shared object file" in death.sentence
    assert "restart the engine" in death.sentence


@posix
@pytest.mark.parametrize(
    ("how", "name", "why"),
    [
        ("segmentation fault", "SIGSEGV", "fault inside llama.cpp"),
        ("abort", "SIGABRT", "gave up"),
        ("kill", "SIGKILL", "Another program or the system did that"),
    ],
)
def test_that_a_signal_in_the_middle_of_an_answer_is_named(
    stage: Stage, how: str, name: str, why: str
) -> None:
    witness = stage.client("dies", how)
    witness.client.send(QUESTION)
    witness.client.send(ANOTHER)
    death = witness.wait_for_death()
    assert death.kind is DeathKind.CRASHED
    assert (death.signal_name, death.exit_code) == (name, None)
    assert death.doing == "writing an answer"
    assert f"ended by {name} while writing an answer" in death.sentence
    assert why in death.sentence
    assert "GGML_ASSERT(n > 0) failed" in death.sentence
    assert death.lost_request_ids == (7, 8)
    # What it said before it died still counts, what death cut short does not.
    last = witness.events[-1]
    assert isinstance(last, TokensDelivered)
    assert last.text == "so far"
    assert witness.states[-1] is EngineState.DEAD
    assert witness.client.death == death
    assert not witness.client.send(QUESTION)


def test_that_an_exit_in_the_middle_of_a_load_says_how_far_it_was(stage: Stage) -> None:
    witness = stage.client("dies", "3")
    witness.client.send(Load(1, EngineConfig(model_path="/models/some (1).gguf")))
    death = witness.wait_for_death()
    assert (death.kind, death.exit_code) == (DeathKind.EXITED, 3)
    assert death.doing == "loading some (1).gguf (weights, 25%)"
    assert death.lost_request_ids == (1,)


def test_that_leaving_unasked_with_status_zero_is_a_death_too(stage: Stage) -> None:
    witness = stage.client("dies", "0")
    witness.client.send(QUESTION)
    death = witness.wait_for_death()
    assert (death.kind, death.exit_code) == (DeathKind.EXITED, 0)
    assert "ended by itself" in death.sentence


def test_that_a_restart_brings_a_working_engine_back(stage: Stage) -> None:
    witness = stage.client("dies", "abort")
    witness.client.send(QUESTION)
    witness.wait_for_death()
    witness.client.restart()
    assert witness.client.state is EngineState.STARTING
    assert witness.client.death is None
    witness.wait_for_state(EngineState.READY)
    assert witness.client.last_stderr() == ()
    assert len(witness.of_kind(Hello)) == 2


def test_that_a_restart_from_within_the_death_signal_works(stage: Stage) -> None:
    witness = stage.client("dies", "abort", start=False)
    witness.client.engine_died.connect(lambda _: witness.client.restart())
    witness.client.start()
    for deaths in (1, 2, 3):
        witness.wait_for_state(EngineState.READY)
        witness.client.send(QUESTION)
        witness.wait_for_death(deaths)
    witness.wait_for_state(EngineState.READY)


def test_that_restarting_a_live_engine_ends_it_and_says_what_is_lost(stage: Stage) -> None:
    witness = stage.client("hangs")
    witness.wait_for_state(EngineState.READY)
    witness.client.send(QUESTION)
    first_pid = witness.client.pid
    witness.client.restart()
    death = witness.wait_for_death()
    assert death.kind is DeathKind.REPLACED
    assert death.lost_request_ids == (7,)
    witness.wait_for_state(EngineState.READY)
    assert witness.client.pid != first_pid
    assert not psutil.pid_exists(first_pid)


# --- Engines that do not keep to the protocol ---------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        "no json", "empty line", "unknown event", "unknown field", "wrong type", "no utf-8",
        "nul bytes", "deep nesting", "endless line", "before greeting",
    ],
)  # fmt: skip
def test_that_nonsense_ends_the_engine_with_a_sentence(stage: Stage, kind: str) -> None:
    witness = stage.client("babbles", kind)
    death = witness.wait_for_death()
    assert death.kind is DeathKind.BROKEN
    assert "your conversations are kept" in death.sentence
    assert len(death.sentence) < 800
    assert witness.client.state is EngineState.DEAD
    # The process is gone as well, or will be before the fresh try.
    witness.client.start()
    assert witness.wait_for_death(2).kind is DeathKind.BROKEN


def test_that_an_endless_line_costs_bounded_memory(stage: Stage) -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    witness = stage.client("babbles", "endless line", limits=ClientLimits(max_line_bytes=1 << 20))
    witness.wait_for_death()
    # The line has 100 MB; the pipe and Qt's buffer may hold a few beside the bound.
    assert process.memory_info().rss - before < 30 << 20


def test_that_nothing_after_the_nonsense_is_taken(stage: Stage) -> None:
    witness = stage.client("babbles", "nonsense between events")
    assert witness.wait_for_death().kind is DeathKind.BROKEN
    assert len(witness.of_kind(PlanReady)) == 1


@pytest.mark.parametrize("manner", ["same fields", "other fields"])
def test_that_another_version_is_named(stage: Stage, manner: str) -> None:
    witness = stage.client("stranger", manner)
    death = witness.wait_for_death()
    assert death.kind is DeathKind.BROKEN
    words = f"speaks version 99 of the protocol, this window version {PROTOCOL_VERSION}"
    assert words in death.sentence
    assert "reinstall" in death.sentence
    assert not witness.events


def test_that_an_engine_that_stopped_listening_is_ended(stage: Stage) -> None:
    witness = stage.client("deaf", limits=ClientLimits(grace_s=0.1))
    witness.wait_for_state(EngineState.READY)
    witness.client.send(QUESTION)
    death = witness.wait_for_death()
    assert death.kind is DeathKind.BROKEN
    assert "no longer listens" in death.sentence
    assert death.lost_request_ids == (7,)


# --- Stderr -------------------------------------------------------------------------------


def test_that_stderr_is_kept_bounded_and_told(stage: Stage) -> None:
    witness = stage.client("shouts")
    witness.wait_for_state(EngineState.READY)
    witness.wait_until(lambda: witness.client.last_stderr()[-1].startswith("the last line"))
    kept = witness.client.last_stderr()
    assert len(kept) == 400
    assert all(len(line) <= 2049 for line in kept)
    assert kept[-1] == "the last line, unfinished"
    assert kept[-2] == "y" * 2048 + "…"
    assert kept[-3] == "not utf-8: \ufffd"
    assert kept[-4] == "line 4999"
    told = "\n".join(witness.stderr).split("\n")
    assert told[-1].startswith("yyy")
    assert "line 4999" in told
    assert not witness.deaths


@posix
def test_that_what_the_engine_started_dies_with_it(stage: Stage) -> None:
    witness = stage.client("breeds", "orphan")
    death = witness.wait_for_death()
    assert death.signal_name == signal.Signals.SIGKILL.name
    logged = witness.of_kind(Logged)[0]
    assert isinstance(logged, Logged)
    grandchild = int(logged.text)
    witness.wait_until(lambda: not _is_alive(grandchild))


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
