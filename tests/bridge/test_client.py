"""The client and an engine that behaves."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from engine_bridge.client import EngineClient
from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_state import DeathKind, EngineState
from engine_bridge.protocol import (
    Applied,
    ChatMessage,
    Forget,
    Generate,
    Hello,
    Load,
    Logged,
    PlanReady,
    RequestFinished,
    Shutdown,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.bridge.conftest import Stage, Witness

QUESTION = Generate(7, "a", (ChatMessage("user", "Count to three."),))
CONFIG = EngineConfig(model_path="/models/some.gguf")


def test_that_states_follow_the_work(stage: Stage) -> None:
    witness = stage.client("polite")
    witness.wait_for_state(EngineState.READY)
    assert witness.client.hello is not None
    assert witness.client.hello.pid == witness.client.pid
    witness.client.send(Load(1, CONFIG))
    witness.wait_for_state(EngineState.READY)
    witness.client.send(QUESTION)
    witness.wait_for_state(EngineState.READY)
    assert witness.states == [
        EngineState.STARTING, EngineState.READY, EngineState.LOADING, EngineState.READY,
        EngineState.BUSY, EngineState.READY,
    ]  # fmt: skip
    assert not witness.deaths


def test_that_events_arrive_whole_and_in_order(stage: Stage) -> None:
    witness = stage.client("polite")
    # Commands may be sent before the engine has introduced itself.
    assert witness.client.send(Load(1, CONFIG))
    assert witness.client.send(QUESTION)
    witness.wait_until(lambda: bool(witness.of_kind(RequestFinished)))
    kinds = [type(event).__name__ for event in witness.events]
    assert kinds == [
        "Hello", "LoadProgressed", "Applied", "RequestStarted", "TokensDelivered",
        "TokensDelivered", "TokensDelivered", "RequestFinished",
    ]  # fmt: skip
    applied = witness.of_kind(Applied)[0]
    assert isinstance(applied, Applied)
    assert applied.config == CONFIG
    texts = [event.text for event in witness.events if isinstance(event, TokensDelivered)]
    assert "".join(texts) == "one two three ✓"


def test_that_the_state_is_new_before_the_event_is_told(stage: Stage) -> None:
    witness = stage.client("polite", start=False)
    seen: list[tuple[str, EngineState]] = []
    witness.client.event_received.connect(
        lambda event: seen.append((type(event).__name__, witness.client.state))
    )
    witness.client.start()
    witness.wait_until(lambda: bool(seen))
    assert seen == [("Hello", EngineState.READY)]


def test_that_a_dead_engine_refuses_with_a_sentence(stage: Stage) -> None:
    witness = stage.client("polite", start=False)
    assert witness.client.state is EngineState.DEAD
    assert not witness.client.send(QUESTION)
    assert witness.client.refusal == "The engine is not running; restart it."
    assert witness.client.plan(CONFIG) is None
    assert witness.client.refusal == "The engine is not running; restart it."
    witness.client.start()
    assert witness.client.send(QUESTION)
    assert witness.client.refusal == ""


def test_that_text_that_is_no_unicode_is_refused_not_raised(stage: Stage) -> None:
    witness = stage.client("polite")
    witness.wait_for_state(EngineState.READY)
    assert not witness.client.send(Load(1, EngineConfig(model_path="mod\udcff.gguf")))
    assert "no Unicode" in witness.client.refusal
    assert witness.client.state is EngineState.READY
    assert witness.client.plan(EngineConfig(model_path="mod\udcff.gguf")) is None
    # The refused plan holds nothing back.
    assert witness.client.plan(CONFIG) is not None
    witness.wait_until(lambda: bool(witness.of_kind(PlanReady)))


def test_that_an_engine_that_does_not_read_is_not_sent_ever_more(stage: Stage) -> None:
    witness = stage.client("hangs", limits=ClientLimits(max_unsent_bytes=100_000))
    witness.wait_for_state(EngineState.READY)
    long = Generate(7, "a", (ChatMessage("user", "x" * 1_000_000),))
    assert witness.client.send(long)
    assert not witness.client.send(long)
    assert witness.client.refusal == "The engine does not read what it is sent; restart it."


# --- Plans ------------------------------------------------------------------------------


def _asked(witness: Witness) -> list[str]:
    return [event.text for event in witness.events if isinstance(event, Logged)]


def _answered(witness: Witness) -> list[int]:
    return [event.plan_id for event in witness.events if isinstance(event, PlanReady)]


def test_that_only_the_newest_waiting_plan_is_sent(stage: Stage) -> None:
    witness = stage.client("plans", "hold", limits=ClientLimits(plan_deadline_s=600.0))
    witness.wait_for_state(EngineState.READY)
    numbers = [witness.client.plan(EngineConfig(slots=slots)) for slots in range(1, 21)]
    assert numbers == list(range(1, 21))
    witness.wait_until(lambda: bool(_asked(witness)))
    assert _asked(witness) == ["plan 1 1"]
    witness.client.send(Forget("lets the stand-in answer"))
    witness.wait_until(lambda: _answered(witness) == [1, 20])
    assert _asked(witness) == ["plan 1 1", "plan 20 20"]


def test_that_a_plan_without_an_answer_does_not_block_the_next(stage: Stage) -> None:
    witness = stage.client("plans", "never", limits=ClientLimits(plan_deadline_s=0.3))
    witness.wait_for_state(EngineState.READY)
    witness.client.plan(EngineConfig(slots=1))
    witness.client.plan(EngineConfig(slots=2))
    witness.client.plan(EngineConfig(slots=3))
    witness.wait_until(lambda: len(_asked(witness)) == 2)
    assert _asked(witness) == ["plan 1 1", "plan 3 3"]


def test_that_plans_do_not_count_as_work(stage: Stage) -> None:
    witness = stage.client("plans", "never")
    witness.wait_for_state(EngineState.READY)
    witness.client.plan(CONFIG)
    assert witness.client.state is EngineState.READY


def test_that_plan_numbers_go_on_after_a_restart(stage: Stage) -> None:
    witness = stage.client("plans", "answer")
    witness.wait_for_state(EngineState.READY)
    assert witness.client.plan(CONFIG) == 1
    witness.client.restart()
    witness.wait_until(lambda: len(witness.of_kind(Hello)) == 2)
    assert witness.client.plan(CONFIG) == 2
    witness.wait_until(lambda: 2 in _answered(witness))


# --- Surroundings -----------------------------------------------------------------------


def _surroundings(stage: Stage) -> dict[str, object]:
    witness = stage.client("surroundings")
    witness.wait_until(lambda: bool(_asked(witness)))
    facts: dict[str, object] = json.loads(_asked(witness)[0])
    return facts


def test_that_the_engine_is_found_from_any_folder_and_loads_nothing_from_there(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger was imported')")
    (tmp_path / "engine_bridge").mkdir()
    (tmp_path / "engine_bridge" / "__init__.py").write_text("raise SystemExit('stranger')")
    monkeypatch.chdir(tmp_path)
    facts = _surroundings(stage)
    assert facts["folder"] == str(tmp_path)
    path = facts["path"]
    assert isinstance(path, list)
    assert str(tmp_path) not in path
    assert "" not in path


def test_that_the_engine_gets_what_it_needs_and_no_secret(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("PYTHONPATH", "/somewhere/else")
    before = dict(os.environ)
    environment = _surroundings(stage)["environment"]
    assert isinstance(environment, dict)
    assert environment["GGML_NO_BACKTRACE"] == "1"
    assert environment["PYTHONUNBUFFERED"] == "1"
    root, rest = environment["PYTHONPATH"].split(os.pathsep)
    assert (Path(root) / "engine_bridge" / "protocol.py").exists()
    assert rest == "/somewhere/else"
    assert "HF_TOKEN" not in environment
    # What the engine gets, the window does not.
    assert dict(os.environ) == before


@pytest.mark.skipif(not hasattr(os, "setsid"), reason="sessions are a thing of POSIX")
def test_that_the_engine_leads_a_session_of_its_own(stage: Stage) -> None:
    facts = _surroundings(stage)
    assert facts["session"] == facts["pid"]


def test_that_a_program_that_cannot_be_run_is_a_death_with_a_sentence(stage: Stage) -> None:
    client = EngineClient(program="/nowhere/python", arguments=["-m", "engine_bridge.child"])
    witness = stage.client_of(client)
    death = witness.wait_for_death()
    assert death.kind is DeathKind.NOT_STARTED
    assert "/nowhere/python" in death.sentence
    assert client.state is EngineState.DEAD
    assert client.death == death
    # And again, as often as the user likes.
    client.restart()
    assert witness.wait_for_death(2).kind is DeathKind.NOT_STARTED


def test_that_starting_twice_starts_one_process(stage: Stage) -> None:
    witness = stage.client("polite")
    witness.client.start()
    witness.wait_for_state(EngineState.READY)
    pid = witness.client.pid
    witness.client.start()
    assert witness.client.pid == pid
    assert len(witness.of_kind(Hello)) == 1


def test_that_the_default_program_is_the_engine_of_this_python() -> None:
    client = EngineClient()
    assert client._program == sys.executable
    assert client._arguments == ["-m", "engine_bridge.child"]


def test_that_the_shutdown_command_shuts_down(stage: Stage) -> None:
    witness = stage.client("polite")
    witness.wait_for_state(EngineState.READY)
    assert witness.client.send(Shutdown())
    assert not witness.client.send(QUESTION)
    assert witness.client.refusal == "The engine is being shut down."
    witness.wait_for_state(EngineState.DEAD)
    assert not witness.deaths
