"""That planned bytes of each device are those its worker really gives, however a model is split."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest

from engine_bridge.child.llama import has_rpc
from engine_bridge.memory_plan import DeviceBytes, MemoryPlan
from tests.engine.tiny_mtp import write_tiny_mtp
from tests.engine.workers import lent_cpus
from tests.zoo.kinds import KINDS

pytestmark = pytest.mark.engine

# With states of linear attention, which are cut by heads.
_MORE = {"qwen35": write_tiny_mtp}
_SHARES = ([1, 1], [3, 1], [1, 3])
_Found: TypeAlias = tuple[MemoryPlan, MemoryPlan, tuple[int, int]]


def _loaded(path: Path, placements: list[dict[str, object]]) -> list[_Found]:
    """Of every placement the plan, what the engine says it took, and what the workers gave."""
    if not has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    with lent_cpus(2) as workers:
        common: dict[str, object] = {
            "model_path": str(path),
            "rpc_servers": [worker.endpoint for worker in workers],
            "ctx_per_slot_tok": 1024,
            "slots": 2,
        }
        child = [sys.executable, "-m", "tests.engine.children.place_on_workers"]
        done = subprocess.run(
            [*child, *(str(worker.log) for worker in workers)],
            input=msgspec.json.encode([common | placement for placement in placements]),
            capture_output=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    return msgspec.json.decode(done.stdout, type=list[_Found])


def _assert_given(device: DeviceBytes, held: int, placement: object) -> None:
    slack = max(16 * 2**10, held // 100)
    assert abs(device.needed - held) <= slack, (placement, device, held)


@pytest.mark.parametrize("kind", ["llama", "head-80", "gemma3", "qwen3moe", "lfm2", "qwen35"])
def test_that_split_mode_tensor_is_planned_as_it_is_cut(kind: str, tmp_path: Path) -> None:
    placements: list[dict[str, object]] = [
        {"split_mode": "tensor", "tensor_split": shares, "n_gpu_layers": layers, "cache_type_v": v}
        for shares, layers, v in (
            *((shares, "all", "f16") for shares in _SHARES),
            ([3, 1], 2, "f16"),
            ([1, 3], "all", "q8_0"),
        )
        if v == "f16" or kind != "head-80"  # rows of 80 values are no blocks of 32
    ]
    if kind == "qwen35":
        placements += [placement | {"spec_types": ["draft-mtp"]} for placement in placements[1:3]]
    path = (KINDS | _MORE)[kind](tmp_path / "model.gguf")
    found = _loaded(path, placements)
    for placement, (planned, real, held) in zip(placements, found, strict=True):
        for number in (0, 1):
            _assert_given(planned.devices[number], held[number], placement)
            _assert_given(real.devices[number], held[number], placement)
        assert real.effective is not None
        assert real.effective.flash_attn == "on"


@pytest.mark.parametrize(
    "kind", ["gemma3", "qwen3moe", "deepseek2-mla", "deepseek2-legacy", "lfm2", "minimax-01"]
)
def test_that_layers_are_planned_where_they_go(kind: str, tmp_path: Path) -> None:
    placements: list[dict[str, object]] = [
        {"split_mode": "layer", "tensor_split": shares, "n_gpu_layers": layers}
        for shares, layers in itertools.product(_SHARES, (0, 2, "all"))
    ]
    # Whole on the boards, several micro-batches are under way at once, each with its own inputs.
    placements += [
        {"split_mode": "layer", "n_gpu_layers": "all", "ubatch_tok": ubatch_tok, "slots": slots}
        for ubatch_tok, slots in ((1, 1), (31, 1), (126, 3), (2048, 1))
    ]
    placements += [
        {"split_mode": "layer", "n_gpu_layers": "all", "kv_offload": False},
        {"split_mode": "layer", "n_gpu_layers": 3, "ubatch_tok": 30},
    ]
    path = KINDS[kind](tmp_path / "model.gguf")
    found = _loaded(path, placements)
    for placement, (planned, real, held) in zip(placements, found, strict=True):
        for dry, device in zip(planned.devices, real.devices, strict=True):
            assert (dry.weights, dry.kv) == (device.weights, device.kv), placement
            assert dry.compute == device.compute, placement
        for number in (0, 1):
            _assert_given(real.devices[number], held[number], placement)
