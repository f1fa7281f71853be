"""The client and the real engine process: the two ends meet."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from engine_bridge.client import EngineClient
from engine_bridge.engine_state import EngineState
from engine_bridge.protocol import (
    Applied,
    ChatMessage,
    Generate,
    Load,
    PlanReady,
    Refused,
    RequestFinished,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.bridge.conftest import Stage, Witness, stage  # noqa: F401  (stage is a fixture)

pytestmark = pytest.mark.engine


@pytest.fixture
def witness(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Witness:  # noqa: F811
    """A client of the real engine, started from a folder that has nothing to do with it."""
    monkeypatch.chdir(tmp_path)
    witness = stage.client_of(EngineClient())
    witness.wait_for_state(EngineState.READY)
    return witness


def test_that_a_conversation_works_from_load_to_shutdown(
    witness: Witness, tiny_chat_path: Path
) -> None:
    client = witness.client
    pid = client.pid
    config = EngineConfig(model_path=str(tiny_chat_path), ctx_per_slot_tok=512, slots=2)
    assert client.send(Load(1, config))
    witness.wait_until(lambda: bool(witness.of_kind(Applied) or witness.of_kind(Refused)))
    assert witness.of_kind(Refused) == []
    assert client.state is EngineState.READY
    question = (ChatMessage("user", "Say something."),)
    for number in (2, 3):
        assert client.send(Generate(number, str(number), question, max_new_tok=20))
    assert client.plan(config.with_values({"slots": 4})) == 1
    witness.wait_until(lambda: len(witness.of_kind(RequestFinished)) == 2)
    witness.wait_until(lambda: bool(witness.of_kind(PlanReady)))
    assert witness.of_kind(TokensDelivered)
    witness.wait_for_state(EngineState.READY)
    client.shutdown()
    witness.wait_for_state(EngineState.DEAD)
    assert not witness.deaths
    assert not psutil.pid_exists(pid)


def test_that_a_killed_engine_is_named_and_comes_back(
    witness: Witness, tiny_chat_path: Path
) -> None:
    config = EngineConfig(model_path=str(tiny_chat_path), ctx_per_slot_tok=512, slots=1)
    witness.client.send(Load(1, config))
    witness.wait_until(lambda: bool(witness.of_kind(Applied)))
    question = (ChatMessage("user", "Count."),)
    witness.client.send(Generate(2, "a", question, ignore_eog=True, max_new_tok=400))
    witness.wait_until(lambda: bool(witness.of_kind(TokensDelivered)))
    psutil.Process(witness.client.pid).kill()
    death = witness.wait_for_death()
    assert death.signal_name == "SIGKILL"
    assert death.doing == "writing an answer"
    assert death.lost_request_ids == (2,)
    witness.client.restart()
    witness.wait_for_state(EngineState.READY)
    witness.client.send(Load(3, config))
    witness.wait_until(lambda: len(witness.of_kind(Applied)) == 2)


def test_that_a_busy_engine_is_closed_in_time(witness: Witness, tiny_chat_path: Path) -> None:
    config = EngineConfig(model_path=str(tiny_chat_path), ctx_per_slot_tok=4096, slots=1)
    witness.client.send(Load(1, config))
    witness.wait_until(lambda: bool(witness.of_kind(Applied)))
    question = (ChatMessage("user", "Count."),)
    witness.client.send(Generate(2, "a", question, ignore_eog=True, max_new_tok=3000))
    witness.wait_until(lambda: bool(witness.of_kind(TokensDelivered)))
    pid = witness.client.pid
    witness.client.close_now()
    assert not psutil.pid_exists(pid)
    assert not witness.deaths
