"""A remote worker that goes away while the engine computes on it, and one that never was there."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from engine_bridge.child.llama import has_rpc
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
from engine_bridge.worker_probe import WorkerError, make_sure_of_worker, silent_workers
from engine_bridge.worker_wait import workers_waited_for
from tests.bridge.conftest import Stage, Witness, stage  # noqa: F401  (stage is a fixture)
from tests.engine.workers import LentCpu, free_port, lent_cpus

pytestmark = pytest.mark.engine

_E = TypeVar("_E", Applied, PlanReady, Refused, RequestFinished)


@pytest.fixture
def workers() -> Iterator[list[LentCpu]]:
    """Two workers."""
    if not has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    with lent_cpus(2) as found:
        yield found


@pytest.fixture
def witness(stage: Stage) -> Witness:  # noqa: F811
    """A client of the real engine."""
    witness = stage.client_of(EngineClient())
    witness.wait_for_state(EngineState.READY)
    return witness


def _last(witness: Witness, kind: type[_E]) -> _E:
    """The newest event of a kind."""
    event = witness.of_kind(kind)[-1]
    assert isinstance(event, kind)
    return event


def _config(path: Path, workers: list[LentCpu]) -> EngineConfig:
    return EngineConfig(
        model_path=str(path),
        ctx_per_slot_tok=2048,
        slots=1,
        n_gpu_layers="all",
        rpc_servers=tuple(worker.endpoint for worker in workers),
    )


def test_that_a_lost_worker_is_named_and_the_rest_goes_on(
    witness: Witness, workers: list[LentCpu], tiny_chat_path: Path
) -> None:
    config = _config(tiny_chat_path, workers)
    client = witness.client
    client.send(Load(1, config))
    witness.wait_until(lambda: bool(witness.of_kind(Applied) or witness.of_kind(Refused)))
    assert witness.of_kind(Refused) == []
    devices = _last(witness, Applied).memory.devices
    assert [device.name for device in devices] == ["RPC0", "RPC1", "CPU"]
    # What runs on workers is planned on them as well: they serve no second connection.
    client.plan(config.with_values({"slots": 2}))
    witness.wait_until(lambda: bool(witness.of_kind(PlanReady)))
    assert _last(witness, PlanReady).plan.fits
    question = (ChatMessage("user", "Count."),)
    client.send(Generate(2, "a", question, ignore_eog=True, max_new_tok=2000))
    witness.wait_until(lambda: bool(witness.of_kind(TokensDelivered)))
    lost, left = workers
    lost.kill()
    death = witness.wait_for_death()
    assert death.has_lost_worker
    assert "remote worker went away" in death.sentence
    assert death.lost_request_ids == (2,)
    assert [error.endpoint for error in silent_workers(config.rpc_servers)] == [lost.endpoint]

    client.restart()
    witness.wait_for_state(EngineState.READY)
    client.send(Load(3, config))
    witness.wait_until(lambda: bool(witness.of_kind(Refused)))
    problem = _last(witness, Refused).problem
    assert problem.keys == ("rpc_servers",)
    assert lost.endpoint in problem.message
    assert problem.fix == {"rpc_servers": (left.endpoint,)}
    client.send(Load(4, config.with_values(dict(problem.fix))))
    witness.wait_until(lambda: len(witness.of_kind(Applied)) == 2)
    client.send(Generate(5, "a", question, ignore_eog=True, max_new_tok=8))
    witness.wait_until(lambda: bool(witness.of_kind(RequestFinished)))
    assert _last(witness, RequestFinished).reason == "token_limit"


def test_that_a_change_of_workers_is_planned_and_applied_while_a_model_runs(
    witness: Witness, workers: list[LentCpu], tiny_chat_path: Path, few_words_path: Path
) -> None:
    first, second = workers
    client = witness.client
    client.send(Load(1, _config(tiny_chat_path, [first])))
    witness.wait_until(lambda: bool(witness.of_kind(Applied)))
    for asked, names in (
        ([first, second], ["RPC0", "RPC1", "CPU"]),
        ([second], ["RPC0", "CPU"]),
        ([], ["CPU"]),
    ):
        witness.events.clear()
        client.plan(_config(tiny_chat_path, asked))
        witness.wait_until(lambda: bool(witness.of_kind(PlanReady)))
        plan = _last(witness, PlanReady).plan
        assert [device.name for device in plan.devices if device.needed] == names
    # Another file on the worker that the engine holds: nobody else could ask it.
    witness.events.clear()
    client.plan(_config(few_words_path, [first]))
    witness.wait_until(lambda: bool(witness.of_kind(PlanReady)))
    devices = _last(witness, PlanReady).plan.devices
    assert [device.name for device in devices if device.needed] == ["RPC0", "CPU"]
    client.send(Load(2, _config(tiny_chat_path, [second])))
    witness.wait_until(lambda: bool(witness.of_kind(Applied)))
    devices = _last(witness, Applied).memory.devices
    assert [device.name for device in devices if device.needed] == ["RPC0", "CPU"]
    first.kill()  # nobody uses it any more
    client.send(Generate(3, "a", (ChatMessage("user", "On."),), ignore_eog=True, max_new_tok=8))
    witness.wait_until(lambda: bool(witness.of_kind(RequestFinished)))
    assert not witness.deaths


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say who waits for whom")
def test_that_a_frozen_worker_is_told_from_one_that_waits_too(
    witness: Witness, workers: list[LentCpu], tiny_chat_path: Path, few_words_path: Path
) -> None:
    config = _config(tiny_chat_path, workers)
    client = witness.client
    for number, (frozen, other) in enumerate((workers, workers[::-1])):
        client.send(Load(4 * number, config))
        witness.wait_until(lambda: client.state is EngineState.READY)
        assert witness.of_kind(Refused) == []
        frozen.freeze()
        if number:  # in the middle of a load: of another file, on workers that the engine holds
            other_file = config.with_values({"model_path": str(few_words_path)})
            client.send(Load(4 * number + 1, other_file))
        else:  # in the middle of a step
            question = (ChatMessage("user", "Count."),)
            client.send(Generate(1, "a", question, ignore_eog=True, max_new_tok=2000))
        alone = (frozen.endpoint,)
        witness.wait_until(
            lambda: workers_waited_for(client.pid, config.rpc_servers) == alone  # noqa: B023
        )
        assert client.state in (EngineState.BUSY, EngineState.LOADING)
        client.restart()
        witness.wait_for_state(EngineState.READY)
        # The one that is there is free at once; of the other it is said that it does not answer.
        assert [error.endpoint for error in silent_workers(config.rpc_servers)] == [*alone]
        frozen.process.send_signal(signal.SIGCONT)
        assert other.process.poll() is None


def test_that_nothing_is_said_of_a_process_that_waits_for_no_worker() -> None:
    assert workers_waited_for(os.getpid(), ("127.0.0.1:1", "no.such.host.invalid:1")) == ()
    assert workers_waited_for(2**22 + 1, ("127.0.0.1:1",)) == ()


def test_that_who_listens_without_answering_is_told_within_seconds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(WorkerError, match=r"does not answer within 0\.2 s"):
            make_sure_of_worker(endpoint, patience_s=0.2)


def test_that_who_speaks_another_protocol_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"127.0.0.1:{server.getsockname()[1]}"

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(64)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n and some more to fill it up")

        helper = threading.Thread(target=answer)
        helper.start()
        with pytest.raises(WorkerError, match=r"is no llama\.cpp RPC server"):
            make_sure_of_worker(endpoint)
        helper.join()


def test_that_nobody_there_is_told_with_the_address() -> None:
    endpoint = f"127.0.0.1:{free_port()}"
    with pytest.raises(WorkerError, match=endpoint):
        make_sure_of_worker(endpoint)
