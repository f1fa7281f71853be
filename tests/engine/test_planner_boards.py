"""That plans hold where a model lies on several boards: here two processes that lend a CPU."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engine_bridge.child.llama import has_rpc
from engine_bridge.memory_plan import MemoryPlan
from tests.engine.children.place_on_board import Report
from tests.engine.children.plan_on_boards import MTP_PLACEMENTS, PLACEMENTS
from tests.engine.tiny_mtp import write_tiny_mtp
from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine

_SERVE = "from engine_bridge.child.llama import GGML; GGML.serve_rpc({endpoint!r}, 1)"
_START_S = 30.0


@pytest.fixture
def endpoints() -> Iterator[list[str]]:
    """Two RPC servers on the loopback interface."""
    if not has_rpc():
        pytest.skip("this build of llama.cpp has no RPC")
    found = [f"127.0.0.1:{_free_port()}" for _ in range(2)]
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", _SERVE.format(endpoint=endpoint)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for endpoint in found
    ]
    try:
        for endpoint in found:
            _wait_for(endpoint)
        yield found
    finally:
        for server in servers:
            server.kill()
            server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(endpoint: str) -> None:
    host, port = endpoint.split(":")
    deadline_s = time.monotonic() + _START_S
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline_s, f"no RPC server at {endpoint}"
        else:
            return


def test_that_every_board_holds_what_was_planned(endpoints: list[str], tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "deep.gguf", TinyLlama(layers=8, vocab_tok=2048))
    command = [sys.executable, "-m", "tests.engine.children.plan_on_boards", str(path)]
    done = subprocess.run([*command, *endpoints], capture_output=True, timeout=120, check=True)
    pairs = msgspec.json.decode(done.stdout, type=list[tuple[MemoryPlan, MemoryPlan]])
    assert len(pairs) == len(PLACEMENTS)
    for planned, real in pairs:
        assert planned.effective == real.effective
        assert [d.name for d in planned.devices] == ["RPC0", "RPC1", "CPU"]
        for dry, loaded in zip(planned.devices, real.devices, strict=True):
            assert (dry.weights, dry.kv) == (loaded.weights, loaded.kv)
            # The last board's compute buffer is planned up to a few MiB too large, never too small.
            assert loaded.compute <= dry.compute <= loaded.compute + 8 * 2**20
            assert loaded.draft <= dry.draft <= loaded.draft + 8 * 2**20
        assert planned.bytes.weights_mapped == real.bytes.weights_mapped
    everything, five, none = (planned for planned, _ in pairs[:3])
    assert everything.effective is not None
    assert everything.effective.n_gpu_layers == 9
    assert all(device.kv > 0 for device in everything.devices[:2])
    assert five.devices[-1].kv == 4 * (everything.bytes.kv // 8)
    assert none.devices[-1].kv == everything.bytes.kv
    drafting = pairs[-1][0]
    assert [device.kv for device in drafting.devices] == [d.kv for d in everything.devices]
    assert all(device.draft > 0 for device in drafting.devices)
    assert sum(device.draft for device in drafting.devices) == drafting.bytes.draft
    assert everything.bytes.draft == 0


def _report(path: Path, endpoint: str, placement: dict[str, object]) -> Report:
    """What ``auto`` came to on a board that holds what ``placement`` takes."""
    module = "tests.engine.children.place_on_board"
    given = msgspec.json.encode(placement).decode()
    command = [sys.executable, "-m", module, str(path), endpoint, given]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return msgspec.json.decode(done.stdout, type=Report)


def _assert_same_bytes(planned: MemoryPlan, loaded: MemoryPlan) -> None:
    for dry, real in zip(planned.devices, loaded.devices, strict=True):
        assert (dry.weights, dry.kv) == (real.weights, real.kv)
        assert abs(dry.compute - real.compute) <= 8 * 2**20


@pytest.mark.parametrize(
    ("experts", "placement", "says"),
    [
        (0, {"n_gpu_layers": 6}, "6 of 9 layers on RPC0: 7 would need"),
        (
            4,
            {"n_gpu_layers": "all", "n_cpu_moe": 3},
            "All 9 layers on RPC0, the experts of the first 3 in system memory: of 2 would need",
        ),
    ],
)
def test_that_auto_loads_what_it_planned_and_moves_weights_where_a_context_needs_it(
    endpoints: list[str],
    tmp_path: Path,
    experts: int,
    placement: dict[str, object],
    says: str,
) -> None:
    shape = TinyLlama(layers=8, vocab_tok=512, experts=experts, experts_used=experts // 2)
    path = write_tiny_llama(tmp_path / "deep.gguf", shape)
    report = _report(path, endpoints[0], placement)
    effective = report.planned.effective
    assert effective is not None
    assert effective == report.loaded.effective
    assert effective.placed == placement
    assert effective.placement.startswith(says)
    _assert_same_bytes(report.planned, report.loaded.memory)
    # The longer context takes weights off the board, which takes a load.
    assert report.replaced.cost == "reload"
    assert report.replanned.effective == report.replaced.effective
    assert report.replaced.effective.placed != placement
    assert report.replaced.effective.ctx_per_slot_tok == 4096
    _assert_same_bytes(report.replanned, report.replaced.memory)
    assert report.replaced.memory.devices[0].weights < report.loaded.memory.devices[0].weights


def test_that_guessing_layers_lie_on_boards_as_planned(
    endpoints: list[str], tmp_path: Path
) -> None:
    path = write_tiny_mtp(tmp_path / "mtp.gguf")
    command = [sys.executable, "-m", "tests.engine.children.plan_on_boards", str(path)]
    done = subprocess.run([*command, *endpoints], capture_output=True, timeout=120, check=True)
    pairs = msgspec.json.decode(done.stdout, type=list[tuple[MemoryPlan, MemoryPlan]])
    assert len(pairs) == len(MTP_PLACEMENTS)
    for planned, real in pairs:
        assert planned.effective == real.effective
        for dry, loaded in zip(planned.devices, real.devices, strict=True):
            assert (dry.weights, dry.kv) == (loaded.weights, loaded.kv)
            assert loaded.compute <= dry.compute <= loaded.compute + 8 * 2**20
            assert loaded.draft <= dry.draft <= loaded.draft + 8 * 2**20
        assert planned.bytes.weights_mapped == real.bytes.weights_mapped
    layers = [planned.effective.n_gpu_layers for planned, _ in pairs if planned.effective]
    assert layers == [4, 3, 2, 0] * 2  # two of its own, one that guesses, the output
    assert [planned.bytes.draft > 0 for planned, _ in pairs] == [False] * 4 + [True] * 4
